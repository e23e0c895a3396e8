"""Records of a BMC's answers. A figure that the BMC does not give is None, its reason in `unknown`; never 0 W."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ..records import Record


@dataclass(frozen=True)
class BmcPowerReading(Record):
    """Watts of the whole machine.

    source: ``dcmi`` or ``sensor``. measures: what the figure is (which sensors it is the sum of). reads: ``ac`` or
    ``dc``, the side of the power supplies that it counts, where the names tell; DCMI does not. state: ``activated`` or
    ``deactivated``, as DCMI says. timestamp: ISO, by the BMC's clock. printed_watts: the number as printed, also
    where it is not to be trusted and watts is None.
    """

    kind: ClassVar[str] = "bmc_power_reading"
    source: str
    watts: float | None = None
    minimum_watts: float | None = None
    maximum_watts: float | None = None
    average_watts: float | None = None
    sampling_s: float | None = None
    timestamp: str | None = None
    state: str | None = None
    reads: str | None = None
    measures: str | None = None
    printed_watts: float | None = None
    sensors: list[str] = field(default_factory=list)
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BmcPowerLimit(Record):
    """A power limit that the BMC itself may enforce (``dcmi power get_limit``). active: whether it does."""

    kind: ClassVar[str] = "bmc_power_limit"
    active: bool | None = None
    limit_watts: float | None = None
    action: str | None = None
    correction_ms: float | None = None
    sampling_s: float | None = None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BmcSensor(Record):
    """One sensor. watts: its value where its unit is watts. state: what a discrete sensor says.

    status: as printed (ok, nc, cr, nr, ns, na). role, of sensors in watts: ``system``, ``psu_input``, ``psu_output``,
    ``psu`` (side not told), ``component``, or ``other``. thresholds: lnr lcr lnc unc ucr unr, where they are set.
    """

    kind: ClassVar[str] = "bmc_sensor"
    name: str
    value: float | None = None
    unit: str | None = None
    watts: float | None = None
    state: str | None = None
    status: str | None = None
    number: int | None = None
    entity: str | None = None
    role: str | None = None
    thresholds: dict[str, float] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ChassisStatus(Record):
    """Power state of the chassis. Faults and the overload are True, False, or None where not printed.

    last_power_event: words as printed (``ac-failed``, ``overload``, ``interlock``, ``fault``, ``command``).
    other: printed values without a field of their own.
    """

    kind: ClassVar[str] = "chassis_status"
    system_power: str | None = None
    power_overload: bool | None = None
    power_interlock: bool | None = None
    main_power_fault: bool | None = None
    power_control_fault: bool | None = None
    power_restore_policy: str | None = None
    last_power_event: list[str] = field(default_factory=list)
    chassis_intrusion: bool | None = None
    drive_fault: bool | None = None
    cooling_fault: bool | None = None
    restart_cause: str | None = None
    other: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SelEvent(Record):
    """One entry of the event log. time: ISO, by the BMC's clock; None before the BMC knew the time.

    direction: ``asserted`` or ``deasserted``. is_power: it is about power. is_fault: it says that something of the
    power supply went wrong (an assertion that clears one is none).
    """

    kind: ClassVar[str] = "sel_event"
    id: int
    time: str | None = None
    sensor: str = ""
    sensor_type: str | None = None
    event: str = ""
    direction: str | None = None
    detail: str | None = None
    is_power: bool = False
    is_fault: bool = False
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SelInfo(Record):
    """How full the event log is (``sel info``)."""

    kind: ClassVar[str] = "sel_info"
    entries: int | None = None
    free_bytes: int | None = None
    percent_used: int | None = None
    overflow: bool | None = None
    last_add_time: str | None = None
    unknown: dict[str, str] = field(default_factory=dict)
