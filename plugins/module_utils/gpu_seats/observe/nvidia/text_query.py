"""``nvidia-smi -q`` as text, whole or in parts (``-d MEMORY,POWER``): an outline of ``Key : Value`` lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ..records import Parsed, with_reasons
from . import values
from .cards import GpuInventory, GpuProcess, card_findings, card_from_cells, not_all_listed, process_of_report
from .values import Cell, cell

_GPU_LINE = re.compile(rf"^GPU\s+({values.BUS_ID})\s*$")
_PAIR = re.compile(r"^(?P<indent>\s*)(?P<key>[^:]*?\S)\s*:(?:\s+(?P<value>.*?))?\s*$")
_PATHS = {
    "uuid": ("GPU UUID",),
    "name": ("Product Name",),
    "serial": ("Serial Number",),
    "vbios_version": ("VBIOS Version",),
    "memory_total_mib": ("FB Memory Usage/Total",),
    "memory_used_mib": ("FB Memory Usage/Used",),
    "memory_free_mib": ("FB Memory Usage/Free",),
    "memory_reserved_mib": ("FB Memory Usage/Reserved",),
    "persistence_mode": ("Persistence Mode",),
    "mig_mode": ("MIG Mode/Current",),
    "mig_mode_pending": ("MIG Mode/Pending",),
    "ecc_mode": ("ECC Mode/Current", "Ecc Mode/Current"),
    "compute_mode": ("Compute Mode",),
    "pstate": ("Performance State",),
    "recovery_action": ("GPU Recovery Action",),
    "temperature_c": ("Temperature/GPU Current Temp",),
    "utilization_percent": ("Utilization/GPU", "Utilization/Gpu"),
    "memory_utilization_percent": ("Utilization/Memory",),
    "fan_percent": ("Fan Speed",),
}
_POWER_KEYS = {
    "power_management": ("Power Management",),
    "power_draw_watts": ("Power Draw", "Average Power Draw", "Instantaneous Power Draw"),
    "power_draw_instant_watts": ("Instantaneous Power Draw",),
    "power_limit_watts": ("Requested Power Limit", "Power Limit"),
    "enforced_power_limit_watts": ("Current Power Limit", "Enforced Power Limit"),
    "default_power_limit_watts": ("Default Power Limit",),
    "min_power_limit_watts": ("Min Power Limit",),
    "max_power_limit_watts": ("Max Power Limit",),
}
_OTHER_POWER = ("Module Power Readings", "GPU Memory Power Readings")
"""Power of more or less than the card: a superchip's whole module, the card's memory alone."""
_POWER_SECTION = re.compile(r"^\s*(?:GPU )?Power Readings\s*$")
_MAX_NODES = 20000


@dataclass
class _Node:
    """One line of the outline: its own value and what stands below it."""

    key: str = ""
    value: str | None = None
    indent: int = -1
    children: list[_Node] = field(default_factory=list)

    def child(self, key: str) -> _Node | None:
        return next((one for one in self.children if one.key == key), None)

    def at(self, path: str) -> str | None:
        node: _Node | None = self
        for key in path.split("/"):
            node = node.child(key) if node else None
        return node.value if node else None

    def below(self, key: str) -> str | None:
        """The value of `key` one or two levels below (driver 610 puts limits under "GPU Ceiling Power Limit")."""
        for one in self.children:
            if one.key == key:
                return one.value
        return next((found for one in self.children if (found := one.at(key)) is not None), None)


def looks_like_text_query(text: str) -> bool:
    return "NVSMI LOG" in text or any(_GPU_LINE.match(line) or _POWER_SECTION.match(line) for line in text.splitlines())


def _outline(lines: list[str]) -> _Node:
    """The lines of one card as a tree by indentation."""
    root = _Node()
    path = [root]
    for line in lines[:_MAX_NODES]:
        match = _PAIR.match(line)
        if match is None:
            key, value, indent = line.strip(), None, len(line) - len(line.lstrip())
        else:
            key, value, indent = match.group("key").strip(), match.group("value"), len(match.group("indent"))
        if not key:
            continue
        while path[-1].indent >= indent:
            path.pop()
        node = _Node(key, value, indent)
        path[-1].children.append(node)
        path.append(node)
    return root


def parse_text_query(text: str) -> Parsed:
    """All cards of the report; values by the names that drivers 418 to 610 give them."""
    head: list[str] = []
    cards: list[tuple[str | None, list[str]]] = []
    for line in text.splitlines():
        match = _GPU_LINE.match(line)
        if match:
            cards.append((match.group(1), []))
        elif _POWER_SECTION.match(line) and (not cards or cards[-1][0] is None):
            cards.append((None, [line]))  # a part of a report without its cards' names
        elif line.strip():
            (cards[-1][1] if cards else head).append(line)
    top = _outline(head)
    version = values.version(top.at("KMD Version")) or values.version(top.at("Driver Version"))
    cuda = values.version(top.at("CUDA UMD Version")) or values.version(top.at("CUDA Version"))
    attached = (top.at("Attached GPUs") or "").strip()
    named = [bus for bus, _ in cards if bus is not None]
    count = int(attached) if attached.isdigit() and len(attached) < 6 else (len(named) or None)
    reasons = {"card_count": "a part of a report, without the names of its cards"} if cards and not named else {}
    parsed = Parsed([with_reasons(GpuInventory("text-query", count, version, cuda), reasons)])
    if len(cards) < (count or 0) and cards:
        parsed.findings.append(not_all_listed(count or 0, len(cards)))
    for bus, lines in cards:
        parsed.add(_card(bus, _outline(_indented(lines)), version))
    return parsed


def _indented(lines: list[str]) -> list[str]:
    """The lines; pairs below their heading where somebody took the indentation away."""
    if any(line[:1].isspace() for line in lines):
        return lines
    return [f"    {line}" if _PAIR.match(line) else line for line in lines]


def _cells(bus: str | None, tree: _Node) -> dict[str, Cell]:
    cells = {} if bus is None else {"bus_id": Cell(bus)}
    for name, paths in _PATHS.items():
        printed = next((found for path in paths if (found := tree.at(path)) is not None), None)
        if printed is not None:
            cells[name] = cell(printed)
    section = tree.child("GPU Power Readings") or tree.child("Power Readings")
    if section is not None:
        for name, keys in _POWER_KEYS.items():
            printed_all = [found for key in keys if (found := section.below(key)) is not None]
            chosen = [one for one in printed_all if cell(one).text is not None] or printed_all
            if chosen:
                cells[name] = cell(chosen[0])
    return cells


def _card(bus: str | None, tree: _Node, driver: str | None) -> Parsed:
    cells = _cells(bus, tree)
    if driver:
        cells["driver_version"] = Cell(driver)
    instances = [_instance(one) for one in tree.children if one.key == "MIG Device"]
    card = card_from_cells(cells, "not in this part of the report", mig_devices=instances, other=_other_power(tree))
    card = with_reasons(card, {**card.unknown, "index": "the text form does not print it"})
    parsed = Parsed([card], card_findings(card, cells))
    for section in (one for one in tree.children if one.key == "Processes"):
        parsed.records.extend(_processes(section, card.uuid, card.bus_id))
    return parsed


def _other_power(tree: _Node) -> dict[str, str]:
    """Values of the power sections that are not the card's, by section and key."""
    sections = [one for one in tree.children if one.key in _OTHER_POWER]
    return {
        f"{section.key}/{one.key}": text
        for section in sections
        for one in section.children
        if (text := cell(one.value).text) is not None and values.watts(text) is not None
    }


def _whole(text: str | None) -> int | None:
    stripped = (text or "").strip()
    return int(stripped) if stripped.isdigit() and len(stripped) < 12 else None


def _instance(node: _Node) -> dict[str, Any]:
    memory = node.child("Shared FB Memory Usage") or node.child("FB Memory Usage") or _Node()
    return {
        "index": _whole(node.at("Index")),
        "gpu_instance_id": _whole(node.at("GPU Instance ID")),
        "compute_instance_id": _whole(node.at("Compute Instance ID")),
        "memory_total_mib": values.mib(memory.at("Total") or ""),
        "memory_used_mib": values.mib(memory.at("Used") or ""),
        "memory_free_mib": values.mib(memory.at("Free") or ""),
    }


def _processes(section: _Node, uuid: str | None, bus: str | None) -> list[GpuProcess]:
    """Processes are lists of lines that start again at ``Process ID``, flat or below ``GPU instance ID``."""
    flat: list[_Node] = []
    for one in section.children:
        flat.extend([one, *one.children])
    found: list[dict[str, str | None]] = []
    for node in flat:
        if node.key == "Process ID":
            found.append({})
            found[-1].update({child.key: child.value for child in node.children})
            found[-1][node.key] = node.value
        elif found:
            found[-1][node.key] = node.value
    return [_process(one, uuid, bus) for one in found]


def _process(pairs: dict[str, str | None], uuid: str | None, bus: str | None) -> GpuProcess:
    name, memory, kind = (cell(pairs.get(key)) for key in ("Name", "Used GPU Memory", "Type"))
    return process_of_report(_whole(pairs.get("Process ID")), name, memory, kind, uuid, bus)
