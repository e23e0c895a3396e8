"""``ipmitool sel list`` and ``elist`` (also ``-c`` and ``-v``), ``sel info``: which power events the BMC logged."""

from __future__ import annotations

import re

from ...findings import Finding, finding
from ..records import Parsed, unrecognised, with_reasons
from .clock import bmc_time
from .errors import take_errors
from .power_events import event_findings, is_fault, is_power, sensor_type_of
from .records import SelEvent, SelInfo

_ID = re.compile(r"^(?:0x)?[0-9a-f]{1,4}$", re.IGNORECASE)
_DATE = re.compile(r"^\d{1,4}[/.-]\d{1,2}[/.-]\d{2,4}$")
_NO_DATE = re.compile(r"^(?:pre-?init|unspecified|unknown|s\s?\+.*|)$", re.IGNORECASE)
_DIRECTION = re.compile(r"^(?P<word>asserted|deasserted|assertion event|deassertion event)$", re.IGNORECASE)
_OEM = re.compile(r"^OEM record (?P<type>[0-9a-f]{2})$", re.IGNORECASE)
_PANIC = re.compile(r"^Linux kernel panic:?", re.IGNORECASE)
_EMPTY = re.compile(r"SEL has no entries", re.IGNORECASE)
_RAW = re.compile(r"^\s*SEL Entry:\s*[0-9a-f]+\s*$", re.IGNORECASE)
_PAIR = re.compile(r"^\s*(?P<key>[A-Za-z][^:]*?)\s*:\s*(?P<value>.*?)\s*$")
_BLOCK_START = re.compile(r"^\s*SEL Record ID\s*:\s*(?P<id>[0-9a-f]+)\s*$", re.IGNORECASE)
_INFO = re.compile(r"^\s*SEL Information\s*$|^Free Space\s*:|^Percent Used\s*:", re.IGNORECASE | re.MULTILINE)
_FULL_PERCENT = 95


def parse_sel(text: str, rc: int | None = None, command: str | None = None) -> Parsed:
    """Every entry as a record; power faults as findings, those that the log also clears as mere information."""
    del command
    errors = take_errors(text)
    events, odd = _events(errors.rest)
    info = _info(errors.rest) if _INFO.search(text) else None
    said_empty = any(_EMPTY.search(line) for line in errors.rest)
    if not events and info is None and not said_empty:
        return _none(text, rc, errors.found(answered=False))
    parsed = Parsed([*([info] if info else []), *events], event_findings(events))
    if info is not None:
        parsed.findings.extend(_full(info))
    if said_empty and not events:
        parsed.notes.append("the BMC's event log is empty")
    if odd:
        message = f"{len(odd)} lines are no entry of a known layout, the first: {odd[0][:100]!r}"
        parsed.findings.append(finding("parse.row_malformed", "tool:ipmitool-sel", message, {"rows": odd[:5]}))
    parsed.findings.extend(errors.found(answered=True))
    return parsed


def _none(text: str, rc: int | None, found: list[Finding]) -> Parsed:
    if found:
        return Parsed(findings=found)
    if text.strip():
        return Parsed(findings=[unrecognised("ipmitool-sel", text, rc)])
    if rc == 0:
        return Parsed(notes=["no entry was printed"])
    message = "the BMC gave no answer: ipmitool printed nothing" + ("" if rc is None else f" (rc {rc})")
    return Parsed(findings=[finding("bmc.busy", "bmc:sel", message, {"rc": rc})])


def _events(lines: list[str]) -> tuple[list[SelEvent], list[str]]:
    events: list[SelEvent] = []
    odd: list[str] = []
    block: list[str] = []
    for line in [*lines, ""]:
        starts = _BLOCK_START.match(line)
        if starts and block:
            events.extend(_of_block(block))
            block = []
        if starts or block:
            block.append(line)
            continue
        if not line.strip() or _RAW.match(line) or _EMPTY.search(line):
            continue
        event = _of_row(line)
        if event is not None:
            events.append(event)
        elif line.count("|") > 1:
            odd.append(line.strip())
    events.extend(_of_block(block))
    return events, odd


def _of_row(line: str) -> SelEvent | None:
    separator = "|" if "|" in line else ","
    cells = [one.strip() for one in line.split(separator)]
    if len(cells) < 2 or not _ID.match(cells[0]) or (separator == "," and len(cells) < 4):
        return None
    number, rest = int(cells[0], 16), cells[1:]
    if not any(rest):
        return None
    text = next(one for one in rest if one)
    if _PANIC.match(text):
        return _event(number, "", "", "Linux kernel panic", _PANIC.sub("", text).strip(), None, None)
    day, clock = "", ""
    if _DATE.match(rest[0]) or (_NO_DATE.match(rest[0]) and len(rest) > 1):
        day, clock, rest = rest[0], rest[1] if len(rest) > 1 else "", rest[2:]
    rest = [one for one in rest if one] if _OEM.match(next((one for one in rest if one), "")) else rest
    if not rest or not any(rest):
        return None
    if _OEM.match(rest[0]):
        return _event(number, day, clock, rest[0], " ".join(rest[1:]), None, None)
    if not day:
        return None
    at = next((n for n, one in enumerate(rest) if n > 0 and _DIRECTION.match(one)), None)
    if at is None:
        return _event(number, day, clock, rest[0], _joined(rest[1:]), None, None)
    detail = _joined([one for one in rest[at + 1 :] if one]) or None
    return _event(number, day, clock, rest[0], _joined(rest[1:at]), rest[at], detail)


def _joined(cells: list[str]) -> str:
    return " | ".join(one for one in cells if one)


def _of_block(lines: list[str]) -> list[SelEvent]:
    """An entry as ``sel list -v`` and ``sel get`` tell it."""
    start = _BLOCK_START.match(lines[0]) if lines else None
    if start is None:
        return []
    pairs: dict[str, str] = {}
    for line in lines[1:]:
        pair = _PAIR.match(line)
        if pair:
            pairs.setdefault(" ".join(pair.group("key").lower().split()), pair.group("value"))
    day, _, clock = pairs.get("timestamp", "").partition(" ")
    kind, number = pairs.get("sensor type", ""), pairs.get("sensor number", "")
    sensor = f"{kind} #0x{number}" if kind and number else kind
    detail = " ".join(
        f"{label} {pairs[key]}"
        for key, label in (("trigger reading", "Reading"), ("trigger threshold", "Threshold"))
        if pairs.get(key)
    )
    event = pairs.get("description") or pairs.get("event type", "")
    return [_event(int(start.group("id"), 16), day, clock, sensor, event, pairs.get("event direction"), detail or None)]


def _event(
    number: int, day: str, clock: str, sensor: str, event: str, direction: str | None, detail: str | None
) -> SelEvent:
    word = (direction or "").lower()
    side = "deasserted" if word.startswith("deassert") else "asserted" if word.startswith("assert") else None
    kind = sensor_type_of(sensor)
    power = is_power(kind, sensor, event)
    record = SelEvent(
        number,
        bmc_time(f"{day} {clock}") if day else None,
        sensor,
        kind,
        event,
        side,
        detail,
        power,
        power and is_fault(kind, event, side),
    )
    when = f"logged {clock or 'at a time'} s after the BMC started, before it knew the time" if day else "not printed"
    if day and _DATE.match(day):
        when = f"not understood, or the BMC's clock was not set: {day} {clock}"
    reasons = {
        "time": when,
        "sensor_type": "no known type of sensor",
        "direction": "not printed",
        "detail": "none",
    }
    return with_reasons(record, reasons)


def _info(lines: list[str]) -> SelInfo:
    pairs: dict[str, str] = {}
    for line in lines:
        pair = _PAIR.match(line)
        if pair:
            pairs.setdefault(" ".join(pair.group("key").lower().split()), pair.group("value"))
    overflow = pairs.get("overflow", "").lower()
    record = SelInfo(
        entries=_first_number(pairs.get("entries", "")),
        free_bytes=_first_number(pairs.get("free space", "")),
        percent_used=_first_number(pairs.get("percent used", "")),
        overflow={"true": True, "false": False}.get(overflow),
        last_add_time=bmc_time(pairs.get("last add time", "")),
    )
    return with_reasons(record, {key.replace(" ", "_"): f"printed as {said}" for key, said in pairs.items()})


def _first_number(text: str) -> int | None:
    match = re.match(r"\d{1,9}", text)
    return int(match.group(0)) if match else None


def _full(info: SelInfo) -> list[Finding]:
    full = info.overflow or (info.percent_used or 0) >= _FULL_PERCENT or info.free_bytes == 0
    if not full:
        return []
    message = "the BMC's event log is full{}: it may not hold the newest events".format(
        "" if info.entries is None else f" with {info.entries} entries"
    )
    evidence = {"entries": info.entries, "percent_used": info.percent_used, "overflow": info.overflow}
    return [finding("bmc.sel_full", "bmc:sel", message, evidence)]
