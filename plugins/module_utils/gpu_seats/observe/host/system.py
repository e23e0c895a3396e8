"""Listeners, memory, disks and addresses of the host."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...findings import finding
from ..command import Run, command_findings
from ..jsontext import as_list, as_mapping
from ..listeners import Listener, parse_ss

_LIMIT_S = 10.0
_MEMINFO = Path("/proc/meminfo")


def observed_listeners(run: Run) -> dict[str, Any]:
    """``{listeners, findings}``; listeners None when ss could not tell."""
    ended = run(["ss", "-Hltunp"], _LIMIT_S)
    if ended.rc is None:
        return {"listeners": None, "findings": [one.as_dict() for one in command_findings(ended, "tool:ss")]}
    parsed = parse_ss(ended.text, ended.rc)
    told = not any(one.code == "port.listeners_unknown" for one in parsed.findings)
    return {
        "listeners": [one.as_dict() for one in parsed.of(Listener) if one.port is not None] if told else None,
        "findings": [one.as_dict() for one in parsed.findings],
    }


def observed_memory() -> dict[str, Any]:
    """``{total_mib, available_mib}``, None where /proc/meminfo does not say."""
    return memory_of(_MEMINFO.read_text())


def memory_of(meminfo: str) -> dict[str, Any]:
    """``{total_mib, available_mib, swap_free_mib}`` of /proc/meminfo."""
    values = {}
    for line in meminfo.splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if len(words) == 2 and words[1] == "kB" and words[0].isdigit():
            values[name] = int(words[0][:15]) / 1024
    wanted = {"total_mib": "MemTotal", "available_mib": "MemAvailable", "swap_free_mib": "SwapFree"}
    return {key: values.get(name) for key, name in wanted.items()}


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
    there = next((one for one in (path, *path.parents) if os.path.lexists(one)), Path("/"))
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
    return addresses_of(ended.stdout)


def addresses_of(text: str) -> list[str] | None:
    """Addresses of ``ip -j addr``; None for text that is no list of interfaces."""
    try:
        interfaces = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(interfaces, list):
        return None
    rows = [row for one in interfaces for row in as_list(as_mapping(one).get("addr_info"))]
    return [str(row["local"]) for row in map(as_mapping, rows) if row.get("local")]


def present_paths(paths: Sequence[str]) -> dict[str, Any]:
    """``{present: {path: bool}}``: what a container is to mount must be there before it is made."""
    return {"present": {path: Path(path).exists() for path in paths}}
