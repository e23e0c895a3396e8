"""The watcher: raises the load step by step, writes every sample down, ends the load before anything else.

The order inside one tick is the point of it: look, judge, stop if need be, and only then write.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ...findings import Finding, finding
from ...observe.power_log import time_text
from .judgement import Judge, effect_finding, host_total
from .lease import ASKING, HOLD, Lease
from .load_keeper import KeeperGoneError, LoadEnd
from .loads import LoadOrder, loads_of, remaining_s
from .log_file import LogFileError
from .plan import MeasurePlan, Step
from .step_figures import step_figures

_AFTER_SAMPLES = 3
_FALLEN_SHARE = 0.5
"""After the end of the load a card that still draws more than this share of its cap is not unloaded."""


class Keeper(Protocol):
    def start(self, name: str, argv: list[str], limit_s: float) -> None: ...
    def start_task(self, name: str, task: str, argument: Any, limit_s: float) -> None: ...
    def ended(self) -> list[LoadEnd]: ...
    def stop_all(self) -> bool: ...


class Samples(Protocol):
    def sample(self, **more: Any) -> dict[str, Any]: ...


class Log(Protocol):
    def append(self, record: Mapping[str, Any]) -> None: ...


class LoadStoppedError(Exception):
    """The load was stopped for this reason."""

    def __init__(self, reason: Finding) -> None:
        super().__init__(reason.message)
        self.reason = reason


@dataclass
class LadderRun:
    """One run over the steps of `plan` that are not in `done`. indices: nvidia-smi's number of each card now.

    is_ended: asked at every tick; True ends the run (a signal came).
    """

    plan: MeasurePlan
    samples: Samples
    log: Log
    keeper: Keeper
    lease: Lease
    done: Iterable[int] = ()
    indices: Mapping[str, int | None] = field(default_factory=dict)
    is_ended: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    wall: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        self._judge = Judge(self.plan)
        self._loaded: dict[str, LoadOrder] = {}
        self._is_loaded = False
        self._before: Mapping[str, Any] = {}

    def run(self) -> Finding | None:
        """Why the load was stopped early; None when every step was measured. The load is ended in any case."""
        reason: Finding | None = None
        done = set(self.done)
        left = [step for step in self.plan.steps if step.number not in done]
        try:
            for step in left[:1]:
                self._before = self._tick(step, "before")  # no load is raised on what cannot be seen
            for step in left:
                self._step(step)
        except LoadStoppedError as stopped:
            reason = stopped.reason
        except LogFileError as error:
            reason = finding("power.log_unwritable", f"host:{self.plan.host}", str(error))
        except (KeeperGoneError, OSError) as error:
            reason = finding("power.load_ended", f"host:{self.plan.host}", f"the load could not be kept: {error}")
        finally:
            all_gone = self.keeper.stop_all()
        return self._closed(reason, all_gone)

    def _closed(self, reason: Finding | None, all_gone: bool) -> Finding | None:
        """Write the end down, and look whether the cards have really come down."""
        try:
            if reason is not None:
                self._append("stop", code=reason.code, message=reason.message, evidence=reason.evidence)
            still_loaded = self._after(all_gone)
            if still_loaded is not None:
                self._append("stop", code=still_loaded.code, message=still_loaded.message, evidence={})
            self._append("end", complete=reason is None)
        except LogFileError as error:
            return reason or finding("power.log_unwritable", f"host:{self.plan.host}", str(error))
        return reason or still_loaded

    def _after(self, all_gone: bool) -> Finding | None:
        """Samples after the end of the load; a finding if a card that was loaded still draws as under load."""
        if not self._is_loaded:
            return None
        high: list[str] = []
        for _ in range(_AFTER_SAMPLES):
            self.sleep(self.plan.times.every_s)
            sample = self.samples.sample(phase="after")
            self.log.append(sample)
            high = [
                f"gpu {self.plan.name_of(str(one['uuid']))} {one['draw_watts']:.0f} W"
                for one in sample["cards"]
                if self.plan.name_of(str(one["uuid"])) in self._loaded
                and one.get("draw_watts") is not None
                and one["draw_watts"] > _FALLEN_SHARE * self.plan.caps.get(str(one["uuid"]), float("inf"))
            ]
            if not high and all_gone:
                return None
        what = f"still drawing: {', '.join(high)}" if high else "that all its processes are gone could not be seen"
        return finding("power.load_not_stopped", f"host:{self.plan.host}", f"the load was ended, but {what}")

    def _step(self, step: Step) -> None:
        self._append("step", number=step.number, cards=list(step.cards), nominal_watts=step.nominal_watts)
        for order in loads_of(self.plan, step, self.indices, remaining_s(self.plan, step)):
            if order.name in {one.name for one in self._loaded.values()}:
                continue
            self._raise(order, step)
        self._watch(step, "settle", self.plan.times.settle_s)
        held = self._watch(step, "hold", self.plan.times.hold_s)
        no_effect = effect_finding(self.plan, step.cards, self._before, held)
        if no_effect is not None:
            raise LoadStoppedError(no_effect)
        if step is self.plan.steps[-1] and self.plan.times.top_s > 0:
            held += self._watch(step, "hold", self.plan.times.top_s, lambda: self.lease.word() not in (HOLD, ASKING))
        self._append("step_end", number=step.number, cards=list(step.cards), **step_figures(held))

    def _raise(self, order: LoadOrder, step: Step) -> None:
        """Load one more card (or the cards of one seat), and look once before the next."""
        self._is_loaded = True
        self._loaded.update(dict.fromkeys(order.cards, order))
        if order.argv:
            self.keeper.start(order.name, list(order.argv), order.limit_s)
        else:
            self.keeper.start_task(order.name, order.task, order.argument, order.limit_s)
        self._append("load", what="started", name=order.name, cards=list(order.cards))
        self._pause(self.clock())
        self._tick(step, "raise")

    def _watch(
        self, step: Step, phase: str, seconds: float, is_enough: Callable[[], bool] = lambda: False
    ) -> list[dict[str, Any]]:
        """Sample for that long; the samples."""
        taken: list[dict[str, Any]] = []
        until = self.clock() + seconds
        while self.clock() < until and not is_enough():
            began = self.clock()
            taken.append(self._tick(step, phase))
            self._pause(began)
        return taken

    def _pause(self, began: float) -> None:
        """The rest of the interval between two samples."""
        self.sleep(max(0.0, self.plan.times.every_s - (self.clock() - began)))

    def _tick(self, step: Step, phase: str) -> dict[str, Any]:
        sample = self.samples.sample(step=step.number, phase=phase)
        reason = self._judge.stop_reason(sample) or self._outer_reason()
        if reason is not None:
            self.keeper.stop_all()
        total = host_total(sample, self.plan.limits)
        self.log.append({**sample, "total_watts": None if total.watts is None else round(total.watts, 1)})
        if reason is not None:
            raise LoadStoppedError(reason)
        return sample

    def _outer_reason(self) -> Finding | None:
        """Why the run ends although the watts are fine."""
        host = f"host:{self.plan.host}"
        if self.is_ended():
            return finding("power.measure_ended", host, "the measurement was told to end")
        for end in self.keeper.ended():
            said = f": {' '.join(end.text.split())[-300:]}" if end.text else ", it printed nothing"
            message = f"{end.name} ended by itself with rc {end.rc} before its step did{said}"
            return finding("power.load_ended", host, message, {"load": end.name, "rc": end.rc})
        age_s, times = self.lease.age_s(), self.plan.times
        # whoever is asked for a reading looks at the meter, not here
        limit_s = times.lease_s + (times.hold_s + times.top_s if self.lease.word() == ASKING else 0.0)
        if age_s is None or age_s > limit_s:
            message = f"nobody has looked for {limit_s:.0f} s: the connection is gone"
            return finding("power.measure_ended", host, message)
        return None

    def _append(self, kind: str, **members: Any) -> None:
        self.log.append({"kind": kind, "t": time_text(self.wall()), **members})


__all__ = ["LadderRun", "LoadStoppedError"]
