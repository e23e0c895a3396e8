"""What the last run of ``caps apply`` found, kept so that the next one can tell what is new."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..apply.gpu_limits.result import CapsResult
from ..findings import Finding, finding
from ..observe.boot import boot_id
from ..observe.nvidia.cards import LIMIT_TOLERANCE_WATTS

DEFAULT_PATH = "/var/lib/gpu-seats/power/caps.json"
_WHO_SET_IT = "It holds again. Find out what took it (journalctl --since): a driver loaded anew, or an nvidia-smi -pl."


def read_state(path: str) -> dict[str, Any]:
    """The last state; empty where there is none or it can't be read: it is a memory, nothing is decided by it alone."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def kept_rows(state: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of a list in a state; none of what damage or a hand left there."""
    rows = state.get(name)
    return [one for one in rows if isinstance(one, dict)] if isinstance(rows, list) else []


def new_state(host: str, at: str, result: CapsResult, findings: list[Finding]) -> dict[str, Any]:
    """time: when it was looked at (UTC). boot: id of the running boot, because no limit outlives one."""
    return {
        "host": host,
        "time": at,
        "boot": boot_id(),
        "held": result.held,
        "changed": result.changed,
        "cards": [one.as_dict() for one in result.cards],
        "findings": [one.as_dict() for one in findings],
    }


def went_lost(last: Mapping[str, Any], result: CapsResult) -> list[Finding]:
    """Caps that held at the last look in this boot, had gone above since, and were set again now."""
    if not last or last.get("boot") != boot_id():
        return []
    kept = {str(one.get("uuid")): one.get("wanted_watts") for one in kept_rows(last, "cards") if one.get("ok")}
    found = []
    for one in result.cards:
        had = one.before_watts
        if not one.changed or had is None or kept.get(str(one.uuid)) != one.wanted_watts:
            continue
        if had > one.wanted_watts + LIMIT_TOLERANCE_WATTS:
            ending = f"and was set to {one.wanted_watts:g} W again" if one.ok else "and could not be set again"
            text = f"the limit had gone to {had:g} W since {last.get('time')}, {ending}"
            facts = {"uuid": one.uuid, "found_watts": had, "cap_watts": one.wanted_watts, "held_at": last.get("time")}
            remedy, severity = (_WHO_SET_IT, "warning") if one.ok else ("", "")
            found.append(finding("power.cap_lost", f"gpu:{one.card}", text, facts, remedy, severity))
    return found


__all__ = ["DEFAULT_PATH", "kept_rows", "new_state", "read_state", "went_lost"]
