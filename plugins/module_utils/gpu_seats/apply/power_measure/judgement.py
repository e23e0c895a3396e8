"""Whether a sample lets the load go on. Pure: the watcher stops the load first and writes afterwards."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...findings import Finding, finding
from ...observe.nvidia.cards import LIMIT_TOLERANCE_WATTS
from .plan import Limits, MeasurePlan

_EFFECT_SHARE = 0.05
_BUSY_SHARE = 0.5
"""Of its cap: what a load adds at least to a card's draw, and from where on a card is busy whatever loads it."""
_MISSES = 2
"""Samples in a row without a card's draw: one can be a reading that came too late."""


@dataclass(frozen=True)
class HostTotal:
    """The most the host may draw at a sample. watts None: nothing was read. words: how it was counted."""

    watts: float | None
    words: str


def host_total(sample: Mapping[str, Any], limits: Limits) -> HostTotal:
    """From the BMC, else from the cards and the declared machine; at what the supplies may lose on top of it.

    A BMC averages over seconds and more; the cards and the least of the machine are a floor below which it is not
    believed.
    """
    cards, bmc = sample.get("cards_watts"), sample.get("bmc_watts")
    if bmc is None:
        if cards is None:
            return HostTotal(None, "neither the BMC nor every card gave watts")
        read, words = cards + limits.machine_watts, f"cards {cards:.0f} W + machine {limits.machine_watts:.0f} W"
    elif cards is not None and cards + limits.floor_watts > bmc:
        read = cards + limits.floor_watts
        words = f"cards {cards:.0f} W + machine at least {limits.floor_watts:.0f} W"
    else:
        read, words = bmc, f"BMC {bmc:.0f} W"
    if limits.loss_factor == 1:
        return HostTotal(read, words if words.startswith("BMC") else f"{words} = {read:.0f} W")
    total = read * limits.loss_factor
    words = words if words.startswith("BMC") else f"({words})"
    return HostTotal(total, f"{words} x {limits.loss_factor:.2f} = {total:.0f} W")


def effect_finding(
    plan: MeasurePlan, cards: Collection[str], before: Mapping[str, Any], held: Sequence[Mapping[str, Any]]
) -> Finding | None:
    """A load that ran and did nothing. before: a sample without load. held: those that the step is measured by.

    A card that drew much before it too is busy with something else, which is load as well.
    """
    draws = [_draws(one) for one in held]
    idle, flat = _draws(before), []
    for name in cards:
        card = plan.card(name)
        most = max((one[card.uuid] for one in draws if card.uuid in one), default=None)
        rest = idle.get(card.uuid)
        if most is None or rest is None:
            continue
        if most < rest + _EFFECT_SHARE * card.cap_watts and most < _BUSY_SHARE * card.cap_watts:
            flat.append(f"card {name} {rest:.0f} W before it and at most {most:.0f} W under it")
    if not flat:
        return None
    message = f"the load has no effect: {', '.join(flat)}; the step is not measured"
    return finding("power.load_without_effect", f"host:{plan.host}", message, {"cards": flat})


def _draws(sample: Mapping[str, Any]) -> dict[str, float]:
    """Watts by UUID of the cards that gave any."""
    cards = sample.get("cards") or ()
    return {str(one["uuid"]): float(one["draw_watts"]) for one in cards if one.get("draw_watts") is not None}


@dataclass
class Judge:
    """Says why the load must stop, None while it may go on. Remembers which cards gave no draw."""

    plan: MeasurePlan
    misses: dict[str, int] = field(default_factory=dict)
    blind: int = 0

    def stop_reason(self, sample: Mapping[str, Any]) -> Finding | None:
        of_host = self._total_reason(sample)
        return of_host or next(
            (reason for reason in (self._card_reason(card) for card in sample.get("cards") or ()) if reason), None
        )

    def _total_reason(self, sample: Mapping[str, Any]) -> Finding | None:
        limits = self.plan.limits
        total = host_total(sample, limits)
        if total.watts is None:
            self.blind += 1
            if self.blind < _MISSES:
                return None
            message = f"{total.words} in {self.blind} samples in a row: nobody sees what the host draws"
            return self._finding("power.measure_blind", message)
        self.blind = 0
        if total.watts <= limits.stop_at_watts:
            return None
        message = f"{total.words} is over the stop threshold of {limits.stop_at_watts:.0f} W"
        evidence = {
            "total_watts": round(total.watts, 1),
            "stop_at_watts": limits.stop_at_watts,
            "bmc_watts": sample.get("bmc_watts"),
            "cards_watts": sample.get("cards_watts"),
        }
        return self._finding("power.measure_over_threshold", message, evidence)

    def _card_reason(self, card: Mapping[str, Any]) -> Finding | None:
        uuid, draw, limit = str(card["uuid"]), card.get("draw_watts"), card.get("limit_watts")
        cap, margin = self.plan.caps.get(uuid), self.plan.limits.margin_watts
        card_text, name = f"card {self.plan.name_of(uuid)}", f"gpu:{self.plan.name_of(uuid)}"
        evidence = {"uuid": uuid, "draw_watts": draw, "limit_watts": limit, "cap_watts": cap}
        if card.get("code") == "gpu.lost":
            return self._finding("gpu.lost", f"{card_text}: {card.get('why')}", evidence, name)
        if cap is not None and limit is not None and limit > cap + LIMIT_TOLERANCE_WATTS:
            message = f"{card_text} enforces {limit:.0f} W, its cap is {cap:.0f} W: the plan counted with the cap"
            return self._finding("power.card_over_cap", message, evidence, name)
        if draw is None:
            self.misses[uuid] = self.misses.get(uuid, 0) + 1
            if self.misses[uuid] < _MISSES:
                return None
            why = card.get("why") or "no reason given"
            row = f"{self.misses[uuid]} samples in a row"
            message = f"{card_text} gave no draw in {row} ({why}): nobody sees what it does"
            return self._finding("power.measure_blind", message, evidence, name)
        self.misses[uuid] = 0
        if cap is not None and draw > cap + margin:
            message = f"{card_text} draws {draw:.0f} W, more than its cap of {cap:.0f} W and {margin:.0f} W on top"
            return self._finding("power.card_over_cap", message, evidence, name)
        return None

    def _finding(self, code: str, message: str, evidence: dict[str, Any] | None = None, about: str = "") -> Finding:
        subject = f"host:{self.plan.host}" + (f"/{about}" if about else "")
        return finding(code, subject, message, evidence)


__all__ = ["HostTotal", "Judge", "effect_finding", "host_total"]
