"""The cards of a host by UUID, with their power limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...findings import Finding
from ...observe.command import Run, command_findings
from ...observe.nvidia.card_query import cards_one_by_one, driver_list, is_stopped, query_cards
from ...observe.nvidia.cards import GpuCard
from ...observe.records import unique

# no index: it names another card after a boot, and findings are to name the card
_FIELDS = (
    "uuid,pci.bus_id,name,power.draw,enforced.power.limit,power.limit,power.default_limit,power.min_limit,"
    "power.max_limit,persistence_mode,mig.mode.current"
)
_SHOWN = (
    "uuid", "bus_id", "name", "power_draw_watts", "enforced_power_limit_watts", "power_limit_watts",
    "default_power_limit_watts", "min_power_limit_watts", "max_power_limit_watts", "persistence_mode", "mig_mode",
)  # fmt: skip


@dataclass(frozen=True)
class CardsRead:
    """cards: by UUID (by bus id for one that tells no UUID). whole: the driver listed all of its cards.

    reason: why no card could be asked; "" when at least one answered.
    """

    cards: dict[str, GpuCard] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    whole: bool = True
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "cards": {uuid: _shown(card) for uuid, card in self.cards.items()},
            "card_count": len(self.cards) if self.whole else None,
            "findings": [one.as_dict() for one in self.findings],
        }

    def at_bus(self, bus_id: str | None) -> GpuCard | None:
        return next((card for card in self.cards.values() if bus_id and card.bus_id == bus_id), None)


def read_cards(run: Run, ids: Sequence[str] = ()) -> CardsRead:
    """Asks nvidia-smi once for all cards; when one of them ends the query, for each of `ids` (UUIDs or bus ids) alone.

    Without `ids` the driver's own list is gone through. A value that a card does not tell is None with its reason in
    the record's `unknown`, never 0.
    """
    parsed, ended = query_cards(run, _FIELDS)
    cards, findings = parsed.of(GpuCard), [*parsed.findings, *command_findings(ended, "tool:nvidia-smi")]
    stopped = is_stopped(parsed)
    if stopped:
        cards, of_one = cards_one_by_one(run, _FIELDS, ids or driver_list())
        findings += of_one
    by_id = {card.uuid or card.bus_id or f"unnamed {number}": card for number, card in enumerate(cards)}
    nothing_there = any(one.code == "gpu.no_devices" for one in parsed.findings)
    reason = "" if cards else next((one.message for one in findings if one.fails), "nvidia-smi listed no card")
    return CardsRead(by_id, unique(findings), (bool(cards) or nothing_there) and not stopped, reason)


def _shown(card: GpuCard) -> dict[str, Any]:
    """What was asked of a card, and why some of it has no value."""
    unknown = {name: reason for name, reason in card.unknown.items() if name in _SHOWN}
    return {**{name: getattr(card, name) for name in _SHOWN}, "unknown": unknown}


def named(findings: Iterable[Finding], names: dict[str, str]) -> list[Finding]:
    """Findings about a UUID or bus id, put to the card that is declared by it. names: UUID or bus id -> card."""
    put = []
    for one in findings:
        kind, _, about = one.subject.partition(":")
        known = kind == "gpu" and about in names
        put.append(replace(one, subject=f"gpu:{names[about]}") if known else one)
    return put


__all__ = ["CardsRead", "named", "read_cards"]
