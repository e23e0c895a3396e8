"""The process that measures: takes the lock, forks the keeper of the load, then samples and judges until it is done."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...observe.boot import boot_id
from ...observe.command import run as run_command
from ...observe.power_log import log_of, time_text
from ...observe.power_sample import BmcWatch, ReadBmc, Sampler, card_draws
from ..host_lock import HostLock, LockHeldError
from .ladder_run import LadderRun
from .lease import Lease
from .load_keeper import LoadKeeper
from .loads import TASKS
from .log_file import LogFile
from .plan import MeasurePlan, measure_plan
from .progress import progress_of
from .unit import STOPPED

COMPLETE, REFUSED = 0, 2
"""Exit codes beside STOPPED: every step measured, not started."""

_BMC_EVERY_S = 2.0
_FIRST_BMC_S = 10.0


@dataclass(frozen=True)
class Orders:
    """What the control writes for the watcher. log: the file, new or to be gone on with; runs: how many it holds."""

    plan: MeasurePlan
    log: Path
    lease: Path
    lock: str
    runs: int = 0

    def as_text(self) -> str:
        paths = {"log": str(self.log), "lease": str(self.lease), "lock": self.lock}
        return json.dumps({"plan": self.plan.as_dict(), **paths, "runs": self.runs}, indent=1) + "\n"


def orders_of(text: str) -> Orders:
    """Raises ValueError for what is none."""
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("no orders of a measurement")
    plan = measure_plan(data.get("plan") or {})
    try:
        return Orders(plan, Path(data["log"]), Path(data["lease"]), str(data["lock"]), int(data["runs"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"no orders of a measurement: {error} is missing or wrong") from error


def watch(
    orders: Orders,
    say: Callable[[str], None],
    bmc_reader: Callable[[Mapping[str, Any]], ReadBmc | None],
) -> int:
    """Measure what is left of the plan. say: a line for the journal. bmc_reader: from `plan.bmc` to its readings."""
    plan = orders.plan
    try:
        with HostLock(f"power measurement of {plan.host}", orders.lock, wait_s=0.0):
            # forked first: it has the lock too, so that no second run starts while a load is left, and no thread yet
            keeper = LoadKeeper(TASKS)
            try:
                return _measured(orders, keeper, say, bmc_reader(plan.bmc))
            finally:
                keeper.close()
    except LockHeldError as error:
        say(f"refused: {error}")
        return REFUSED


def _measured(orders: Orders, keeper: LoadKeeper, say: Callable[[str], None], read_bmc: ReadBmc | None) -> int:
    plan = orders.plan
    ended: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda got, _frame: ended.append(got))
    done = progress_of(log_of(orders.log)).done
    log = LogFile(orders.log)
    bmc = BmcWatch(read_bmc, min(_BMC_EVERY_S, plan.times.every_s)) if read_bmc is not None else None
    samples = Sampler(run_command, [one.uuid for one in plan.cards], bmc)
    try:
        if bmc is not None:
            bmc.wait_for_first(_FIRST_BMC_S)
        indices = {one.uuid: one.index for one in card_draws(run_command, [one.uuid for one in plan.cards])}
        log.append(
            {
                "kind": "run",
                "t": time_text(time.time()),
                "key": plan.key,
                "host": plan.host,
                "boot_id": boot_id(),
                "done": sorted(done),
                "plan": plan.as_dict(),
            }
        )
        lease = Lease(orders.lease)
        reason = LadderRun(plan, samples, log, keeper, lease, done, indices, lambda: bool(ended)).run()
    finally:
        samples.close()
        log.close()
    say("every step was measured" if reason is None else f"{reason.code}: {reason.message}")
    return COMPLETE if reason is None else STOPPED


__all__ = ["COMPLETE", "REFUSED", "STOPPED", "Orders", "orders_of", "watch"]
