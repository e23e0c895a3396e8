"""NVRM lines of the kernel log: Xid events, cards that fell off the bus, version mismatches."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from ...findings import Finding, finding
from ..records import Parsed, Record, with_reasons
from . import values
from .versions import DriverVersion

_XID = re.compile(
    rf"NVRM:\s*(?:GPU\s+\S+:\s*)?Xid\s*\((?P<bus>{values.BUS_ID})\)\s*:\s*(?P<xid>\d{{1,5}}),?\s*(?P<text>.*)$"
)
_PID = re.compile(r"pid='?(?P<pid>\d{1,11})")
_NAME = re.compile(r"name=(?P<name>[^,<]+)")
_LOST_HEAD = re.compile(rf"NVRM:\s*The NVIDIA GPU\s+(?P<bus>{values.BUS_ID})")
_LOST = re.compile(r"fallen off the bus", re.IGNORECASE)
_LOST_LINE = re.compile(rf"NVRM:\s*GPU\s+(?:at\s+)?(?P<bus>{values.BUS_ID})[^:]*:.*fallen off the bus", re.IGNORECASE)
_PROBE = re.compile(r"NVIDIA probe routine failed for (?P<count>\d+) device")
_MISMATCH = re.compile(
    r"API mismatch: the (?:client|NVIDIA driver)\b(?:.{0,200}?)has the version\s+(?P<client>[\d.]+)", re.DOTALL
)
_MODULE_HAS = re.compile(r"kernel module\b.{0,120}?\bthe version\s+(?P<module>[\d.]+)", re.DOTALL)
_INIT_FAILED = re.compile(rf"NVRM:\s*(?:GPU\s+(?P<bus>{values.BUS_ID}):?\s*)?.*RmInitAdapter failed")
_LEGACY = re.compile(r"Persistence mode is deprecated")
_LOADED = re.compile(r"NVRM:\s*loading (?P<text>NVIDIA UNIX .*)$")
_APPLICATION_XIDS = (13, 31, 43, 45, 68, 69)
_MEMORY_XIDS = (48, 63, 64, 92, 94, 95, 140)
_DRIVER_XIDS = (61, 62, 119, 120, 154)


@dataclass(frozen=True)
class XidEvent(Record):
    """One Xid line: what the driver reports of a card's fault. pid and process where the line names them."""

    kind: ClassVar[str] = "xid_event"
    xid: int
    bus_id: str | None
    text: str
    pid: int | None = None
    process: str | None = None
    unknown: dict[str, str] = field(default_factory=dict)


def looks_like_kernel_log(text: str) -> bool:
    return "NVRM:" in text


def parse_kernel_log(text: str) -> Parsed:
    """Events and findings of all NVRM lines; a report over several lines is put together."""
    parsed = Parsed()
    head_bus: str | None = None
    for line in text.splitlines():
        xid, head = _XID.search(line), _LOST_HEAD.search(line)
        if xid:
            event = _event(xid)
            parsed.records.append(event)
            parsed.findings.append(_xid_finding(event, line))
        elif head:
            head_bus = values.bus_id(head.group("bus"))
        if not xid and _LOST.search(line):
            one_line = _LOST_LINE.search(line)
            bus = values.bus_id(one_line.group("bus")) if one_line else head_bus
            parsed.findings.append(_lost(bus, line))
        parsed.findings.extend(_other(line))
        loaded = _LOADED.search(line)
        if loaded:
            flavour = "open" if "open kernel" in loaded.group("text").lower() else "closed"
            version = DriverVersion("kernel-module", values.version(loaded.group("text")), flavour=flavour)
            parsed.records.append(with_reasons(version, {}, "not in the kernel log"))
    parsed.findings.extend(_mismatch(text))
    if not parsed.records and not parsed.findings:
        parsed.notes.append("NVRM lines without a fault")
    return parsed


def _event(match: re.Match[str]) -> XidEvent:
    text = match.group("text").strip()
    pid, name = _PID.search(text), _NAME.search(text)
    event = XidEvent(
        int(match.group("xid")),
        values.bus_id(match.group("bus")),
        text,
        int(pid.group("pid")) if pid else None,
        name.group("name").strip() if name else None,
    )
    return with_reasons(event, {}, "not in the line")


def _xid_finding(event: XidEvent, line: str) -> Finding:
    """Xid 79 is a lost card; memory and driver faults need hands; application faults are a warning."""
    subject = "gpu:%s" % (event.bus_id or "unknown")
    evidence = {"xid": event.xid, "bus_id": event.bus_id, "line": line.strip(), "process": event.process}
    if event.xid == 79 or "fallen off the bus" in event.text:
        return finding("gpu.lost", subject, f"Xid {event.xid}: the card has fallen off the bus", evidence)
    message = f"Xid {event.xid}: {event.text or 'no text'}"
    if event.xid in _MEMORY_XIDS:
        return finding("gpu.memory_fault", subject, message, evidence)
    if event.xid in _DRIVER_XIDS:
        return finding("gpu.driver_fault", subject, message, evidence)
    severity = "warning" if event.xid in _APPLICATION_XIDS else "error"
    return finding("gpu.xid", subject, message, evidence, severity=severity)


def _lost(bus: str | None, line: str) -> Finding:
    evidence = {"bus_id": bus, "line": line.strip()}
    return finding("gpu.lost", "gpu:%s" % (bus or "unknown"), "the card has fallen off the bus", evidence)


def _other(line: str) -> list[Finding]:
    probe, failed = _PROBE.search(line), _INIT_FAILED.search(line)
    if probe:
        message = "the driver could not start {} card(s)".format(probe.group("count"))
        return [finding("gpu.driver_fault", "tool:dmesg", message, {"line": line.strip()})]
    if failed:
        bus = values.bus_id(failed.group("bus")) or "unknown"
        return [
            finding("gpu.driver_fault", f"gpu:{bus}", "the driver could not start this card", {"line": line.strip()})
        ]
    if _LEGACY.search(line):
        message = "persistence mode was set with nvidia-smi -pm, which is deprecated"
        return [finding("gpu.persistence_legacy", "tool:dmesg", message, {"line": line.strip()})]
    return []


def _mismatch(text: str) -> list[Finding]:
    """ "API mismatch" comes over two or three lines."""
    client = _MISMATCH.search(text)
    if client is None:
        return []
    module = _MODULE_HAS.search(text[client.end() :])
    loaded = module.group("module").rstrip(".") if module else None
    evidence = {"library": client.group("client").rstrip("."), "loaded": loaded}
    message = "user space is {}, the loaded kernel module {}".format(evidence["library"], loaded or "another version")
    return [finding("gpu.driver_mismatch", "tool:dmesg", message, evidence)]
