"""What outlives the BMC's process: failures that are on, chassis flags, conditions of power supplies, the event log."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FAULTS = {
    "dcmi-unsupported": "DCMI requests are an invalid command (c1), as on boards without DCMI",
    "dcmi-no-meter": "DCMI power readings aren't supported in the present state (d5), as on boards without a meter",
    "deactivated": "the power reading's state is deactivated, its figures are 0",
    "busy": "answers to DCMI are node busy (c0) (value: so many of them, without it all)",
    "zero": "the power reading says 0 W and active",
    "silent": "no answer to anything, as if there were no BMC",
    "slow": "every answer comes late (value: seconds, 2)",
    "wrong-password": "the password isn't the one in the file",
    "no-sensor": "the sensor repository has no sensor in watts",
    "sensor-unreadable": "the sensor in watts has no reading",
}
CHASSIS = {
    "overload": "the system was shut down by a power overload",
    "interlock": "the chassis panel interlock is active",
    "main-fault": "a fault in the main power subsystem",
    "control-fault": "the last power control didn't do what it should",
    "ac-failed": "the last power down was caused by an AC failure",
    "cooling-fault": "a fan or cooling fault",
}


def state_dir() -> Path:
    return Path(os.environ.get("BMC_SIM_DIR", "/var/lib/bmc-sim"))


@dataclass
class BoardState:
    """chassis: names of CHASSIS that are on. supplies: number -> conditions that are on."""

    chassis: list[str] = field(default_factory=list)
    supplies: dict[str, list[str]] = field(default_factory=dict)


def load_board() -> BoardState:
    return BoardState(**_read("board.json", {}))


def save_board(board: BoardState) -> None:
    write("board.json", asdict(board))


def active_faults() -> dict[str, float | None]:
    """Failures that are on, with their value."""
    folder = state_dir() / "faults"
    return {path.stem: _read(f"faults/{path.name}", {}).get("value") for path in sorted(folder.glob("*.json"))}


def set_fault(name: str, value: float | None) -> None:
    write(f"faults/{name}.json", {"value": value})


def clear_faults(name: str | None = None) -> list[str]:
    """Switch off one failure, or all; returns the names that were on."""
    gone = [path for path in sorted((state_dir() / "faults").glob("*.json")) if name in (None, path.stem)]
    for path in gone:
        path.unlink(missing_ok=True)
    return [path.stem for path in gone]


def stored(name: str, default: Any) -> Any:
    """The content of a file of the state directory, `default` where there is none."""
    return _read(name, default)


def write(name: str, content: Any) -> None:
    """Write a file of the state directory whole or not at all."""
    path = state_dir() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(content, stream)
    Path(temporary).replace(path)


def _read(name: str, default: Any) -> Any:
    try:
        return json.loads((state_dir() / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return default
