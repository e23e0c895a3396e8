"""Sensor lists of ipmitool: ``sensor``, ``sdr``, ``sdr elist``, ``sdr type``, ``sensor get``, with ``-c`` or ``-v``."""

from __future__ import annotations

import re
from dataclasses import replace

from ...findings import Finding, finding
from ..records import Parsed, unrecognised, with_reasons
from .errors import take_errors
from .records import BmcPowerReading, BmcSensor
from .watt_sensors import role_of, saturated, system_reading

_NUMBER = re.compile(
    r"^(?P<number>[-+]?\d+(?:[.,]\d+)?(?:e[-+]?\d+)?)(?:\s*\(\+/-[^)]*\))?(?:\s+(?P<unit>\S.*))?$", re.I
)
_HEX = re.compile(r"^0x[0-9a-f]+$|^[0-9a-f]{1,4}h$", re.IGNORECASE)
_SENSOR_NUMBER = re.compile(r"^[0-9A-Fa-f]{2}h$")
_ENTITY = re.compile(r"^\d{1,3}\.\d{1,3}$")
_STATUS = re.compile(r"^(?:ok|nc|cr|nr|ns|na|us|lnr|lcr|lnc|unc|ucr|unr|0x[0-9a-f]{4})$", re.IGNORECASE)
_NO_VALUE = re.compile(
    r"^(?:na|n/a|ns|no reading|disabled|not readable|not available|not present|unavailable|unknown|error|event-only|"
    r"unable to read.*|scanning disabled|-+|)$",
    re.IGNORECASE,
)
_THRESHOLDS = ("lnr", "lcr", "lnc", "unc", "ucr", "unr")
_UNITS = r"(?:watts?|volts?|amps?|rpm|degrees [cfk]|percent|joules?|cfm|hz|unspecified|discrete|w|v|a)"
_UNIT = re.compile(rf"^{_UNITS}(?:\s.*)?$", re.IGNORECASE)
_IN_WATTS = re.compile(r"^(?:w|watts?)\b(?!\s*(?:/|per\b|\*))", re.IGNORECASE)
_LIKE_POWER = re.compile(
    r"\b(?:power|pwr|watts?|pin\d*|pout\d*|p ?in|p ?out|consumption|input|output)\b", re.IGNORECASE
)
_NOT_POWER = re.compile(
    r"status|stat|redund|temp|fan|volt|curr|fail|fault|lost|present|detect|inlet|outlet|good|error|supply \d* ?status"
    r"|unit|button|over|under|intr|vin|vout|iin|iout|\bamps?\b|%",
    re.IGNORECASE,
)
_VERBOSE_NAME = re.compile(r"^\s*Sensor ID\s*:\s*(?P<name>.*?)\s*\(0x(?P<number>[0-9a-f]+)\)\s*$", re.IGNORECASE)
_VERBOSE_PAIR = re.compile(r"^\s*(?P<key>[A-Za-z][A-Za-z /()-]*?)\s*:\s*(?P<value>.*?)\s*$")
_VERBOSE_LIMITS = {
    "lower non-recoverable": "lnr",
    "lower critical": "lcr",
    "lower non-critical": "lnc",
    "upper non-critical": "unc",
    "upper critical": "ucr",
    "upper non-recoverable": "unr",
}
_NOT_FOUND = re.compile(r'Sensor data record "(?P<name>[^"]*)" not found', re.IGNORECASE)
_RULE = re.compile(r"^[\s|+=-]+$")


def parse_sensors(text: str, rc: int | None = None, command: str | None = None, named: str | None = None) -> Parsed:
    """A reading of the whole machine (its watts None with the reason where there is none) and every sensor.

    named: the sensor that counts the whole machine, where an operator knows it.
    """
    del command
    errors = take_errors(text)
    sensors, odd = _rows(errors.rest)
    if not sensors:
        found = errors.found(answered=False) or [_silent(text, rc)]
        if found[0].code == "parse.unrecognised":
            return Parsed(findings=found)
        return Parsed([with_reasons(BmcPowerReading("sensor"), {"watts": found[0].message}, "no answer")], found)
    reading, said = system_reading(sensors, named)
    parsed = Parsed([reading, *sensors], [*said, *_saturated_findings(sensors), *errors.found(answered=True)])
    if odd:
        message = f"{len(odd)} lines are no sensor of a known layout, the first: {odd[0][:100]!r}"
        parsed.findings.append(finding("parse.row_malformed", "tool:ipmitool-sensor", message, {"rows": odd[:5]}))
    return parsed


def _silent(text: str, rc: int | None) -> Finding:
    missing = _NOT_FOUND.search(text)
    if missing:
        message = f"the BMC has no sensor {missing.group('name')}"
        return finding("bmc.no_power_sensor", "bmc:sensors", message, {"text": missing.group(0)})
    if text.strip():
        return unrecognised("ipmitool-sensor", text, rc)
    ending = "" if rc is None else f" (rc {rc})"
    return finding("bmc.busy", "bmc:sensors", f"the BMC listed no sensor: ipmitool printed nothing{ending}", {"rc": rc})


def _rows(lines: list[str]) -> tuple[list[BmcSensor], list[str]]:
    """The sensors of all layouts in order, and lines that look like rows and are none."""
    sensors: list[BmcSensor] = []
    odd: list[str] = []
    block: list[str] = []
    for line in [*lines, ""]:
        starts = _VERBOSE_NAME.match(line)
        if starts and block:
            sensors.extend(_of_block(block))
            block = []
        if starts or block:
            block.append(line)
            continue
        if not line.strip() or _RULE.match(line):
            continue
        row = _of_row(line)
        if row is not None:
            sensors.append(row)
        elif "|" in line:
            odd.append(line.strip())
    sensors.extend(_of_block(block))
    return sensors, odd


def _of_row(line: str) -> BmcSensor | None:
    if "|" in line:
        cells = [one.strip() for one in line.split("|")]
        if cells and not cells[0] and len(cells) > 3:
            cells = cells[1:]
        return _of_cells(cells)
    cells = [one.strip() for one in line.split(",")]
    return _of_csv(cells) if len(cells) > 2 else None


def _of_cells(cells: list[str]) -> BmcSensor | None:
    """One row of a table; the layout is told by what stands in its columns."""
    name = cells[0]
    if not name or len(cells) < 2:
        return None
    if len(cells) >= 4 and _SENSOR_NUMBER.match(cells[1]) and _STATUS.match(cells[2]):
        entity = cells[3] if _ENTITY.match(cells[3].replace(" ", "")) else None
        reading = " | ".join(one for one in cells[4:] if one)
        return _sensor(name, reading, None, cells[2], number=int(cells[1][:-1], 16), entity=entity)
    if len(cells) >= 4 and (_STATUS.match(cells[3]) or not cells[3]) and not _STATUS.match(cells[2]):
        return _sensor(name, cells[1], cells[2], cells[3], cells[4:10])
    if len(cells) in (3, 4) and _STATUS.match(cells[2]):
        return _sensor(name, cells[1], None, cells[2])
    if len(cells) == 2 and (_NUMBER.match(cells[1]) or _NO_VALUE.match(cells[1])):
        return _sensor(name, cells[1], None, None)
    return None


def _of_csv(cells: list[str]) -> BmcSensor | None:
    """``-c``: name,value,unit,status[,thresholds or entity]; a discrete sensor has no unit column."""
    name = cells[0]
    if not name or '"' in name or name.startswith(("{", "<")):
        return None
    if len(cells) >= 4 and _STATUS.match(cells[3]) and (_UNIT.match(cells[2]) or not cells[2]):
        entity = next((one for one in cells[4:6] if _ENTITY.match(one)), None) if len(cells) < 10 else None
        return _sensor(name, cells[1], cells[2], cells[3], [] if entity else cells[4:10], entity=entity)
    if len(cells) >= 3 and _STATUS.match(cells[2]) and (_HEX.match(cells[1]) or not cells[1]):
        entity = cells[3] if len(cells) > 3 and _ENTITY.match(cells[3]) else None
        return _sensor(name, cells[4] if len(cells) > 4 and cells[4] else cells[1], None, cells[2], entity=entity)
    return None


def _of_block(lines: list[str]) -> list[BmcSensor]:
    """A sensor as ``-v`` and ``sensor get`` tell it."""
    head = _VERBOSE_NAME.match(lines[0]) if lines else None
    if head is None:
        return []
    pairs: dict[str, str] = {}
    states: list[str] = []
    for line in lines[1:]:
        pair = _VERBOSE_PAIR.match(line)
        if pair:
            pairs.setdefault(pair.group("key").lower(), pair.group("value"))
        elif line.strip().startswith("["):
            states.append(line.strip().strip("[]"))
    limits = [pairs.get(key, "na") for key in _VERBOSE_LIMITS]
    entity = pairs.get("entity id", "").split(" ")[0]
    reading = pairs.get("sensor reading") or "; ".join(states)
    sensor = _sensor(
        head.group("name"),
        reading,
        None,
        pairs.get("status"),
        limits,
        number=int(head.group("number"), 16),
        entity=entity if _ENTITY.match(entity) else None,
    )
    return [sensor]


def _sensor(
    name: str,
    printed: str,
    unit: str | None,
    status: str | None,
    limits: list[str] | None = None,
    number: int | None = None,
    entity: str | None = None,
) -> BmcSensor:
    """A sensor from its printed parts. unit None: it stands behind the value."""
    value, state, reason = None, None, ""
    match = _NUMBER.match(printed)
    if match and not _HEX.match(printed):
        value = float(match.group("number").replace(",", "."))
        unit = unit or match.group("unit")
    elif _NO_VALUE.match(printed):
        reason = f"printed as {printed}" if printed else "printed without a value"
    else:
        state = printed
    unit = unit or None
    sensor = BmcSensor(name, value, unit, None, state, status or None, number, entity, None, _thresholds(limits or []))
    if _is_power(sensor):
        sensor = _in_watts(sensor, reason)
    reasons = {
        "value": reason or ("it is a state, not a number" if state else "no value"),
        "unit": "not printed without a value" if value is None else "not printed in this layout",
        "watts": sensor.unknown.get("watts") or reason or "its unit is not watts",
        "state": "it gives a number" if value is not None else reason or "no state",
        "role": "it does not count watts",
    }
    return with_reasons(replace(sensor, unknown={}), reasons)


def _is_power(sensor: BmcSensor) -> bool:
    """Whether a sensor counts watts. Without a value ``sdr`` prints no unit either: then its name must tell."""
    if sensor.unit is not None:
        return _IN_WATTS.match(sensor.unit) is not None
    no_value = sensor.value is None and sensor.state is None
    words = sensor.name.replace("_", " ")
    return no_value and _LIKE_POWER.search(words) is not None and _NOT_POWER.search(words) is None


def _in_watts(sensor: BmcSensor, reason: str) -> BmcSensor:
    role = role_of(sensor.name)
    if sensor.state is not None:
        return replace(sensor, role=role, unknown={"watts": f"a raw value: {sensor.state}"})
    if sensor.value is None:
        return replace(sensor, role=role, unknown={"watts": reason or "no value"})
    if sensor.value < 0:
        return replace(sensor, role=role, unknown={"watts": f"printed as {sensor.value:g} W, below zero"})
    if saturated(role, sensor.value):
        why = f"printed as {sensor.value:g} W, the highest number that its byte holds"
        return replace(sensor, role=role, unknown={"watts": why})
    return replace(sensor, role=role, watts=sensor.value)


def _saturated_findings(sensors: list[BmcSensor]) -> list[Finding]:
    return [
        finding("bmc.reading_implausible", f"bmc:{one.name}", one.unknown["watts"], {"value": one.value})
        for one in sensors
        if one.role is not None and one.watts is None and one.value is not None
    ]


def _thresholds(limits: list[str]) -> dict[str, float]:
    """The limits that are set, by their short names."""
    found = {}
    for name, printed in zip(_THRESHOLDS, limits):
        match = _NUMBER.match(printed)
        if match and not _HEX.match(printed):
            found[name] = float(match.group("number").replace(",", "."))
    return found
