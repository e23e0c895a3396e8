"""VRAM as nvidia-smi measures it, when deploying: what is free, who holds the rest, what comes back.

Only what was measured counts: a card or process without a value is a finding, not a zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..findings import Finding, finding
from .claims import vram_claim
from .gpus import observed_card
from .placement import card_subject

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ..declare.host import Host
    from .observed import CardProcess, Observed
    from .placement import CardBudget, Placed


@dataclass(frozen=True)
class CardMeasure:
    """One card in use. coming_back_mib: memory of containers that are replaced or stopped, None if not measured."""

    card: str
    free_mib: float | None
    reason: str
    coming_back_mib: float | None
    strangers: list[CardProcess]


def card_measure(
    host: Host, card: str, observed: Observed, leaving: Collection[str], own: Collection[str]
) -> CardMeasure:
    """leaving: names of containers that go before the new ones start. own: names of all declared containers."""
    listed = observed_card(host.gpus[card], card, observed.cards or ())
    if listed is None or listed.free_mib is None:
        reason = "nvidia-smi does not list it" if listed is None else listed.unknown.get("memory_free_mib", "no value")
        return CardMeasure(card, None, reason, None, [])
    here = [one for one in observed.processes or () if one.gpu_uuid == listed.uuid]
    gone = [one for one in here if one.container in leaving]
    strangers = [one for one in here if one.container_known and one.container not in own]
    known = observed.processes is not None and all(one.container_known for one in here)
    measured = known and all(one.used_mib is not None for one in gone)
    back = sum(one.used_mib or 0.0 for one in gone) if measured else None
    return CardMeasure(card, listed.free_mib, "", back, strangers)


def measured_findings(
    host: Host,
    starting: Collection[Placed],
    observed: Observed,
    leaving: Collection[str],
    own: Collection[str],
    runs_already: Callable[[Placed], bool],
    budgets: Collection[CardBudget] = (),
) -> list[Finding]:
    """Cards on which what starts does not fit into what is free.

    leaving: container names that are replaced or stopped. runs_already: a workload whose container runs, so that its
    memory is taken now and comes back when it is replaced. budgets: the declared claims after the deployment, beside
    which strangers must fit too.
    """
    found = []
    cards = dict.fromkeys(card for one in starting for card in one.workload.gpus if card in host.gpus)
    for card in cards:
        on_card = [one for one in starting if card in one.workload.gpus]
        measure = card_measure(host, card, observed, leaving, own)
        found += _stranger_findings(host, measure, next((one for one in budgets if one.card == card), None))
        if measure.free_mib is None:
            text = f"card {card} of {host.host}: free memory is not known ({measure.reason}); claims were checked alone"
            found.append(finding("vram.unmeasured", card_subject(host, card), text))
        else:
            found += _room_findings(host, card, on_card, measure, any(runs_already(one) for one in on_card))
    return found


def _room_findings(
    host: Host, card: str, on_card: list[Placed], measure: CardMeasure, runs_already: bool
) -> list[Finding]:
    claims = [(one, vram_claim(one.workload, host.gpus[card].vram).mib) for one in on_card]
    wanted = sum(mib or 0.0 for _, mib in claims)
    free, back = measure.free_mib or 0.0, measure.coming_back_mib or 0.0
    if wanted <= free + back:
        return []
    if measure.coming_back_mib is None and runs_already:
        text = (
            f"card {card} of {host.host}: {free:,.0f} MiB are free, and how much the containers that are replaced hold "
            "is not known, so what comes back is not either; claims were checked alone"
        )
        return [finding("vram.unmeasured", card_subject(host, card), text)]
    terms = " + ".join(f"{one.name} {mib or 0:,.0f}" for one, mib in claims)
    plus = f" + {back:,.0f} that come back = {free + back:,.0f}" if back else ""
    needs = f"{terms} = {wanted:,.0f}" if len(claims) > 1 else terms
    text = (
        f"card {card} of {host.host}: nvidia-smi measures {free:,.0f} MiB free{plus}; "
        f"{needs}; {wanted - free - back:,.0f} MiB are missing"
    )
    return [finding("vram.not_enough_free", card_subject(host, card), text, _held_by(measure))]


def _held_by(measure: CardMeasure) -> dict[str, list[str]]:
    return {
        "processes": [
            f"pid {one.pid}: {one.name or 'unnamed'}, {_mib_text(one.used_mib)}, no declared container"
            for one in measure.strangers
        ]
    }


def _mib_text(mib: float | None) -> str:
    return "memory not known" if mib is None else f"{mib:,.0f} MiB"


def _stranger_findings(host: Host, measure: CardMeasure, budget: CardBudget | None) -> list[Finding]:
    """Processes of no declared workload: an error where the declared claims do not fit beside them."""
    if not measure.strangers:
        return []
    shown = "; ".join(f"pid {one.pid} {one.name or ''} {_mib_text(one.used_mib)}" for one in measure.strangers)
    text = f"card {measure.card} of {host.host} is used by processes of no declared workload: {shown}"
    held = sum(one.used_mib or 0.0 for one in measure.strangers)
    over = budget.after_mib + held - budget.capacity_mib if budget is not None else 0.0
    if over > 0 and budget is not None:
        text += (
            f"; {budget.after_mib:,.0f} MiB of declared claims + {held:,.0f} are {over:,.0f} MiB more than the "
            f"{budget.capacity_mib:,.0f} of the card"
        )
    severity = "error" if over > 0 else ""
    return [finding("vram.stranger", card_subject(host, measure.card), text, _held_by(measure), severity=severity)]
