"""Which cards a host has, what limits them, and which of them are loaded: as declared, as seen, or as asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .figures import watts_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ...declare.host import Host


@dataclass(frozen=True)
class PlannedCard:
    """One card of a host. limit_watts None: neither a cap nor a stock limit is known.

    basis: what the limit is: ``cap``, ``stock limit``, ``enforced limit``, ``asked limit``. The others are what the
    declaration allows it to be.
    """

    card: str
    limit_watts: float | None
    basis: str
    loaded: bool = True
    min_watts: float | None = None
    stock_watts: float | None = None
    max_watts: float | None = None
    ceiling_watts: float | None = None
    above_stock: bool = False

    @property
    def how(self) -> str:
        if self.limit_watts is None:
            return "no cap and no stock limit is declared"
        return f"{self.basis} {watts_text(self.limit_watts)}"


def planned_cards(
    host: Host, loaded: Collection[str] | None = None, limits: Mapping[str, float] | None = None
) -> list[PlannedCard]:
    """Every declared card with the limit that counts.

    loaded: cards under load, None for all of them. limits: what the cards enforce now, where somebody looked; it
    counts where it is above the cap, because then the cap does not hold.
    """
    return [_planned(host, card, loaded is None or card in loaded, (limits or {}).get(card)) for card in host.gpus]


def _planned(host: Host, card: str, loaded: bool, enforced: float | None) -> PlannedCard:
    caps = host.power.caps if host.power is not None else None
    known = host.gpus[card].power_limits
    limit, basis = (known.default, "stock limit") if known is not None else (None, "")
    if caps is not None:
        limit, basis = caps.limit_of(card), "cap"
    if enforced is not None and (limit is None or enforced > limit):
        limit, basis = enforced, "enforced limit"
    return PlannedCard(
        card,
        limit,
        basis,
        loaded,
        known.min if known is not None else None,
        known.default if known is not None else None,
        known.max if known is not None else None,
        caps.ceiling if caps is not None else None,
        caps is not None and caps.above_stock is not None,
    )


def with_limit(cards: list[PlannedCard], watts: float) -> list[PlannedCard]:
    """The cards with one limit for all."""
    return [replace(card, limit_watts=watts, basis="asked limit") for card in cards]


def with_count(cards: list[PlannedCard], count: int) -> list[PlannedCard]:
    """The first `count` cards, or further ones like the last."""
    further = [replace(cards[-1], card=str(number)) for number in _free_numbers(cards, count - len(cards))]
    return [*cards[:count], *further]


def _free_numbers(cards: list[PlannedCard], count: int) -> list[int]:
    first = max((int(card.card) for card in cards), default=-1) + 1
    return list(range(first, first + max(0, count)))


def with_loaded(cards: list[PlannedCard], count: int) -> list[PlannedCard]:
    """`count` of the cards under load: those with the highest limits, which is the worst case."""
    highest = sorted(cards, key=lambda card: -(card.limit_watts or 0.0))[:count]
    chosen = {card.card for card in highest}
    return [replace(card, loaded=card.card in chosen) for card in cards]
