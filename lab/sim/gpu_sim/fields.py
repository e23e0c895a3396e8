"""Fields of --query-gpu and --query-compute-apps: name, alias, unit and value; written as nvidia-smi writes CSV."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Callable

from .claims import Claim
from .faults import ToolError
from .reading import DEPRECATED, NA, Reading

Value = float | int | str | None
GpuField = tuple[str, Callable[[Reading], Value]]

ALIASES = {
    "gpu_uuid": "uuid",
    "gpu_name": "name",
    "gpu_bus_id": "pci.bus_id",
    "gpu_serial": "serial",
    "temperature": "temperature.gpu",
    "clocks.gr": "clocks.current.graphics",
    "clocks.sm": "clocks.current.sm",
    "clocks.mem": "clocks.current.memory",
    "clocks.video": "clocks.current.video",
    "clocks.gr.max": "clocks.max.graphics",
    "clocks.max.gr": "clocks.max.graphics",
    "clocks.max.mem": "clocks.max.memory",
    "pcie.link.gen.gpucurrent": "pcie.link.gen.current",
    "ecc.mode": "ecc.mode.current",
}
REASONS = (
    "active", "gpu_idle", "sw_power_cap", "hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown",
    "sw_thermal_slowdown", "sync_boost", "applications_clocks_setting",
)  # fmt: skip


def clock(idle: int, busy: int) -> Callable[[Reading], Value]:
    return lambda r: busy if r.pstate == "P1" else idle


def same(value: Value) -> Callable[[Reading], Value]:
    return lambda r: value


def average_power(r: Reading) -> Value:
    return r.draw_w if isinstance(r.draw_w, str) else float(r.draw_w)


GPU_FIELDS: dict[str, GpuField] = {
    "timestamp": ("", lambda r: timestamp()),
    "count": ("", lambda r: None),  # the number of listed cards, set by gpu_csv
    "index": ("", lambda r: r.card.index),
    "uuid": ("", lambda r: r.card.uuid),
    "name": ("", lambda r: r.card.name),
    "serial": ("", lambda r: r.card.serial.strip("[]")),
    "driver_version": ("", lambda r: r.driver_version),
    "vbios_version": ("", same("98.02.8D.00.03")),
    "compute_cap": ("", same("12.0")),
    "pci.bus_id": ("", lambda r: r.card.bus_id),
    "pci.domain": ("", lambda r: "0x" + r.card.bus_id[4:8]),
    "pci.bus": ("", lambda r: "0x" + r.card.bus_id[9:11]),
    "pci.device": ("", same("0x00")),
    "pci.device_id": ("", same("0x2BB410DE")),
    "pci.sub_device_id": ("", same("0x204B10DE")),
    "pcie.link.gen.current": ("", clock(1, 5)),
    "pcie.link.gen.max": ("", same(5)),
    "pcie.link.width.current": ("", same(16)),
    "pcie.link.width.max": ("", same(16)),
    "display_mode": ("", same(DEPRECATED)),
    "display_attached": ("", same("No")),
    "display_active": ("", same("Disabled")),
    "persistence_mode": ("", lambda r: "Enabled" if r.persistent else "Disabled"),
    "addressing_mode": ("", same("None")),
    "accounting.mode": ("", same("Disabled")),
    "compute_mode": ("", same("Default")),
    "pstate": ("", lambda r: r.pstate),
    "fan.speed": ("%", lambda r: r.fan_percent),
    "temperature.gpu": ("", lambda r: r.temperature_c),
    "temperature.gpu.tlimit": (
        "",
        lambda r: r.temperature_c if isinstance(r.temperature_c, str) else 95 - r.temperature_c,
    ),
    "temperature.memory": ("", same(NA)),
    "utilization.gpu": ("%", lambda r: r.util_percent),
    "utilization.memory": ("%", lambda r: r.util_percent if isinstance(r.util_percent, str) else r.util_percent // 2),
    "utilization.encoder": ("%", same(0)),
    "utilization.decoder": ("%", same(0)),
    "memory.total": ("MiB", lambda r: r.card.memory_total_mib),
    "memory.reserved": ("MiB", lambda r: r.card.reserve_mib),
    "memory.used": ("MiB", lambda r: r.used_mib),
    "memory.free": ("MiB", lambda r: r.free_mib),
    "power.management": ("", same(DEPRECATED)),
    "power.draw": ("W", average_power),
    "power.draw.average": ("W", average_power),
    "power.draw.instant": ("W", average_power),
    "power.limit": ("W", lambda r: r.limit_w),
    "enforced.power.limit": ("W", lambda r: r.enforced_w),
    "power.default_limit": ("W", lambda r: r.default_w),
    "power.min_limit": ("W", lambda r: r.min_w),
    "power.max_limit": ("W", lambda r: r.max_w),
    "mig.mode.current": ("", lambda r: r.mig_mode),
    "mig.mode.pending": ("", lambda r: r.mig_mode),
    "ecc.mode.current": ("", same("Disabled")),
    "ecc.mode.pending": ("", same("Disabled")),
    "ecc.errors.corrected.volatile.total": ("", same(NA)),
    "ecc.errors.uncorrected.volatile.total": ("", same(NA)),
    "ecc.errors.corrected.aggregate.total": ("", same(NA)),
    "ecc.errors.uncorrected.aggregate.total": ("", same(NA)),
    "retired_pages.pending": ("", same(NA)),
    "gom.current": ("", same(NA)),
    "gpu_recovery_action": ("", same("None")),
    "clocks.current.graphics": ("MHz", clock(180, 2340)),
    "clocks.current.sm": ("MHz", clock(180, 2340)),
    "clocks.current.memory": ("MHz", clock(405, 13365)),
    "clocks.current.video": ("MHz", clock(600, 1980)),
    "clocks.max.graphics": ("MHz", same(3090)),
    "clocks.max.sm": ("MHz", same(3090)),
    "clocks.max.memory": ("MHz", same(14001)),
    "encoder.stats.sessionCount": ("", same(0)),
    "gsp.mode.current": ("", same("Enabled")),
}
for _reason in REASONS:
    _active = "0x0000000000000000" if _reason == "active" else "Not Active"
    GPU_FIELDS[f"clocks_event_reasons.{_reason}"] = ("", same(_active))
    GPU_FIELDS[f"clocks_throttle_reasons.{_reason}"] = ("", same(_active))

APP_FIELDS = (
    "timestamp", "gpu_name", "gpu_bus_id", "gpu_serial", "gpu_uuid", "pid", "process_name", "name",
    "used_gpu_memory", "used_memory",
)  # fmt: skip
APP_UNITS = {"used_gpu_memory": "MiB", "used_memory": "MiB"}


def timestamp() -> str:
    return datetime.datetime.now().strftime("%Y/%m/%d %H:%M:%S.%f")[:-3]


def cell(value: Value, unit: str, nounits: bool) -> str:
    """One CSV value: numbers with their unit, watts with two decimals, words of no value in brackets."""
    if value is None or value in (NA, DEPRECATED, "Unknown Error"):
        return f"[{value or NA}]"
    text = f"{value:.2f}" if isinstance(value, float) else str(value)
    return text if nounits or not unit else f"{text} {unit}"


def checked_names(asked: str, known: Iterable[str], removed: str | None) -> list[str]:
    """The canonical names of the asked fields; a name that this driver doesn't have fails the whole query."""
    names = []
    for field in (part.strip() for part in asked.split(",")):
        name = ALIASES.get(field, field)
        if field == removed or (name not in known and field not in known):
            raise ToolError(f'Field "{field}" is not a valid field to query.\n\n', 2)
        names.append(name if name in known else field)
    return names


def csv_lines(names: list[str], units: dict[str, str], rows: Iterable[list[str]], options: set[str]) -> str:
    lines = []
    if "noheader" not in options:
        plain = "nounits" in options
        lines.append(", ".join(n if plain or not units.get(n) else f"{n} [{units[n]}]" for n in names))
    lines += [", ".join(row) for row in rows]
    return "".join(line + "\n" for line in lines)


def gpu_csv(readings: list[Reading], asked: str, options: set[str], removed: str | None = None) -> str:
    """Output of --query-gpu=`asked`. removed: a field that this driver is made not to know."""
    names = checked_names(asked, GPU_FIELDS, removed)
    nounits = "nounits" in options

    def row(reading: Reading) -> list[str]:
        values = {n: len(readings) if n == "count" else GPU_FIELDS[n][1](reading) for n in names}
        return [cell(values[n], GPU_FIELDS[n][0], nounits) for n in names]

    units = {n: GPU_FIELDS[n][0] for n in names}
    return csv_lines(names, units, (row(r) for r in readings), options)


def apps_csv(readings: list[Reading], asked: str, options: set[str], hide_memory: bool) -> str:
    """Output of --query-compute-apps=`asked`: one row a process, only the header when there is none."""
    names = [part.strip() for part in asked.split(",")]
    for field in names:
        if field not in APP_FIELDS:
            raise ToolError(f'Field "{field}" is not a valid field to query.\n\n', 2)
    nounits = "nounits" in options

    def value(name: str, reading: Reading, claim: Claim) -> Value:
        if name == "timestamp":
            return timestamp()
        if name.startswith("gpu_"):
            return GPU_FIELDS[ALIASES[name]][1](reading)
        if name == "pid":
            return claim.pid
        return claim.process if name.endswith("name") else (NA if hide_memory else claim.mib)

    rows = (
        [cell(value(n, r, c), APP_UNITS.get(n, ""), nounits) for n in names]
        for r in readings
        for c in r.claims
        if c.pid is not None  # a container sees no process of another PID namespace
    )
    return csv_lines(names, APP_UNITS, rows, options)
