"""Asks nvidia-smi for fields of the cards; one card that can't be opened does not hide the others.

A lost card aborts the whole query, so the others are then asked one by one. A field that the driver does not know
refuses the whole query, so it is left out then.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...findings import Finding, finding
from ..command import CommandResult, Run, command_findings
from ..records import Parsed
from .cards import GpuCard
from .query import parse_query

LIMIT_S = 15.0
"""nvidia-smi answers within a second or two without the persistence daemon; longer means that the driver hangs."""

CARD_IS_LOST = ("gpu.lost", "gpu.handle_error", "gpu.reset_required", "gpu.access_blocked")
"""Codes of a card that ends the query before it told of the others."""

_KNOWN_CARDS = Path("/proc/driver/nvidia/gpus")
_PCI_DEVICES = Path("/sys/bus/pci/devices")
_MOST_DROPPED_FIELDS = 8


def is_stopped(parsed: Parsed) -> bool:
    """Whether the query ended at a card, so that it does not tell of the others.

    A card that was listed with values that could not be read has such a finding too, and ended nothing.
    """
    listed = {one for card in parsed.of(GpuCard) for one in (card.uuid, card.bus_id) if one}
    return any(one.code in CARD_IS_LOST and one.subject.partition(":")[2] not in listed for one in parsed.findings)


def query_cards(
    run: Run, fields: str, selection: Sequence[str] = (), limit_s: float | None = None
) -> tuple[Parsed, CommandResult]:
    """One query of `fields` (as ``--query-gpu`` takes them). selection: ``["-i", id]``, empty for all cards.

    limit_s: instead of LIMIT_S.
    """
    names, dropped = fields.split(","), Parsed()
    for _ in range(_MOST_DROPPED_FIELDS):
        argv = ["nvidia-smi", f"--query-gpu={','.join(names)}", "--format=csv,noheader,nounits", *selection]
        ended = run(argv, LIMIT_S if limit_s is None else limit_s)
        if ended.rc is None:
            return dropped, ended
        parsed = parse_query(ended.text, ended.rc, " ".join(argv), names)
        unknown = [str(one.evidence.get("field")) for one in parsed.findings if one.code == "gpu.query_field_unknown"]
        left = [name for name in names if name not in unknown]
        if not unknown or len(left) == len(names):
            return dropped.add(parsed), ended
        names = left
        dropped.findings += [one for one in parsed.findings if one.code == "gpu.query_field_unknown"]
    return dropped, ended


def cards_one_by_one(run: Run, fields: str, ids: Sequence[str]) -> tuple[list[GpuCard], list[Finding]]:
    """The cards of `ids` (UUIDs or bus ids) that answer, and what is wrong with the others."""
    cards: list[GpuCard] = []
    findings: list[Finding] = []
    for one in ids:
        parsed, ended = query_cards(run, fields, ["-i", one])
        cards += parsed.of(GpuCard)
        findings += [*(_of_one(told, one) for told in parsed.findings), *command_findings(ended, f"gpu:{one}")]
    return cards, findings


def _of_one(told: Finding, name: str) -> Finding:
    """What nvidia-smi calls "no devices" when it was asked for one card means that one."""
    if told.code != "gpu.no_devices":
        return told
    return finding("gpu.not_listed", f"gpu:{name}", f"the driver has no card {name}", told.evidence)


def driver_list() -> list[str]:
    """Bus ids of all cards that the driver, else the PCI bus, has; lost ones included. Empty where neither tells."""
    try:
        listed = sorted(entry.name for entry in _KNOWN_CARDS.iterdir())
    except OSError:
        listed = []
    if listed:
        return listed
    try:
        return sorted(entry.name for entry in _PCI_DEVICES.iterdir() if _is_card(entry))
    except OSError:
        return []


def _is_card(device: Path) -> bool:
    """Whether a PCI device is a display or 3D controller of NVIDIA (class 0x03....)."""
    return _first_line(device / "vendor") == "0x10de" and _first_line(device / "class").startswith("0x03")


def _first_line(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
