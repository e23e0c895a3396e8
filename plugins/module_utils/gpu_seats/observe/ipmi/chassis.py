"""``ipmitool chassis status``, ``chassis power status`` and ``chassis restart_cause``."""

from __future__ import annotations

import re
from typing import Any

from ...findings import Finding, finding
from ..records import Parsed, unrecognised, with_reasons
from .errors import take_errors
from .records import ChassisStatus

_PAIR = re.compile(r"^\s*(?P<key>[A-Z][A-Za-z /-]*?)\s*:\s*(?P<value>.*?)\s*$")
_POWER_IS = re.compile(r"^\s*Chassis Power is (?P<state>on|off)\b", re.IGNORECASE)
_FLAGS = {
    "power overload": "power_overload",
    "power interlock": "power_interlock",
    "main power fault": "main_power_fault",
    "power control fault": "power_control_fault",
    "chassis intrusion": "chassis_intrusion",
    "drive fault": "drive_fault",
    "cooling/fan fault": "cooling_fault",
}
_WORDS = {"true": True, "active": True, "yes": True, "false": False, "inactive": False, "no": False}
_TEXTS = {
    "system power": "system_power",
    "power restore policy": "power_restore_policy",
    "system restart cause": "restart_cause",
}
_FAULTS = {
    "power_overload": "it is overloaded",
    "main_power_fault": "main power fault",
    "power_control_fault": "power control fault",
    "power_interlock": "the power interlock is active",
}
_BAD_EVENTS = {
    "overload": "an overload",
    "fault": "a power fault",
    "interlock": "the power interlock",
    "ac-failed": "a loss of input power",
}
_EVENT_WORD = re.compile(r"ac-failed|overload|interlock|fault|command|unknown|none|previous")


def parse_chassis(text: str, rc: int | None = None, command: str | None = None) -> Parsed:
    """The status as one record; faults of now and the kind of the last power loss as findings."""
    del command
    errors = take_errors(text)
    printed, state = _printed(errors.rest)
    if not state and not any(key in _FLAGS or key in _TEXTS for key in printed):
        found = errors.found(answered=False)
        if not found and text.strip():
            found = [unrecognised("ipmitool-chassis", text, rc)]
        elif not found:
            message = "the BMC gave no answer: ipmitool printed nothing" + ("" if rc is None else f" (rc {rc})")
            found = [finding("bmc.busy", "bmc:chassis", message, {"rc": rc})]
        return Parsed(findings=found)
    record = _status(printed, state)
    return Parsed([record], [*_findings(record), *errors.found(answered=True)])


def _printed(lines: list[str]) -> tuple[dict[str, str], str]:
    """Values by lower-case key, the first kept; and the word of ``chassis power status``."""
    printed: dict[str, str] = {}
    state = ""
    for line in lines:
        power, pair = _POWER_IS.match(line), _PAIR.match(line)
        if power:
            state = state or power.group("state").lower()
        elif pair:
            printed.setdefault(" ".join(pair.group("key").lower().split()), pair.group("value"))
    return printed, state


def _status(printed: dict[str, str], state: str) -> ChassisStatus:
    values: dict[str, Any] = {"system_power": state or None}
    reasons: dict[str, str] = {}
    other = {}
    for key, said in printed.items():
        if key in _FLAGS:
            values[_FLAGS[key]] = _WORDS.get(said.lower())
            reasons[_FLAGS[key]] = f"not understood: {said}" if said else "printed without a value"
        elif key in _TEXTS:
            values[_TEXTS[key]] = said.lower() if said and said.lower() != "unknown" else values.get(_TEXTS[key])
            reasons[_TEXTS[key]] = f"printed as {said}" if said else "printed without a value"
        elif key == "last power event":
            values["last_power_event"] = _EVENT_WORD.findall(said.lower())
        else:
            other[key] = said
    return with_reasons(ChassisStatus(**values, other=other), reasons)


def _findings(record: ChassisStatus) -> list[Finding]:
    faults = [what for name, what in _FAULTS.items() if getattr(record, name) is True]
    found = []
    if faults:
        message = "the BMC reports a power fault of the chassis: {}".format(", ".join(faults))
        evidence = {"faults": faults, "last_power_event": record.last_power_event}
        found.append(finding("bmc.power_fault", "bmc:chassis", message, evidence))
    bad = [word for word in record.last_power_event if word in _BAD_EVENTS]
    if bad:
        message = "the last loss of power was {}".format(" and ".join(_BAD_EVENTS[word] for word in bad))
        evidence = {"last_power_event": record.last_power_event}
        severity = "info" if bad == ["ac-failed"] else ""
        found.append(finding("bmc.last_power_event", "bmc:chassis", message, evidence, severity=severity))
    return found
