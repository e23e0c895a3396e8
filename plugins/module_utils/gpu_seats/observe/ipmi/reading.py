"""Asks a BMC for the watts of its machine: DCMI first, its sensors in watts where DCMI has none; then what happened.

One request after the other: BMCs answer few sessions at a time. Every request has a limit and all of them share one, so
that a BMC that hangs costs its time once. No answer is ever 0 W, and nothing here raises for what a BMC does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...findings import Finding, finding
from ..command import CommandResult, command_findings
from ..records import Parsed, unique, with_reasons
from .access import BmcAccess, bmc_access
from .chassis import parse_chassis
from .dcmi import parse_dcmi
from .errors import AUTH, BUSY, FINAL, UNREACHABLE, take_errors
from .records import BmcPowerReading, BmcSensor, ChassisStatus, SelEvent
from .sel import parse_sel
from .sensors import parse_sensors

Run = Callable[..., CommandResult]
"""`observe.command.run`, or a stand-in: (argv, limit_s, environment) -> CommandResult."""
Parser = Callable[["str", "int | None"], Parsed]

_DCMI = ("-v", "dcmi", "power", "reading")
"""-v: only so does ipmitool say why a login failed. It prints no secrets before -vvv."""
_SENSORS = ("sdr", "elist", "full")
_CHASSIS = ("chassis", "status")
_LAST_EVENTS = 50
_DCMI_S, _SENSORS_S, _CHASSIS_S, _EVENTS_S = 20.0, 30.0, 20.0, 20.0
_PAUSE_S = 2.0
_TOTAL_S = 60.0
_SAMPLE_S = 20.0
_AGAIN = (BUSY, "bmc.reading_zero", "bmc.reading_implausible")
"""What a second try may mend: some BMCs have no value at the first."""


@dataclass
class BmcMeter:
    """One BMC, asked again and again. What it does not support is asked once and remembered.

    named: the sensor that counts the whole machine, where an operator knows it. total_s bounds one `read` with all its
    tries. sleep and clock stand in for time's in tests.
    """

    run: Run
    access: BmcAccess
    tries: int = 3
    named: str | None = None
    total_s: float = _TOTAL_S
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    without_dcmi: list[Finding] = field(default_factory=list)
    """Why DCMI is not asked any more; empty while it is."""
    _until: float = 0.0

    def begin(self) -> None:
        """Start the time that the next requests share."""
        self._until = self.clock() + self.total_s

    def power(self) -> Power:
        """The watts of now. Never raises, never 0."""
        self.begin()
        return self._power()

    def _power(self) -> Power:
        wrong = self.access.findings()
        if wrong:
            return _no_power(wrong)
        first = _Answer(_no_reading(self.without_dcmi), self.without_dcmi)
        if not self.named and not self.without_dcmi:
            first = self._dcmi()
            if first.reading.watts is not None or first.is_final:
                return Power(first.reading, first.findings, final=first.is_final)
        second = self._sensors()
        if second.reading.watts is None:
            return Power(_both(first, second), [*first.findings, *second.findings], second.sensors, second.is_final)
        if not self.without_dcmi and first.findings and first.findings[0].code != BUSY:
            self.without_dcmi = list(first.findings)
        return Power(second.reading, [*map(_known, first.findings), *second.findings], second.sensors)

    def _dcmi(self) -> _Answer:
        answer = _Answer(_no_reading([]), [])
        for attempt in range(max(1, self.tries)):
            if attempt and not self._pause():
                break
            parsed = self.ask(_DCMI, _DCMI_S, parse_dcmi)
            answer = _Answer(_reading_of(parsed), parsed.findings)
            if answer.reading.watts is not None or answer.is_final or not answer.may_change:
                break
        return answer

    def _sensors(self) -> _Answer:
        parsed = self.ask(_SENSORS, _SENSORS_S, lambda text, rc: parse_sensors(text, rc, named=self.named))
        return _Answer(_reading_of(parsed), parsed.findings, parsed.of(BmcSensor))

    def chassis(self) -> tuple[ChassisStatus | None, list[Finding]]:
        parsed = self.ask(_CHASSIS, _CHASSIS_S, parse_chassis)
        return next(iter(parsed.of(ChassisStatus)), None), parsed.findings

    def events(self) -> tuple[list[SelEvent], list[Finding]]:
        """The power events among the last entries of the log."""
        parsed = self.ask(("sel", "list", "last", str(_LAST_EVENTS)), _EVENTS_S, parse_sel)
        return [one for one in parsed.of(SelEvent) if one.is_power], parsed.findings

    def ask(self, request: Sequence[str], limit_s: float, parse: Parser) -> Parsed:
        """One request, within its own limit and the time that is left for all."""
        left = self._until - self.clock()
        what = " ".join(one for one in request if not one.startswith("-"))
        if left < 1.0:
            message = f"{what} was not asked: the {self.total_s:.0f} s for this BMC are over"
            return Parsed(findings=[finding(BUSY, "bmc:access", message, {"request": what})])
        result = self.run([*self.access.argv(), *request], min(limit_s, left), self.access.environment())
        if result.timed_out:
            refused = [one for one in take_errors(result.text).session if one.code == AUTH]
            message = f"the BMC gave no answer to {what} within {result.elapsed_s:.0f} s"
            silent = finding(UNREACHABLE, "bmc:access", message, {"request": what})
            return Parsed(findings=refused or [silent])
        if result.missing:
            return Parsed(findings=command_findings(result, "tool:ipmitool"))
        return parse(result.text, result.rc)

    def _pause(self) -> bool:
        """Wait before the next try; False when no time is left for one."""
        if self._until - self.clock() < _PAUSE_S + 1.0:
            return False
        self.sleep(_PAUSE_S)
        return True


@dataclass(frozen=True)
class Power:
    """One reading with what was found on the way. final: no other request to this BMC can succeed now."""

    reading: BmcPowerReading
    findings: list[Finding] = field(default_factory=list)
    sensors: list[BmcSensor] = field(default_factory=list)
    final: bool = False


@dataclass(frozen=True)
class _Answer:
    """What one way to ask gave."""

    reading: BmcPowerReading
    findings: list[Finding]
    sensors: list[BmcSensor] = field(default_factory=list)

    @property
    def is_final(self) -> bool:
        return any(one.code in FINAL for one in self.findings) and self.reading.watts is None and not self.sensors

    @property
    def may_change(self) -> bool:
        return not self.findings or any(one.code in _AGAIN for one in self.findings)


def bmc_reading(
    run: Run,
    access: BmcAccess,
    tries: int = 3,
    events: bool = True,
    named: str | None = None,
    total_s: float = _TOTAL_S,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Watts, chassis status and logged power events of one BMC, as plain data.

    watts is None, with the reason in ``reason``, where the BMC gives none. total_s bounds all of it.
    """
    meter = BmcMeter(run, access, tries, named, total_s, sleep, clock)
    power = meter.power()
    chassis: ChassisStatus | None = None
    logged: list[SelEvent] = []
    findings = [*power.findings, *access.exposed()]
    if not power.final:
        chassis, found = meter.chassis()
        findings.extend(found)
        if events and not any(one.code in FINAL for one in found):
            logged, found = meter.events()
            findings.extend(found)
    return {
        **power_dict(power),
        "interface": access.kind,
        "chassis": chassis.as_dict() if chassis else None,
        "events": [one.as_dict() for one in logged],
        "findings": [one.as_dict() for one in unique(findings)],
    }


def not_asked(why: str) -> dict[str, Any]:
    """As `bmc_reading`, of a BMC that the options lead to nowhere."""
    power = _no_power([finding("bmc.not_asked", "bmc:access", f"the BMC was not asked: {why}")])
    nothing: dict[str, Any] = {"interface": None, "chassis": None, "events": []}
    return {**power_dict(power), **nothing, "findings": [one.as_dict() for one in power.findings]}


def power_reader(run: Run, access: BmcAccess, total_s: float = _SAMPLE_S) -> Callable[[], dict[str, Any]]:
    """For a sampler: each call gives the watts of now (`power_dict`) by one try; what the BMC lacks is asked once."""
    meter = BmcMeter(run, access, tries=1, total_s=total_s)
    return lambda: power_dict(meter.power())


def power_dict(power: Power) -> dict[str, Any]:
    """The part of `bmc_reading` that is the power alone: what a sampler keeps."""
    reading = power.reading
    return {
        "watts": reading.watts,
        "source": reading.source if reading.watts is not None else None,
        "measures": reading.measures,
        "reads": reading.reads,
        "minimum_watts": reading.minimum_watts,
        "maximum_watts": reading.maximum_watts,
        "average_watts": reading.average_watts,
        "sampling_s": reading.sampling_s,
        "state": reading.state,
        "reason": None if reading.watts is not None else reading.unknown.get("watts", "no answer"),
        "sensors": [
            {"name": one.name, "watts": one.watts, "role": one.role, "reason": one.unknown.get("watts")}
            for one in power.sensors
            if one.role is not None
        ],
    }


def _known(found: Finding) -> Finding:
    """Why DCMI gave nothing, where the sensors gave the watts: worth knowing, not worth a warning."""
    return replace(found, severity="info")


def _reading_of(parsed: Parsed) -> BmcPowerReading:
    return next(iter(parsed.of(BmcPowerReading)), None) or _no_reading(parsed.findings)


def _no_reading(findings: Sequence[Finding]) -> BmcPowerReading:
    reason = findings[0].message if findings else "the BMC gave no answer"
    return with_reasons(BmcPowerReading("dcmi"), {"watts": reason}, "no answer")


def _no_power(findings: list[Finding]) -> Power:
    return Power(_no_reading(findings), findings, final=True)


def _both(first: _Answer, second: _Answer) -> BmcPowerReading:
    """No reading either way: the reasons of both."""
    reasons = [one.reading.unknown.get("watts", "no answer") for one in (first, second)]
    told = "; ".join(dict.fromkeys(reasons)) if first.findings else reasons[1]
    return with_reasons(BmcPowerReading("sensor", state=first.reading.state), {"watts": told}, "no answer")


__all__ = ["BmcAccess", "BmcMeter", "Power", "bmc_access", "bmc_reading", "not_asked", "power_dict", "power_reader"]
