"""Which sensors in watts tell the power of the whole machine. Vendors name them freely; a wrong sum is worse than
none.

Order: a sensor of the whole machine, else the sum of the supplies' inputs, else of supplies whose side is not told,
else of their outputs (then the supplies' own loss is missing).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...findings import Finding, finding
from ..records import with_reasons
from .records import BmcPowerReading, BmcSensor

SYSTEM, PSU_INPUT, PSU_OUTPUT, PSU, COMPONENT, OTHER = (
    "system",
    "psu_input",
    "psu_output",
    "psu",
    "component",
    "other",
)
_SATURATED_WATTS = 2550.0
"""A supply's sensor counts in steps of 10 W or so; with all bits set it reads 255 steps, which is no value."""

_NOT_A_DRAW = re.compile(
    r"\b(?:limit|lmt|cap|capacity|capping|budget|rated|rating|headroom|thresh\w*|peak|max\w*|min\w*|avg\w*|average|allowed"
    r"|available|policy|reserve\w*|saving|accum\w*)\b"
)
_SUPPLY = re.compile(
    r"^(?:pwr )?(?:ps|psu|pmb(?:us)?(?: ?power)?|pws|pwrsupply|power supply|pwr supply|pdu)(?: ?\d+| ?[a-d])?\b"
    r"|\b(?:psu|ps) ?\d+\b|^(?:input |output )?power ?\d+$|^input power \d+$"
)
_ALL_SUPPLIES = re.compile(r"\btotal (?:of )?(?:psus?|power supplies)\b|\b(?:psus?|power supply) total\b|\ball psus?\b")
_INPUT = re.compile(r"\b(?:in|input|pin|inp|ac|ac in|power in|vac)\b|\bp ?in\d*\b|\bpin\d*\b")
_OUTPUT = re.compile(r"\b(?:out|output|pout|dc|outp)\b|\bp ?out\d*\b|\bpout\d*\b")
_COMPONENT = re.compile(
    r"\b(?:cpu|proc|processor|p|soc|dimm|mem|memory|ddr|gpu|gfx|oam|accel\w*|hdd|ssd|nvme|disk|drive|storage|raid|hba|bp"
    r"|backplane|pcie|pci|riser|slot|mezz|ocp|nic|lan|fan|fans|cooling|pump|vr|vrm|vddq?|vcore|sw|switch|nvswitch|fpga"
    r"|dpu|bmc|pch|io|iobd|hsc|efuse|rail|12v|54v|48v|3v3|5v|p\dv\w*|module|node|blade|port|expander|mb|mainboard|misc"
    r"|ina\d+)\s?\w?\d*\b"
)
_SYSTEM = (
    re.compile(r"\b(?:system|sys|chassis|server|host|platform|machine) total(?: input)? (?:power|pwr)\b"),
    re.compile(r"\b(?:total|tot)(?: input| ac| system| sys)? ?(?:power|pwr|pw|watts?|consumption)\b"),
    _ALL_SUPPLIES,
    re.compile(r"\b(?:power|pwr|pw) ?(?:consumption|cons|consump|usage|draw|meter|reading)\b"),
    re.compile(r"\bsystem level\b"),
    re.compile(
        r"\b(?:system|sys|chassis|server|host|platform|machine)(?: board)?(?: input| ac)? (?:power|pwr|pw|watts?)\b"
    ),
    re.compile(r"\b(?:power|pwr) (?:system|sys|total|chassis|server)\b"),
    re.compile(r"^(?:ac |input |ac input |node )?(?:power|pwr|watts?|(?:power|pwr) in(?:put)?|pin)$"),
    re.compile(r"^(?:total|system|sys) (?:pin|output (?:power|pwr)|wattage)$"),
    re.compile(r"^(?:cur|current|instant|instantaneous|present) (?:power|pwr|watts?)$"),
    re.compile(r"^(?:sys )?vps$"),
)
"""Names for the whole machine, the surest first; matched against the name in plain words."""


def role_of(name: str) -> str:
    """What a sensor in watts counts, by its name.

    >>> [role_of(n) for n in ("Pwr Consumption", "PSU1_PIN", "PSU2 POUT", "Total_Power", "CPU_Power")]
    ['system', 'psu_input', 'psu_output', 'system', 'component']
    """
    words = plain_words(name)
    if _NOT_A_DRAW.search(words):
        return OTHER
    if _SUPPLY.search(words) and not _ALL_SUPPLIES.search(words):
        side_in, side_out = _INPUT.search(words), _OUTPUT.search(words)
        return PSU_OUTPUT if side_out else PSU_INPUT if side_in else PSU
    if _system_rank(words) is not None:
        return SYSTEM
    return COMPONENT if _COMPONENT.search(words) else OTHER


def plain_words(name: str) -> str:
    """``SystemTotalPower``, ``PSU1_Power-In`` -> ``system total power``, ``psu1 power in``."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=\d)(?=[A-Z][a-z])|[_\-./()]+", " ", name)
    return " ".join(spaced.lower().split())


def _system_rank(words: str) -> int | None:
    """How sure a name means the whole machine: 0 the surest. A part's own total (``cpu total power``) does not."""
    for rank, pattern in enumerate(_SYSTEM):
        match = pattern.search(words)
        if match:
            around = words[: match.start()] + " " + words[match.end() :]
            return None if _COMPONENT.search(around) else rank
    return None


@dataclass(frozen=True)
class _Choice:
    """The sensors that make up the reading."""

    sensors: list[BmcSensor] = field(default_factory=list)
    measures: str = ""
    reads: str | None = None


def system_reading(sensors: Sequence[BmcSensor], named: str | None = None) -> tuple[BmcPowerReading, list[Finding]]:
    """The watts of the whole machine by its sensors. named: the sensor that is the total, as an operator knows it."""
    in_watts = [one for one in sensors if one.role is not None]
    unread = [one for one in in_watts if one.watts is None]
    silent = [one for one in unread if one.value is None]
    findings = [_unread(silent)] if silent else []
    choice = _named(in_watts, named) if named else _best(in_watts)
    total = sum(one.watts or 0.0 for one in choice.sensors)
    if not choice.sensors or total <= 0:
        reason, problem = _nothing(in_watts, choice, named)
        return with_reasons(BmcPowerReading("sensor"), {"watts": reason}, "no reading"), [*findings, problem]
    names = [one.name for one in choice.sensors]
    missing = [one.name for one in unread if choice.sensors[0].role == one.role and one.role != SYSTEM]
    measures = choice.measures + (f"; {', '.join(missing)} gives no value and is not in it" if missing else "")
    reading = BmcPowerReading(
        "sensor", watts=total, reads=choice.reads, measures=measures, printed_watts=total, sensors=names
    )
    if missing and silent:
        findings = [_unread(silent, "warning")]
    reasons = {"reads": "the sensor's name does not say whether it counts before or after the power supplies"}
    return with_reasons(reading, reasons, "sensors do not tell it"), findings


def _named(in_watts: Sequence[BmcSensor], name: str) -> _Choice:
    wanted = [one for one in in_watts if one.name.lower() == name.lower() and one.watts is not None]
    return _Choice(wanted[:1], f"the sensor {name}, named as the whole machine")


def _best(in_watts: Sequence[BmcSensor]) -> _Choice:
    system = [one for one in in_watts if one.role == SYSTEM and one.watts]
    if system:
        chosen = min(system, key=_system_order)
        return _Choice([chosen], f"the whole machine, by its sensor {chosen.name}", _side_of_system(chosen.name))
    for role, what, reads in (
        (PSU_INPUT, "the inputs of the power supplies", "ac"),
        (PSU, "the power supplies (their names do not tell the side)", None),
        (PSU_OUTPUT, "the outputs of the power supplies, without their own loss", "dc"),
    ):
        supplies = [one for one in in_watts if one.role == role and one.watts is not None]
        if sum(one.watts or 0.0 for one in supplies) > 0:
            names = " + ".join(one.name for one in supplies)
            return _Choice(supplies, f"the sum of {what}: {names}", reads)
    return _Choice()


def _system_order(sensor: BmcSensor) -> tuple[int, bool]:
    """The surest name first, an output after the others."""
    words = plain_words(sensor.name)
    return _system_rank(words) or 0, _side_of_system(sensor.name) == "dc"


def _side_of_system(name: str) -> str | None:
    """The side of the supplies that a whole machine's sensor names; "input" alone may be that of the board."""
    words = plain_words(name)
    if _OUTPUT.search(words):
        return "dc"
    return "ac" if re.search(r"\bac\b", words) else None


def _nothing(in_watts: Sequence[BmcSensor], choice: _Choice, named: str | None) -> tuple[str, Finding]:
    """Why there is no reading, and the finding for it."""
    shown = {one.name: one.watts for one in in_watts}
    if named and not choice.sensors:
        reason = f"no sensor in watts is named {named} and has a value; there are: {', '.join(shown) or 'none'}"
        return reason, finding("bmc.no_power_sensor", "bmc:sensors", reason, {"sensors": shown, "named": named})
    whole = [one for one in in_watts if one.role in (SYSTEM, PSU_INPUT, PSU, PSU_OUTPUT)]
    if any(one.watts == 0 for one in whole):
        reason = "the BMC's power sensors read 0 W, which no running machine draws"
        return reason, finding("bmc.reading_zero", "bmc:sensors", reason, {"sensors": shown})
    if whole:
        reason = f"the BMC's power sensors give no value: {', '.join(one.name for one in whole)}"
    elif in_watts:
        reason = f"no sensor is known to count the whole machine; there are: {', '.join(shown)}"
    else:
        reason = "no sensor has the unit watts"
    return reason, finding("bmc.no_power_sensor", "bmc:sensors", reason, {"sensors": shown})


def _unread(unread: Sequence[BmcSensor], severity: str = "") -> Finding:
    reasons = {one.name: one.unknown.get("watts", "no value") for one in unread}
    message = "no value from {}".format(", ".join(f"{name} ({why})" for name, why in reasons.items()))
    return finding("bmc.sensor_unreadable", "bmc:sensors", message, {"sensors": reasons}, severity=severity)


def saturated(role: str, watts: float) -> bool:
    """Whether a supply's reading is the highest that its byte holds: BMCs print that for a supply they can't ask."""
    return role in (PSU, PSU_INPUT, PSU_OUTPUT) and watts >= _SATURATED_WATTS and watts % 255 == 0
