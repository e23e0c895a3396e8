"""Which entries of a BMC's event log are about power, which say that something went wrong, and which are over."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...findings import Finding, finding
from .records import SelEvent

_TYPES = (
    "Temperature",
    "Voltage",
    "Current",
    "Fan",
    "Physical Security",
    "Platform Security",
    "Processor",
    "Power Supply",
    "Power Unit",
    "Cooling Device",
    "Other Units-based",
    "Memory",
    "Drive Slot / Bay",
    "Drive Slot",
    "POST Memory Resize",
    "System Firmwares",
    "System Firmware",
    "Event Logging Disabled",
    "Watchdog1",
    "Watchdog 1",
    "System Event",
    "Critical Interrupt",
    "Button",
    "Module / Board",
    "Microcontroller",
    "Add-in Card",
    "Chassis",
    "Chip Set",
    "Other FRU",
    "Cable / Interconnect",
    "Terminator",
    "System Boot Initiated",
    "Boot Error",
    "OS Boot",
    "OS Critical Stop",
    "OS Stop/Shutdown",
    "Slot / Connector",
    "System ACPI Power State",
    "Watchdog2",
    "Watchdog 2",
    "Platform Alert",
    "Entity Presence",
    "Monitor ASIC",
    "LAN",
    "Management Subsys Health",
    "Management Subsystem Health",
    "Battery",
    "Session Audit",
    "Version Change",
    "FRU State",
)
"""Types of sensors as ipmitool names them; an entry's sensor starts with one."""
_POWER_TYPES = ("Power Supply", "Power Unit", "System ACPI Power State", "Current")
_POWER_NAME = re.compile(r"\b(?:psu?\s?\d*|pws\d*|pwr|power|ac|vin)\b", re.IGNORECASE)
_POWER_EVENT = re.compile(
    r"\bAC (?:lost|out-of-range|failed)|power supply|power (?:off|down|cycle|lost|fail\w*|fault|button|good)\b"
    r"|power control|240VA|redundan|input (?:lost|power)|over-?\s?current|over-?\s?load|brown-?out",
    re.IGNORECASE,
)
_BAD = re.compile(
    r"\bAC (?:lost|out-of-range|failed)|input (?:lost|out-of-range)|fail|fault|redundancy (?:lost|degraded)"
    r"|non-redundant|insufficient|over-?\s?(?:current|load|voltage|power)|under-?\s?voltage|brown-?out"
    r"|power (?:off|down|cycle|lost)|config\w* error|mismatch|shut ?down|transition to (?:critical|non-recoverable)"
    r"|(?:upper|lower) (?:critical|non-recoverable|non-critical) going|limit exceeded",
    re.IGNORECASE,
)
_GOOD = re.compile(r"fully redundant|presence detected|power good|state (?:ok|good)|device enabled", re.IGNORECASE)
_MENDS = re.compile(r"fully redundant", re.IGNORECASE)
_REDUNDANCY = re.compile(r"redundan", re.IGNORECASE)


def sensor_type_of(sensor: str) -> str | None:
    """``Power Supply #0x51`` and ``Power Supply PS1 Status`` -> ``Power Supply``."""
    known = [one for one in _TYPES if sensor.lower().startswith(one.lower())]
    return max(known, key=len) if known else None


def is_power(kind: str | None, sensor: str, event: str) -> bool:
    """Whether an entry is about the machine's power. A voltage on the board is not; that of a supply's input is."""
    if kind in _POWER_TYPES:
        return True
    if kind in ("Voltage", "Button", None):
        name = sensor[len(kind) :] if kind else sensor
        return _POWER_NAME.search(name.replace("_", " ")) is not None or _POWER_EVENT.search(event) is not None
    return _POWER_EVENT.search(event) is not None and kind not in ("Fan", "Cooling Device", "Memory", "Battery")


def is_fault(kind: str | None, event: str, direction: str | None) -> bool:
    """Whether the entry says that something went wrong: a bad state came, or a good one went."""
    if kind in ("System ACPI Power State", "Button"):
        return False
    if direction == "deasserted":
        return _GOOD.search(event) is not None and _BAD.search(event) is None
    return _BAD.search(event) is not None


def event_findings(events: Sequence[SelEvent]) -> list[Finding]:
    """One finding a sensor and event, its last time in it; information alone where the log also says it is over."""
    told: dict[tuple[str, str], list[SelEvent]] = {}
    over: dict[tuple[str, str], SelEvent | None] = {}
    for event in events:
        key = (event.sensor, event.event)
        if event.is_fault:
            told.setdefault(key, []).append(event)
            over[key] = None
        for known in _ended_by(event, told):
            over[known] = event
    return [_finding(times, over[key]) for key, times in told.items()]


def _ended_by(event: SelEvent, told: dict[tuple[str, str], list[SelEvent]]) -> list[tuple[str, str]]:
    """The faults that this entry ends: the same one the other way round, or redundancy that is whole again."""
    ended = []
    for sensor, text in told:
        last = told[(sensor, text)][-1]
        turned = (sensor, text) == (event.sensor, event.event) and event.direction not in (None, last.direction)
        whole = _MENDS.search(event.event) and event.direction != "deasserted" and _REDUNDANCY.search(text)
        if turned or (whole and sensor == event.sensor):
            ended.append((sensor, text))
    return ended


def _finding(times: list[SelEvent], end: SelEvent | None) -> Finding:
    last = times[-1]
    way = " went" if last.direction == "deasserted" else ""
    count = f", {len(times)} times in this log, the last" if len(times) > 1 else ""
    when = last.time or "a time that the BMC did not know"
    message = f"{last.sensor}: {last.event}{way}{count} at {when}"
    message += (
        f", over at {end.time or 'a time that the BMC did not know'}" if end else "; no entry says that it is over"
    )
    evidence = {
        "id": last.id,
        "sensor": last.sensor,
        "event": last.event,
        "direction": last.direction,
        "first": times[0].time,
        "last": last.time,
        "times": len(times),
        "over": end.time if end else None,
    }
    return finding("bmc.power_event", "bmc:sel", message, evidence, severity="info" if end else "")
