"""``nvidia-smi -q -x``: every document type from none (driver 418) over v10 to v13 (driver 610)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

from ...findings import finding
from ..jsontext import truncated
from ..records import Parsed, with_reasons
from . import values
from .cards import (
    GpuInventory,
    GpuProcess,
    card_findings,
    card_from_cells,
    not_all_listed,
    process_of_report,
    subject_of,
)
from .values import Cell, cell

_PATHS = {
    "uuid": ("uuid",),
    "name": ("product_name",),
    "serial": ("serial",),
    "vbios_version": ("vbios_version",),
    "memory_total_mib": ("fb_memory_usage/total",),
    "memory_used_mib": ("fb_memory_usage/used",),
    "memory_free_mib": ("fb_memory_usage/free",),
    "memory_reserved_mib": ("fb_memory_usage/reserved",),
    "persistence_mode": ("persistence_mode",),
    "mig_mode": ("mig_mode/current_mig",),
    "mig_mode_pending": ("mig_mode/pending_mig",),
    "ecc_mode": ("ecc_mode/current_ecc",),
    "compute_mode": ("compute_mode",),
    "pstate": ("performance_state",),
    "recovery_action": ("gpu_recovery_action",),
    "temperature_c": ("temperature/gpu_temp",),
    "utilization_percent": ("utilization/gpu_util",),
    "memory_utilization_percent": ("utilization/memory_util",),
    "fan_percent": ("fan_speed",),
}
_POWER_SECTIONS = ("gpu_power_readings", "power_readings")
"""driver 535 renamed the section; only one of the two is there."""
_POWER_TAGS = {
    "power_management": ("power_management",),
    "power_draw_watts": ("power_draw", "average_power_draw", "instant_power_draw"),
    "power_draw_instant_watts": ("instant_power_draw",),
    "power_limit_watts": ("requested_power_limit", "power_limit"),
    "enforced_power_limit_watts": ("current_power_limit", "enforced_power_limit"),
    "default_power_limit_watts": ("default_power_limit",),
    "min_power_limit_watts": ("min_power_limit",),
    "max_power_limit_watts": ("max_power_limit",),
}
"""In order of preference: v11 power_limit + enforced, v12 requested + current; draw, then average, then instant."""
_OTHER_POWER = ("module_power_readings", "gpu_memory_power_readings")
"""Power of more or less than the card: a superchip's whole module, the card's memory alone."""
_GPU_ELEMENT = re.compile(r"<gpu id=.*?</gpu>", re.DOTALL)
_DOCUMENT = re.compile(r"<nvidia_smi_log.*?(?:</nvidia_smi_log>|\Z)", re.DOTALL)


def parse_xml(text: str) -> Parsed:
    """All cards of the document; of a document that is cut, the cards before the cut."""
    match = _DOCUMENT.search(text)
    document = match.group(0) if match else text
    try:
        root = ElementTree.fromstring(document)
    except (ElementTree.ParseError, ValueError) as error:
        return _from_pieces(document, str(error))
    return _from_root(root)


def _from_pieces(document: str, problem: str) -> Parsed:
    """The whole ``<gpu>`` elements of a damaged document; how many cards there are stays unknown."""
    parsed = Parsed(findings=[truncated("nvidia-smi", document, problem)])
    driver = re.search(r"<driver_version>([^<]*)<", document)
    version = values.version(driver.group(1)) if driver else None
    parsed.records.append(with_reasons(GpuInventory("xml", None, version), {"card_count": "the document is cut"}))
    for piece in _GPU_ELEMENT.findall(document):
        element = _whole_element(piece)
        if element is not None:
            parsed.add(_card(element, version))
    return parsed


def _whole_element(text: str) -> ElementTree.Element | None:
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError):
        return None


def _from_root(root: ElementTree.Element) -> Parsed:
    driver = cell(_text(root, ("kmd_version", "driver_version")))
    cuda = cell(_text(root, ("cuda_umd_version", "cuda_version")))
    attached, cards = cell(_text(root, ("attached_gpus",))), root.findall("gpu")
    count = int(attached.text) if attached.text and attached.text.isdigit() and len(attached.text) < 6 else len(cards)
    version = values.version(driver.text)
    inventory = GpuInventory("xml", count, version, values.version(cuda.text))
    reasons = {"driver_version": driver.reason or "not a version", "cuda_version": cuda.reason or "not a version"}
    parsed = Parsed([with_reasons(inventory, reasons)])
    if count > len(cards):
        parsed.findings.append(not_all_listed(count, len(cards)))
    for element in cards:
        parsed.add(_card(element, version))
    return parsed


def _text(element: ElementTree.Element, paths: Iterable[str]) -> str | None:
    """The text of the first path that exists, one with a value preferred."""
    printed: str | None = None
    for path in paths:
        text = element.findtext(path)
        if text is not None and cell(text).text is not None:
            return text
        printed = printed if printed is not None else text
    return printed


def _cells(element: ElementTree.Element) -> dict[str, Cell]:
    """Printed values by field. A tag that this document type does not have has no entry."""
    cells: dict[str, Cell] = {}
    for name, paths in _PATHS.items():
        printed = _text(element, paths)
        if printed is not None:
            cells[name] = cell(printed)
    section = next((found for tag in _POWER_SECTIONS if (found := element.find(tag)) is not None), None)
    if section is not None:
        for name, tags in _POWER_TAGS.items():
            printed = _text(section, [path for tag in tags for path in (tag, ".//" + tag)])
            if printed is not None:
                cells[name] = cell(printed)
    bus = element.get("id") or element.findtext("pci/pci_bus_id")
    if bus:
        cells["bus_id"] = Cell(bus)
    return cells


def _card(element: ElementTree.Element, driver: str | None) -> Parsed:
    cells = _cells(element)
    if driver:
        cells["driver_version"] = Cell(driver)
    instances = [_instance(one) for one in element.findall("mig_devices/mig_device")]
    card = card_from_cells(cells, "not in this document type", mig_devices=instances, other=_other_power(element))
    card = with_reasons(card, {**card.unknown, "index": "the XML form does not print it"})
    parsed = Parsed([card], card_findings(card, cells))
    parsed.findings.extend(_health_findings(element, subject_of(card)))
    parsed.records.extend(_process(one, card.uuid, card.bus_id) for one in element.findall("processes/process_info"))
    return parsed


def _other_power(element: ElementTree.Element) -> dict[str, str]:
    """Values of the power sections that are not the card's, by section and tag."""
    return {
        f"{section}/{one.tag}": text
        for section in _OTHER_POWER
        for one in element.findall(f"{section}/*")
        if (text := cell(one.text).text) is not None and values.watts(text) is not None
    }


def _health_findings(element: ElementTree.Element, subject: str) -> list[Any]:
    asked = [
        tag
        for tag in ("gpu_reset_status/reset_required", "gpu_reset_status/drain_and_reset_recommended")
        if (element.findtext(tag) or "").strip() == "Yes"
    ]
    if not asked:
        return []
    return [finding("gpu.reset_required", subject, "the card asks for a reset", {"from": ", ".join(asked)})]


def _whole(text: str | None) -> int | None:
    stripped = (text or "").strip()
    return int(stripped) if stripped.isdigit() and len(stripped) < 12 else None


def _instance(element: ElementTree.Element) -> dict[str, Any]:
    """One MIG device: its numbers and its memory in MiB."""
    return {
        "index": _whole(element.findtext("index")),
        "gpu_instance_id": _whole(element.findtext("gpu_instance_id")),
        "compute_instance_id": _whole(element.findtext("compute_instance_id")),
        "memory_total_mib": values.mib((element.findtext("fb_memory_usage/total") or "").strip()),
        "memory_used_mib": values.mib((element.findtext("fb_memory_usage/used") or "").strip()),
        "memory_free_mib": values.mib((element.findtext("fb_memory_usage/free") or "").strip()),
    }


def _process(element: ElementTree.Element, uuid: str | None, bus: str | None) -> GpuProcess:
    name, memory, kind = (cell(element.findtext(tag)) for tag in ("process_name", "used_memory", "type"))
    return process_of_report(_whole(element.findtext("pid")), name, memory, kind, uuid, bus)
