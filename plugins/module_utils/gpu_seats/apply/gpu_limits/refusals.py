"""Caps that are not set: what the card, its ceiling and its stock limit say of them."""

from __future__ import annotations

from ...findings import Finding, finding
from ...observe.nvidia.cards import LIMIT_TOLERANCE_WATTS, GpuCard
from .caps import Cap


def refusals(cap: Cap, card: GpuCard | None) -> list[Finding]:
    """Why `cap` is not set on `card`; empty when it may be. The card's own range counts before the declared one."""
    low = _known(card.min_power_limit_watts if card else None, cap.min_watts)
    stock = _known(card.default_power_limit_watts if card else None, cap.default_watts)
    high = _known(card.max_power_limit_watts if card else None, cap.max_watts)
    limit, facts = cap.limit_watts, {"uuid": cap.uuid, "limit_watts": cap.limit_watts, "reason": cap.reason}
    if cap.ceiling_watts is not None and limit > cap.ceiling_watts:
        text = f"a cap of {limit:g} W is above the declared ceiling of {cap.ceiling_watts:g} W"
        return [finding("power.cap_above_ceiling", cap.subject, text, {**facts, "ceiling_watts": cap.ceiling_watts})]
    if low is not None and limit < low:
        text = f"a cap of {limit:g} W is below the {low:g} W that the card takes at least"
        return [finding("power.cap_below_min", cap.subject, text, {**facts, "min_watts": low, "max_watts": high})]
    if high is not None and limit > high:
        text = f"a cap of {limit:g} W is above the {high:g} W that the card takes at most"
        return [finding("gpu.power_limit_refused", cap.subject, text, {**facts, "min_watts": low, "max_watts": high})]
    if stock is not None and limit > stock and not cap.above_stock:
        text = f"a cap of {limit:g} W is above the stock limit of {stock:g} W, and no dated reason is declared"
        return [finding("power.cap_above_stock", cap.subject, text, {**facts, "default_watts": stock})]
    return []


def is_held(cap: Cap, card: GpuCard | None) -> bool:
    """Whether the card keeps the cap."""
    if card is None:
        return False
    return cap_holds(cap.limit_watts, card.enforced_power_limit_watts, card.power_limit_watts)


def cap_holds(cap_watts: float, enforced: float | None, asked: float | None) -> bool:
    """Whether a cap is kept: what is enforced equals it, or is lower while the cap is what was asked for.

    The driver enforces less than what was asked for while another limit of the board is lower.
    """
    asked_for = asked is not None and abs(asked - cap_watts) <= LIMIT_TOLERANCE_WATTS
    if enforced is None:
        return asked_for
    return abs(enforced - cap_watts) <= LIMIT_TOLERANCE_WATTS or (enforced < cap_watts and asked_for)


def _known(observed: float | None, declared: float | None) -> float | None:
    return observed if observed is not None else declared


__all__ = ["cap_holds", "is_held", "refusals"]
