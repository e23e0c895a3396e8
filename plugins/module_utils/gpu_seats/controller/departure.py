"""Whether a retired seat is really gone: seen by a new look at the host, not by what removed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..findings import Finding, finding
from .standing import containers_by_name


def departures(
    seats: Sequence[Mapping[str, Any]], observed: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], list[Finding]]:
    """``{seat, ok, verdict}`` of every seat that had to go, and what is still there of it.

    seats: entries of `seat_plan` (seat, container, port). observed: a `host_info` result made after the removal.
    """
    rows, found = [], []
    for entry in seats:
        findings = _remains(entry, observed)
        freed = [f"port {entry['port']} is free"] if entry["port"] and not findings else []
        verdict = ", ".join(["container is gone", *freed]) if not findings else f"not gone ({findings[0].code})"
        rows.append({"seat": entry["seat"], "ok": not findings, "verdict": verdict})
        found += findings
    return rows, found


def _remains(entry: Mapping[str, Any], observed: Mapping[str, Any]) -> list[Finding]:
    subject, name = f"seat:{entry['seat']}", entry["container"]
    containers = containers_by_name(observed)
    if containers is None:
        text = f"Docker does not answer, so whether {name} is gone is not known"
        return [finding("seat.retired_remains", subject, text)]
    if name in containers:
        return [
            finding("seat.retired_remains", subject, f"container {name} still exists ({containers[name]['status']})")
        ]
    listening = {one["port"] for one in observed.get("listeners") or () if one.get("protocol") == "tcp"}
    if entry["port"] and int(str(entry["port"]).split(",")[0]) in listening:
        return [finding("port.still_held", subject, f"something still listens on port {entry['port']}")]
    return []
