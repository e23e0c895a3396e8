"""Warning lines of Docker and Compose (``level=warning msg=...``, ``WARN[0000] ...``)."""

from __future__ import annotations

import re
from typing import Any

from ...findings import Finding, finding

_LOGFMT = re.compile(r"^time=\"?(?P<time>[^\"\s]*)\"?\s+level=warning\s+msg=\"(?P<message>(?:[^\"\\]|\\.)*)\"?")
_OLD = re.compile(r"^(?:WARN(?:ING)?\[\d+\]|WARNING:|WARN:)\s*(?P<message>.*)$")
_UNSET = re.compile(r"[Tt]he \"?(?P<name>\w+)\"? variable is not set")
_VERSION = re.compile(r"attribute [`\"']?version[`\"']? is obsolete|[`\"']version[`\"'] is obsolete")
_ORPHANS = re.compile(r"Found orphan containers \(\[?(?P<names>[^\])]*)\]?\)")
_NETWORK = re.compile(r"a network with name (?P<name>\S+) exists but was not created")
_VOLUME = re.compile(
    r"volume \"?(?P<name>[^\s\"]+)\"? already exists but was created for project \"?(?P<project>[^\s\".]+)"
)


def take_warnings(text: str) -> tuple[list[Finding], list[str]]:
    """Findings of all warning lines, each kind once with how often it came, and the other lines."""
    counted: dict[tuple[str, str], tuple[Finding, int]] = {}
    rest: list[str] = []
    for line in text.splitlines():
        match = _LOGFMT.match(line) or _OLD.match(line)
        if match is None:
            rest.append(line)
            continue
        message = re.sub(r"\\(.)", r"\1", match.group("message"))
        one = _warning(message)
        key = (one.code, one.message)
        counted[key] = (one, counted.get(key, (one, 0))[1] + 1)
    for one, times in counted.values():
        one.evidence["times"] = times
    return [one for one, _ in counted.values()], rest


def _warning(message: str) -> Finding:
    evidence: dict[str, Any] = {"text": message[:400]}
    unset, orphans = _UNSET.search(message), _ORPHANS.search(message)
    network, volume = _NETWORK.search(message), _VOLUME.search(message)
    if unset:
        told = f"the variable {unset.group('name')} is not set and becomes empty"
        return finding("compose.variable_unset", "tool:compose", told, {**evidence, "variable": unset.group("name")})
    if _VERSION.search(message):
        return finding("compose.version_obsolete", "tool:compose", "the key version is obsolete", evidence)
    if orphans:
        names = re.split(r"[,\s]+", orphans.group("names").strip())
        told = f"containers of this project without a service: {', '.join(names)}"
        return finding("compose.orphans", "tool:compose", told, {**evidence, "containers": names})
    if network:
        told = f"network {network.group('name')} exists and belongs to somebody else"
        return finding("compose.network_foreign", "tool:compose", told, evidence, severity="warning")
    if volume:
        told = f"volume {volume.group('name')} was made by project {volume.group('project')}"
        return finding("compose.volume_foreign", "tool:compose", told, evidence)
    return finding("compose.warning", "tool:compose", message[:200] or "a warning without text", evidence)
