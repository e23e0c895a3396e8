"""Listeners, memory, disks and addresses of the host."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...findings import finding
from ..command import CommandResult, command_findings
from ..listeners import Listener, parse_ss

Run = Callable[[Sequence[str], float], CommandResult]
_LIMIT_S = 10.0
_MEMINFO = Path("/proc/meminfo")


def observed_listeners(run: Run) -> dict[str, Any]:
    """``{listeners, findings}``; listeners None when ss could not tell."""
    ended = run(["ss", "-Hltunp"], _LIMIT_S)
    if ended.rc is None:
        return {"listeners": None, "findings": [one.as_dict() for one in command_findings(ended, "tool:ss")]}
    parsed = parse_ss(ended.text, ended.rc)
    return {
        "listeners": [one.as_dict() for one in parsed.of(Listener)],
        "findings": [one.as_dict() for one in parsed.findings],
    }


def observed_memory() -> dict[str, Any]:
    """``{total_mib, available_mib}``, None where /proc/meminfo does not say."""
    values = {}
    for line in _MEMINFO.read_text().splitlines():
        name, _, rest = line.partition(":")
        if rest.strip().endswith("kB"):
            values[name] = int(rest.split()[0]) / 1024
    return {"total_mib": values.get("MemTotal"), "available_mib": values.get("MemAvailable")}


def observed_disks(paths: Sequence[str]) -> dict[str, Any]:
    """``{disks: {path: {free_mib, total_mib, on}}, findings}``, of the file system that holds each path.

    A path that does not exist yet is looked up at its nearest parent (`on`). free_mib is what may still be written,
    which is nothing where a root reserve is all that is left.
    """
    disks = {path: _room(Path(path)) for path in paths}
    findings = [
        finding("observe.disk_unknown", f"disk:{path}", f"the room at {path} could not be read: {one['unknown']}")
        for path, one in disks.items()
        if one["free_mib"] is None
    ]
    return {"disks": disks, "findings": [one.as_dict() for one in findings]}


def _room(path: Path) -> dict[str, Any]:
    there = next(one for one in (path, *path.parents) if one.exists())
    try:
        room = os.statvfs(there)
    except OSError as error:
        return {"free_mib": None, "total_mib": None, "on": str(there), "unknown": str(error)}
    return {
        "free_mib": room.f_bavail * room.f_frsize / 2**20,
        "total_mib": room.f_blocks * room.f_frsize / 2**20,
        "on": str(there),
    }


def observed_addresses(run: Run) -> list[str] | None:
    """Addresses that the host's interfaces hold, None when ip could not tell."""
    ended = run(["ip", "-j", "addr", "show"], _LIMIT_S)
    if not ended.ok:
        return None
    try:
        interfaces = json.loads(ended.stdout)
    except ValueError:
        return None
    return [row["local"] for interface in interfaces for row in interface.get("addr_info") or () if "local" in row]
