"""Starts a measurement on the host and looks at it: what the module `power_measure` does, one run an action."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...findings import Finding, finding
from ...observe.bmc_reader import bmc_reader
from ...observe.command import Run
from ...observe.power_log import PowerLog, log_of, time_text
from ...observe.power_sample import card_draws
from ...verify.http_answer import ask
from ..atomic_files import FileError, WantedFile, file_change, make_directory, write_file
from ..host_lock import HostLock, LockHeldError
from .judgement import host_total
from .lease import HOLD, Lease
from .log_file import LogFile, LogFileError
from .plan import MeasurePlan
from .progress import Progress, finished_run, new_file, newest_file, progress_of
from .unit import LOAD_PATH, UNIT, UnitError, start_unit, unit_state
from .watcher import Orders, orders_of

RUN_FOLDER = "/run/gpu-seats/power-measure"
_ROOM_S = 120.0
_SEAT_LIMIT_S = 5.0
_ORDERS, _LEASE, _LOCK = "orders.json", "lease", "lock"


class MeasureError(Exception):
    """Nothing was started. findings: why, one each."""

    def __init__(self, found: Sequence[Finding]) -> None:
        super().__init__("; ".join(one.message for one in found))
        self.findings = list(found)


@dataclass(frozen=True)
class Control:
    """run: of commands. tool: the words that run the host tool. now: wall clock in seconds."""

    run: Run
    tool: Sequence[str]
    folder: str = RUN_FOLDER
    now: Callable[[], float] = time.time

    def facts(
        self, uuids: Sequence[str], bmc: Mapping[str, Any], folder: str, program: str = "", ports: Sequence[int] = ()
    ) -> dict[str, Any]:
        """What a plan needs to know: every card now, what the BMC says, whether the folder's pool is mounted.

        program: of a load command, looked up as it will be started. ports: of seats, asked whether they answer.
        Raises ValueError for options that lead to no BMC.
        """
        read_bmc = bmc_reader(bmc)
        draws = card_draws(self.run, uuids)
        said = read_bmc() if read_bmc is not None else {"watts": None, "reason": "none is asked"}
        return {
            "cards": [{**one.as_record(), "index": one.index} for one in draws],
            "bmc": {key: said.get(key) for key in ("watts", "source", "reason")},
            "mount": str(_mount_of(Path(folder))),
            "program": shutil.which(program, path=LOAD_PATH) if program else None,
            "seats": {str(port): _seat_answer(port) for port in ports},
        }

    @property
    def _path(self) -> Path:
        return Path(self.folder)

    def prospect(self, plan: MeasurePlan, fresh: bool = False) -> dict[str, Any]:
        """What `start` would do: the file, the first step and what is measured already. Touches nothing.

        Raises MeasureError where `start` would.
        """
        return _prospect(plan, *self._target(plan, fresh))

    def _target(self, plan: MeasurePlan, fresh: bool) -> tuple[Path, Progress]:
        """The file that a run writes to, and how far it is in it.

        Raises MeasureError where the same was measured to its end: load is not raised twice for one question.
        """
        folder = Path(plan.folder)
        newest = None if fresh else newest_file(folder, plan)
        if newest is not None and newest[1].complete:
            path, progress = newest
            message = (
                f"{plan.host} was measured with these cards, caps and load to the end at {progress.ended} ({path});"
                " nothing was loaded. -e fresh=true measures anew"
            )
            evidence = {"log": str(path), "ended": progress.ended}
            raise MeasureError([finding("power.measure_complete", f"host:{plan.host}", message, evidence)])
        return newest or (new_file(folder, plan, self.now()), Progress())

    def finished(self, folder: str, host: str, within_s: float) -> dict[str, Any] | None:
        """The last complete measurement of the host that ended within that time, as a `FinishedRun`; None without."""
        run = finished_run(Path(folder), host, self.now() - within_s)
        return None if run is None else asdict(run)

    def start(self, plan: MeasurePlan, fresh: bool = False, hold: bool = False) -> dict[str, Any]:
        """Start what is left of the plan; what `prospect` says. Raises MeasureError."""
        subject = f"host:{plan.host}"
        path, progress = self._target(plan, fresh)
        orders = Orders(plan, path, self._path / _LEASE, str(self._path / _LOCK), progress.runs)
        try:
            make_directory(self._path, 0o700)
            with HostLock(f"start of a power measurement of {plan.host}", orders.lock, wait_s=0.0):
                write_file(file_change(WantedFile(str(self._path / _ORDERS), orders.as_text(), 0o600)))
                Lease(orders.lease).renew(HOLD if hold else "-")
            start_unit(self.run, [*self.tool, "measure", "--orders", str(self._path / _ORDERS)], longest_s(plan))
        except LockHeldError as error:
            message = f"a measurement runs already: {error}. To end it: systemctl stop {UNIT}, its load ends first"
            raise MeasureError([finding("power.measure_busy", subject, message, {"holder": error.holder})]) from error
        except (FileError, OSError, UnitError) as error:
            raise MeasureError([finding("power.measure_not_started", subject, str(error))]) from error
        return _prospect(plan, path, progress)

    def look(self, word: str = "") -> dict[str, Any]:
        """How far it is; renews the lease. word: for the watcher (of lease), "" keeps the one before.

        gone: the host knows of none, because it was booted since. Raises MeasureError where the orders are broken.
        """
        if not (self._path / _ORDERS).exists():
            return {**state_of(PowerLog(), None), "log": "", "unit": None, "running": False, "gone": True}
        orders = self._orders()
        lease = Lease(orders.lease)
        with contextlib.suppress(OSError):
            lease.renew(word)
        # the unit first: what it wrote before its end is then in the file
        unit = unit_state(self.run)
        return {
            **state_of(log_of(orders.log), orders.plan, orders.runs),
            "log": str(orders.log),
            "unit": unit.active,
            "running": unit.is_running,
            "gone": False,
        }

    def read(self, log: str) -> dict[str, Any]:
        """``{log, log_text}`` of a file, whatever wrote it. Raises MeasureError."""
        try:
            return {"log": log, "log_text": Path(log).read_bytes().decode("utf-8", "replace")}
        except OSError as error:
            message = f"{log} cannot be read: {error.strerror or error}"
            raise MeasureError([finding("power.measure_not_started", f"file:{log}", message)]) from error

    def note(self, log: str, record: Mapping[str, Any]) -> None:
        """Add a line to a file whose run has ended (a reading that a person took). Raises MeasureError."""
        try:
            file = LogFile(Path(log))
            try:
                file.append({"t": time_text(self.now()), **record})
            finally:
                file.close()
        except LogFileError as error:
            raise MeasureError([finding("power.log_unwritable", f"file:{log}", str(error))]) from error

    def _orders(self) -> Orders:
        path = self._path / _ORDERS
        try:
            return orders_of(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            message = f"no measurement was started on this host since its boot ({path}: {error})"
            raise MeasureError([finding("power.measure_not_started", f"file:{path}", message)]) from error


def _seat_answer(port: int) -> dict[str, Any]:
    """Whether something serves there, as a load by requests will ask it."""
    answer = ask("127.0.0.1", port, "GET", "/v1/models", _SEAT_LIMIT_S)
    return {"answers": answer.outcome == "answered" and answer.status < 500, "said": answer.in_short(120)}


def _mount_of(folder: Path) -> Path:
    """Where the file system begins that `folder` is on, or would be made on."""
    for path in (folder, *folder.parents):
        if path.is_mount():
            return path
    return Path("/")


def _prospect(plan: MeasurePlan, path: Path, progress: Progress) -> dict[str, Any]:
    return {
        "log": str(path),
        "resumes": progress.key is not None,
        "first_step": progress.first_step(plan),
        "done": {str(number): at for number, at in sorted(progress.done.items())},
        "stopped_before": dict(progress.stop) if progress.stop else None,
    }


def longest_s(plan: MeasurePlan) -> float:
    """When the unit is ended whatever it does."""
    times = plan.times
    raising = sum(len(step.cards) for step in plan.steps) * (times.every_s + 5)
    return len(plan.steps) * (times.settle_s + times.hold_s) + times.top_s + raising + _ROOM_S


def state_of(log: PowerLog, plan: MeasurePlan | None, runs: int = 0) -> dict[str, Any]:
    """What the file says of the run that writes it now: step, last sample, steps that are measured, why it stopped.

    runs: how many wrote to it before.
    """
    starts = [number for number, one in enumerate(log.records) if one.get("kind") == "run"][runs:]
    current = PowerLog(log.records[starts[-1] :] if starts else [], log.torn)
    progress, step = progress_of(log), current.last("step")
    sample = current.samples[-1] if current.samples else None
    end = current.last("end")
    return {
        "started": bool(starts),
        "step": step["number"] if step else None,
        "step_since": step["t"] if step else None,
        "phase": sample.get("phase") if sample else None,
        "sample": _in_short(sample, plan) if sample and plan else None,
        "done": {str(number): at for number, at in sorted(progress.done.items())},
        "stop": current.last("stop"),
        "ended": end is not None,
        "complete": bool(end and end.get("complete")),
        "torn_lines": [one.number for one in log.torn],
    }


def _in_short(sample: Mapping[str, Any], plan: MeasurePlan) -> dict[str, Any]:
    total = host_total(sample, plan.limits)
    return {
        "t": sample["t"],
        "cards_watts": sample.get("cards_watts"),
        "bmc_watts": sample.get("bmc_watts"),
        "bmc_why": sample.get("bmc_why"),
        "total_watts": total.watts,
        "total_words": total.words,
        "by_card": {plan.name_of(str(one["uuid"])): one.get("draw_watts") for one in sample.get("cards") or ()},
    }


__all__ = ["RUN_FOLDER", "Control", "MeasureError", "longest_s", "state_of"]
