"""How far a measurement came, read from its file: what a later run may build on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...observe.power_log import PowerLog, epoch_of, read_power_log, time_text
from .plan import MeasurePlan

PREFIX = "measure-"


@dataclass(frozen=True)
class Progress:
    """key: of the plan, None where the file holds no run. done: step number -> when its measurement ended.

    complete: every step was measured. stop: the last reason why load was stopped before its time. runs: how many wrote
    into the file. ended: when the last one did.
    """

    key: str | None = None
    done: dict[int, str] = field(default_factory=dict)
    complete: bool = False
    stop: Mapping[str, Any] | None = None
    runs: int = 0
    ended: str = ""

    def first_step(self, plan: MeasurePlan) -> int | None:
        """Number of the first step that has no measured end; None when all have."""
        return next((step.number for step in plan.steps if step.number not in self.done), None)


def progress_of(log: PowerLog) -> Progress:
    run = log.last("run")
    if run is None:
        return Progress()
    done = {int(one["number"]): str(one["t"]) for one in log.of("step_end")}
    end = log.last("end")
    return Progress(
        str(run.get("key")),
        done,
        bool(end and end.get("complete")),
        log.last("stop"),
        len(log.of("run")),
        str(end["t"]) if end else "",
    )


@dataclass(frozen=True)
class FinishedRun:
    """A measurement that came to its end. load: as its plan has it. cards: loaded at its highest step."""

    log: str
    ended: str
    load: Mapping[str, Any]
    cards: list[str]


def finished_run(folder: Path, host: str, after_s: float) -> FinishedRun | None:
    """The last measurement of the host that was complete, whatever loaded it; None if none ended after `after_s`."""
    found = [run for path in folder.glob(f"{PREFIX}*.jsonl") if (run := _finished(path, host, after_s)) is not None]
    return max(found, key=lambda one: one.ended, default=None)


def _finished(path: Path, host: str, after_s: float) -> FinishedRun | None:
    try:
        if path.stat().st_mtime < after_s:
            return None  # no line is younger than its file
        log = read_power_log(path.read_bytes())
    except OSError:
        return None
    run, progress = log.last("run"), progress_of(log)
    ended_s = epoch_of(progress.ended)
    if run is None or run.get("host") != host or not progress.complete or ended_s is None or ended_s < after_s:
        return None
    plan = run.get("plan") or {}
    steps = plan.get("steps") or [{}]
    return FinishedRun(str(path), progress.ended, dict(plan.get("load") or {}), list(steps[-1].get("cards") or ()))


def newest_file(folder: Path, plan: MeasurePlan) -> tuple[Path, Progress] | None:
    """The newest file of the same plan."""
    for path in _newest_first(folder, plan):
        try:
            progress = progress_of(read_power_log(path.read_bytes()))
        except OSError:
            continue
        if progress.key == plan.key:
            return path, progress
    return None


def new_file(folder: Path, plan: MeasurePlan, now_s: float) -> Path:
    """Named by its time, so that names sort by age, and by its plan."""
    stamp = time_text(now_s)[:19].replace("-", "").replace(":", "")
    return folder / f"{PREFIX}{stamp}Z-{plan.key}.jsonl"


def _newest_first(folder: Path, plan: MeasurePlan) -> Iterator[Path]:
    try:
        yield from sorted(folder.glob(f"{PREFIX}*-{plan.key}.jsonl"), reverse=True)
    except OSError:
        return


__all__ = ["PREFIX", "FinishedRun", "Progress", "finished_run", "new_file", "newest_file", "progress_of"]
