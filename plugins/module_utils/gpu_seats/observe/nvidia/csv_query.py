"""``nvidia-smi --query-gpu=... --format=csv`` and ``--query-compute-apps``, with or without header and units."""

from __future__ import annotations

import re
from typing import Any

from ...findings import finding
from ..records import Parsed, first_line, with_reasons
from . import values
from .cards import GpuCard, GpuInventory, GpuProcess, card_findings, card_from_cells
from .values import Cell, cell

GPU_FIELDS = {
    "index": "index",
    "uuid": "uuid",
    "gpu_uuid": "uuid",
    "pci.bus_id": "bus_id",
    "gpu_bus_id": "bus_id",
    "name": "name",
    "gpu_name": "name",
    "serial": "serial",
    "gpu_serial": "serial",
    "driver_version": "driver_version",
    "kmd_version": "driver_version",
    "vbios_version": "vbios_version",
    "compute_cap": "compute_capability",
    "memory.total": "memory_total_mib",
    "memory.used": "memory_used_mib",
    "memory.free": "memory_free_mib",
    "memory.reserved": "memory_reserved_mib",
    "power.management": "power_management",
    "power.draw": "power_draw_watts",
    "power.draw.average": "power_draw_watts",
    "power.draw.instant": "power_draw_instant_watts",
    "power.limit": "power_limit_watts",
    "enforced.power.limit": "enforced_power_limit_watts",
    "power.default_limit": "default_power_limit_watts",
    "power.min_limit": "min_power_limit_watts",
    "power.max_limit": "max_power_limit_watts",
    "persistence_mode": "persistence_mode",
    "mig.mode.current": "mig_mode",
    "mig.mode.pending": "mig_mode_pending",
    "ecc.mode.current": "ecc_mode",
    "compute_mode": "compute_mode",
    "pstate": "pstate",
    "gpu_recovery_action": "recovery_action",
    "temperature.gpu": "temperature_c",
    "utilization.gpu": "utilization_percent",
    "utilization.memory": "memory_utilization_percent",
    "fan.speed": "fan_percent",
}
PROCESS_FIELDS = {
    "pid": "pid",
    "process_name": "name",
    "name": "name",
    "gpu_uuid": "gpu_uuid",
    "gpu_bus_id": "gpu_bus_id",
    "used_gpu_memory": "used_memory_mib",
    "used_memory": "used_memory_mib",
}
_HEADER_CELL = re.compile(r"^[A-Za-z_][\w.]*(?:\s*\[[^\]]*\])?$")
_ASKED = re.compile(
    r"--query-(?P<what>gpu|compute-apps|accounted-apps|retired-pages|remapped-rows)[=\s]+['\"]?(?P<fields>[\w.,]+)"
)
_UUID_CELL = re.compile(rf"^{values.UUID}$")
_BUS_CELL = re.compile(rf"^{values.BUS_ID}$")
_BRACKETED_CELL = re.compile(r"^\[[A-Za-z][A-Za-z /]+\]$")
_DATE_CELL = re.compile(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d")


def asked_fields(command: str | None) -> tuple[str, list[str]]:
    """("gpu" or "compute-apps", field names) of a query command; ("", []) when it is none."""
    match = _ASKED.search(command or "")
    return (match.group("what"), match.group("fields").split(",")) if match else ("", [])


def header_fields(line: str) -> list[str]:
    """The field names of a header row without their units, [] when the line is no header."""
    cells = [one.strip() for one in line.split(",")]
    if not all(_HEADER_CELL.match(one) for one in cells):
        return []
    names = [re.sub(r"\s*\[.*$", "", one) for one in cells]
    known = [name for name in names if name in GPU_FIELDS or name in PROCESS_FIELDS or "." in name]
    return names if known or names == ["timestamp"] else []


def parse_csv(text: str, command: str | None = None, fields: list[str] | None = None) -> Parsed:
    """Cards or processes from CSV rows. Without a header, `fields` or the command names the columns."""
    lines = [line for line in text.splitlines() if line.strip()]
    what, asked = asked_fields(command)
    names = header_fields(lines[0]) if lines else []
    rows = lines[1:] if names else lines
    names = names or list(fields or []) or asked
    if not names:
        return _guessed(rows)
    if what in ("compute-apps", "accounted-apps") or ("pid" in names and "index" not in names):
        return _processes(names, rows)
    return _cards(names, rows)


def _cells(line: str, names: list[str], loose: str) -> list[str] | None:
    """The cells of a row; a value of column `loose` may hold commas. None when columns are missing."""
    for separator in (", ", ","):
        cells = line.split(separator)
        surplus = len(cells) - len(names)
        if surplus == 0:
            return [one.strip() for one in cells]
        if surplus > 0 and loose in names:
            at = names.index(loose)
            joined = separator.join(cells[at : at + surplus + 1])
            return [one.strip() for one in [*cells[:at], joined, *cells[at + surplus + 1 :]]]
    return None


def _malformed(line: str, names: list[str]) -> Parsed:
    message = f"a row has not the {len(names)} columns {', '.join(names)}: {first_line(line, 120)!r}"
    return Parsed(findings=[finding("parse.row_malformed", "tool:nvidia-smi", message, {"row": first_line(line)})])


def _cards(names: list[str], rows: list[str]) -> Parsed:
    """One card a row."""
    parsed, cards = Parsed(), []
    for line in rows:
        cells = _cells(line, names, "name" if "name" in names else "gpu_name")
        if cells is None:
            parsed.add(_malformed(line, names))
            continue
        by_field, other = _by_field(names, cells)
        card = card_from_cells(by_field, "not asked for", other=other)
        cards.append(card)
        parsed.records.append(card)
        parsed.findings.extend(card_findings(card, by_field))
    parsed.records.insert(0, _inventory(cards, len(rows)))
    return parsed


def _inventory(cards: list[GpuCard], rows: int) -> GpuInventory:
    """What the rows tell of all cards: a card that comes again (``-l``, one row a cause) counts once."""
    driver = next((card.driver_version for card in cards if card.driver_version), None)
    names = [one.uuid or one.bus_id or one.index for one in cards]
    repeated = 0 if None in names else len(names) - len(set(names))
    count = rows - repeated if rows else None
    return with_reasons(
        GpuInventory("csv-gpu", count, driver),
        {"card_count": "no row in this output", "driver_version": "not asked for"},
    )


def _by_field(names: list[str], cells: list[str]) -> tuple[dict[str, Cell], dict[str, str]]:
    """Printed cells by record field, and those without a field of their own. The first with a value wins."""
    by_field: dict[str, Cell] = {}
    other: dict[str, str] = {}
    for name, printed in zip(names, cells):
        target = GPU_FIELDS.get(name)
        if target is None:
            other[name] = printed
        elif target not in by_field or by_field[target].text is None:
            by_field[target] = cell(printed)
    average, instant = by_field.get("power_draw_watts"), by_field.get("power_draw_instant_watts")
    if average is not None and average.text is None and instant is not None and instant.text is not None:
        # some boards tell no average; the XML and text reports are read the same way
        by_field["power_draw_watts"] = instant
    return by_field, other


def _processes(names: list[str], rows: list[str]) -> Parsed:
    """One process a row; no row at all means that no process holds a card, which is fine."""
    parsed = Parsed()
    for line in rows:
        if line.strip().lower().startswith("no running"):
            continue
        cells = _cells(line, names, "process_name" if "process_name" in names else "name")
        if cells is None:
            parsed.add(_malformed(line, names))
            continue
        parsed.records.append(_process({n: cell(c) for n, c in zip(names, cells)}))
    if not parsed.records:
        parsed.notes.append("no process holds a card")
    return parsed


def _process(cells: dict[str, Cell]) -> GpuProcess:
    found: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    for name, one in cells.items():
        target = PROCESS_FIELDS.get(name)
        if target is None or target in found:
            continue
        value: Any = one.text
        if one.text is not None and target == "pid":
            value = int(one.text) if one.text.isdigit() and len(one.text) < 12 else None
        elif one.text is not None and target == "used_memory_mib":
            value = values.mib(one.text)
        elif target == "gpu_bus_id":
            value = values.bus_id(one.text)
        if value is None:
            reasons[target] = one.reason or f"not understood: {one.text}"
        else:
            found[target] = value
    return with_reasons(GpuProcess(**found), reasons, "not asked for")


def _guessed(rows: list[str]) -> Parsed:
    """Cards from rows whose columns nobody named: only values that can be nothing else are taken."""
    message = f"rows without a header and without the command: only ids were read from {first_line(rows[0], 100)!r}"
    parsed = Parsed(
        findings=[finding("parse.columns_unknown", "tool:nvidia-smi", message, {"row": first_line(rows[0])})]
    )
    for line in rows:
        printed = [one.strip() for one in line.split(",")]
        by_field: dict[str, Cell] = {}
        for position, one in enumerate(printed):
            if _UUID_CELL.match(one):
                by_field["uuid"] = Cell(one)
            elif _BUS_CELL.match(one):
                by_field["bus_id"] = Cell(one)
            elif position == 0 and one.isdigit() and len(one) < 3:
                by_field["index"] = Cell(one)
        other = {f"column {n + 1}": one for n, one in enumerate(printed)}
        card = card_from_cells(by_field, "column not named", other=other)
        parsed.records.append(card)
        unnamed = {f"column {n + 1}": cell(one) for n, one in enumerate(printed)}
        parsed.findings.extend(card_findings(card, {name: one for name, one in unnamed.items() if one.is_error}))
    count = GpuInventory("csv-gpu", len(rows))
    parsed.records.insert(0, with_reasons(count, {"driver_version": "column not named"}))
    return parsed


def looks_like_rows(lines: list[str]) -> bool:
    """Whether lines without a header are rows of a query: they hold an id, a date or a bracketed value."""
    if not lines:
        return False
    cells = [one.strip() for one in lines[0].split(",")]
    known = (_UUID_CELL, _BUS_CELL, _DATE_CELL, _BRACKETED_CELL)
    return len(cells) > 1 and any(pattern.match(one) for one in cells for pattern in known)
