"""``ipmitool dcmi power reading`` and ``dcmi power get_limit`` in the layouts of its releases.

The exit code says nothing: some builds end with 0 after "DCMI request failed". Only a number of watts above zero, with
the measurement not switched off, is a reading.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ...findings import Finding, finding
from ..records import Parsed, unrecognised, with_reasons
from .clock import bmc_time
from .errors import take_errors
from .records import BmcPowerLimit, BmcPowerReading

_PAIR = re.compile(r"^\s*(?P<key>[^:]+?)\s*:\s*(?P<value>.*?)\s*$")
_TWO_ON_ONE_LINE = re.compile(r"\s{2,}(?=Sampling period\s*:)")
"""ipmitool 1.8.19 ends the time stamp without a line end."""
_WATTS = re.compile(r"^(?P<number>\d{1,12}(?:\.\d{1,6})?)\s*(?:W|Watts?)\b", re.IGNORECASE)
_NUMBER = re.compile(r"^(?P<number>\d{1,12}(?:\.\d{1,6})?)\s*(?P<unit>[A-Za-z]*)")
_FIELDS = {
    "instantaneous power reading": "watts",
    "current power": "watts",
    "minimum during sampling period": "minimum_watts",
    "min power over sample duration": "minimum_watts",
    "minimum power over sampling duration": "minimum_watts",
    "maximum during sampling period": "maximum_watts",
    "max power over sample duration": "maximum_watts",
    "maximum power over sampling duration": "maximum_watts",
    "average power reading over sample period": "average_watts",
    "avg power over sample duration": "average_watts",
    "average power over sampling duration": "average_watts",
    "ipmi timestamp": "timestamp",
    "timestamp": "timestamp",
    "time stamp": "timestamp",
    "sampling period": "sampling_s",
    "statistics reporting time period": "sampling_s",
    "power reading state is": "state",
    "power measurement": "state",
}
_OTHER_TOOLS = ("current power", "power measurement", "avg power over sample duration")
"""Keys that ipmi-dcmi of FreeIPMI and ipmiutil print."""
_WATT_FIELDS = ("watts", "minimum_watts", "maximum_watts", "average_watts")
_SECONDS = {"": 1.0, "s": 1.0, "sec": 1.0, "second": 1.0, "ms": 0.001, "msec": 0.001, "millisecond": 0.001}
_SECONDS.update({"min": 60.0, "minute": 60.0, "h": 3600.0, "hour": 3600.0, "day": 86400.0})
_TOP_WATTS = 65535.0
"""Two bytes hold the reading; all bits set is what a BMC gives for no value."""
_STATES = {"activated": "activated", "active": "activated", "deactivated": "deactivated"}
_STATES.update({"not active": "deactivated", "inactive": "deactivated", "not available": "deactivated"})


def parse_dcmi(text: str, rc: int | None = None, command: str | None = None) -> Parsed:
    """A power reading (always a record, its watts None with the reason where there is none) or the BMC's own limit."""
    del command
    errors = take_errors(text)
    printed = _printed(errors.rest)
    limit = _limit(errors.rest)
    if limit is not None and "watts" not in printed:
        return Parsed([limit], errors.found(answered=True))
    answered = "watts" in printed or "state" in printed
    found = errors.found(answered)
    if not answered and not found:
        found = [_silent(text, rc)]
        if found[0].code == "parse.unrecognised":
            return Parsed(findings=found)
    if "watts" not in printed and "state" not in printed:
        reading = with_reasons(BmcPowerReading("dcmi"), {"watts": found[0].message}, "no answer")
        return Parsed([reading], found)
    reading, said = _reading(printed)
    if "other" in printed:
        message = "another tool printed this; it was read as far as it goes"
        said.append(finding("parse.other_tool", "tool:ipmitool-dcmi", message, {"key": printed["other"]}))
    return Parsed([reading], [*said, *found])


def _printed(lines: list[str]) -> dict[str, str]:
    """The values of known keys, the first of each kept."""
    printed: dict[str, str] = {}
    for line in lines:
        for piece in _TWO_ON_ONE_LINE.split(line):
            match = _PAIR.match(piece)
            key = " ".join(match.group("key").lower().split()) if match else ""
            if match is None or key not in _FIELDS:
                continue
            printed.setdefault(_FIELDS[key], match.group("value"))
            if key in _OTHER_TOOLS:
                printed.setdefault("other", key)
    return printed


def _silent(text: str, rc: int | None) -> Finding:
    """The finding for an output that is neither a reading nor an error."""
    if text.strip():
        return unrecognised("ipmitool-dcmi", text, rc)
    ending = "" if rc is None else f" (rc {rc})"
    return finding("bmc.busy", "bmc:power", f"the BMC gave no answer: ipmitool printed nothing{ending}", {"rc": rc})


def _reading(printed: dict[str, str]) -> tuple[BmcPowerReading, list[Finding]]:
    reasons: dict[str, str] = {}
    values = {name: _watts(printed.get(name), name, reasons) for name in _WATT_FIELDS}
    shown = _WATTS.match(printed.get("watts", ""))
    reading = BmcPowerReading(
        "dcmi",
        values["watts"],
        values["minimum_watts"],
        values["maximum_watts"],
        values["average_watts"],
        sampling_s=_sampling_s(printed.get("sampling_s", "")),
        timestamp=bmc_time(printed.get("timestamp", "")),
        state=_STATES.get(printed.get("state", "").lower().rstrip(".")),
        measures="the whole machine, as the BMC measures it",
        printed_watts=float(shown.group("number")) if shown else None,
    )
    for name in ("sampling_s", "timestamp", "state"):
        if name in printed:
            reasons[name] = f"not understood: {printed[name]}"
    if "timestamp" in printed and "1970" in printed["timestamp"]:
        reasons["timestamp"] = f"the BMC's clock is not set: {printed['timestamp']}"
    reasons["reads"] = "DCMI does not say whether it counts before or after the power supplies"
    said = _doubts(reading, reasons, printed)
    if reading.state == "deactivated":
        reading = replace(reading, watts=None, minimum_watts=None, maximum_watts=None, average_watts=None)
        reasons.update(dict.fromkeys(_WATT_FIELDS, reasons["watts"]))
    return with_reasons(reading, reasons), said


def _doubts(reading: BmcPowerReading, reasons: dict[str, str], printed: dict[str, str]) -> list[Finding]:
    """Findings for a number that is no measurement; they set the reason of watts."""
    said = printed.get("watts", "no value")
    evidence = {"printed": said, "state": printed.get("state")}
    if reading.state == "deactivated":
        reasons["watts"] = f"the BMC's power measurement is deactivated (it prints {said})"
        return [finding("bmc.power_deactivated", "bmc:power", reasons["watts"], evidence)]
    if reading.watts is not None or "watts" not in printed:
        return []
    if reading.printed_watts == 0:
        reasons["watts"] = "the BMC prints 0 W, which no running machine draws"
        return [finding("bmc.reading_zero", "bmc:power", reasons["watts"], evidence)]
    message = f"the BMC's power reading is no value: {said}"
    reasons["watts"] = message
    return [finding("bmc.reading_implausible", "bmc:power", message, evidence)]


def _watts(text: str | None, name: str, reasons: dict[str, str]) -> float | None:
    """Watts; None puts the reason of `name` in `reasons`: 0 W is none, nor is the highest number that fits."""
    match = _WATTS.match(text) if text else None
    if match is None:
        reasons[name] = f"not understood: {text}" if text else "printed without a value"
        if text is None:
            reasons[name] = "not in this output"
        return None
    value = float(match.group("number"))
    if value == 0:
        reasons[name] = "printed as 0 W"
    elif value >= _TOP_WATTS:
        reasons[name] = f"printed as {match.group('number')} W, the highest number that its field holds"
    return None if name in reasons else value


def _sampling_s(text: str) -> float | None:
    """``00123893 Seconds.``, ``00010000 Milliseconds``, ``1000 ms``, ``5 seconds``."""
    match = _NUMBER.match(text)
    if match is None:
        return None
    unit = match.group("unit").lower()
    factor = _SECONDS.get(unit, _SECONDS.get(unit[:-1] if unit.endswith("s") else unit))
    return None if factor is None else float(match.group("number")) * factor


def _limit(lines: list[str]) -> BmcPowerLimit | None:
    """The BMC's own limit, where this is the output of ``get_limit``."""
    pairs = {}
    for line in lines:
        match = _PAIR.match(line)
        if match:
            pairs[" ".join(match.group("key").lower().split())] = match.group("value")
    if "current limit state" not in pairs and not ("power limit" in pairs and "correction time" in pairs):
        return None
    state = pairs.get("current limit state", "").lower()
    watts = _WATTS.match(pairs.get("power limit", ""))
    correction = _sampling_s(pairs.get("correction time", ""))
    limit = BmcPowerLimit(
        active=None if not state else "no active" not in state,
        limit_watts=float(watts.group("number")) if watts else None,
        action=pairs.get("exception actions"),
        correction_ms=None if correction is None else correction * 1000,
        sampling_s=_sampling_s(pairs.get("sampling period", "")),
    )
    return with_reasons(limit, {})
