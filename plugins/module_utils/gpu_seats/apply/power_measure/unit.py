"""The measurement as a transient unit of systemd: it goes on without the connection that started it, ends by itself at
its time, and takes every process of its load with it however it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...observe.command import Run

UNIT = "gpu-seats-power-measure.service"
STOPPED = 3
"""Exit code of a watcher that ended the load before its time and wrote down why; Python's own for a fault is 1."""

LOAD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where the program of a load is looked for, before a step is taken and when it is started."""

_LIMIT_S = 20.0
_SYSTEMD = Path("/run/systemd/system")
_RUNNING = ("active", "activating", "deactivating", "reloading")


class UnitError(Exception):
    """systemd did not do what it was asked, in its words."""


@dataclass(frozen=True)
class UnitState:
    """active: systemd's ActiveState, None if it could not be asked. result: how it ended (success, exit-code, ...)."""

    active: str | None
    result: str | None = None

    @property
    def is_running(self) -> bool:
        return self.active in _RUNNING


def start_unit(run: Run, argv: Sequence[str], limit_s: float) -> None:
    """Run `argv` as the unit for at most `limit_s`. Raises UnitError."""
    if not _SYSTEMD.is_dir():
        raise UnitError("this host does not run systemd: nothing would end the load if its watcher hung")
    properties = {
        "Type": "exec",
        # SIGTERM to the watcher alone, which ends the load and says so; what is left when it is gone gets SIGKILL
        "KillMode": "mixed",
        "RuntimeMaxSec": f"{limit_s:.0f}",
        "TimeoutStopSec": "20",
        # a host short of memory must not lose the watcher before the load
        "OOMScoreAdjust": "-900",
        "UMask": "0022",
        # a load that the watcher ended is no failed unit, which monitoring would tell until the next boot
        "SuccessExitStatus": str(STOPPED),
    }
    words = [f"--property={name}={value}" for name, value in properties.items()]
    words.append(f"--setenv=PATH={LOAD_PATH}")
    description = "--description=Measurement of the host's power, with load on its cards"
    run(["systemctl", "reset-failed", UNIT], _LIMIT_S)  # a failed one of before would keep the name
    started = run(["systemd-run", f"--unit={UNIT}", "--quiet", description, *words, *argv], _LIMIT_S)
    if not started.ok:
        raise UnitError(f"systemd-run failed: {started.text.strip() or 'it said nothing'}")


def unit_state(run: Run) -> UnitState:
    shown = run(["systemctl", "show", UNIT, "--property=ActiveState,Result"], _LIMIT_S)
    if not shown.ok:
        return UnitState(None)
    values = dict(line.split("=", 1) for line in shown.stdout.splitlines() if "=" in line)
    return UnitState(values.get("ActiveState"), values.get("Result"))


__all__ = ["LOAD_PATH", "STOPPED", "UNIT", "UnitError", "UnitState", "start_unit", "unit_state"]
