"""How far a measurement came, read from its file: what a later run may build on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...observe.power_log import PowerLog, read_power_log, time_text
from .plan import MeasurePlan

PREFIX = "measure-"


@dataclass(frozen=True)
class Progress:
    """key: of the plan, None where the file holds no run. done: step number -> when its measurement ended.

    complete: every step was measured. stop: the last reason why load was stopped before its time. runs: how many wrote
    into the file.
    """

    key: str | None = None
    done: dict[int, str] = field(default_factory=dict)
    complete: bool = False
    stop: Mapping[str, Any] | None = None
    runs: int = 0

    def first_step(self, plan: MeasurePlan) -> int | None:
        """Number of the first step that has no measured end; None when all have."""
        return next((step.number for step in plan.steps if step.number not in self.done), None)


def progress_of(log: PowerLog) -> Progress:
    run = log.last("run")
    if run is None:
        return Progress()
    done = {int(one["number"]): str(one["t"]) for one in log.of("step_end")}
    end = log.last("end")
    return Progress(str(run.get("key")), done, bool(end and end.get("complete")), log.last("stop"), len(log.of("run")))


def unfinished_file(folder: Path, plan: MeasurePlan) -> tuple[Path, Progress] | None:
    """The newest file of the same plan, where its run did not come to its end; None where a new one is due."""
    newest = newest_file(folder, plan)
    return newest if newest is not None and not newest[1].complete else None


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


__all__ = ["PREFIX", "Progress", "new_file", "newest_file", "progress_of", "unfinished_file"]
