"""What each load of a site takes at its worst: hosts with their cards, management controllers, everything else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...declare.site import BMC_SUFFIX
from .figures import Draw, Term, exactly, term_of, total, watts_text, weakest

if TYPE_CHECKING:
    from ...declare.host import Host
    from ...declare.power import SupplyLoss
    from ...declare.site import Load
    from .situation import PlannedCard


_HOW = {
    "cap": "at their cap (power.caps)",
    "stock limit": "at their stock limit: no cap is declared",
    "enforced limit": "at the limit that they enforce now, at stock where nobody could read it: above their cap",
    "asked limit": "at the limit that is asked",
}


@dataclass(frozen=True)
class LoadPower:
    """One load. kind: host, bmc or load. role: router, gpu_host, bmc, switch or other.

    terms: what is known of it; unknown: what is not, so that the sum is a lower bound.
    """

    name: str
    kind: str
    role: str
    summary: str
    terms: list[Term]
    unknown: list[str] = field(default_factory=list)
    cards: list[PlannedCard] = field(default_factory=list)

    @property
    def draw(self) -> Draw:
        return total(term.draw for term in self.terms)

    @property
    def standing(self) -> str:
        """Of what the sum counts with: a term that only widens the range does not change it."""
        counted = [term for term in self.terms if term.draw.watts] or self.terms
        return "unknown" if self.unknown else weakest(term.standing for term in counted)

    @property
    def how(self) -> str:
        """``4 x 275 W cards + 400 W machine under load``; of a load with one figure, where that comes from."""
        if len(self.terms) == 1 and not self.unknown:
            return self.terms[0].how
        parts = [term.counted for term in self.terms if term.draw.watts]
        return " + ".join([*parts, *(f"unknown: {what}" for what in self.unknown)])

    @property
    def arithmetic(self) -> str:
        """``fv-ml1 4 x 275 W cards + 400 W machine under load = 1500 W``; with its standing where it is one figure."""
        watts = watts_text(self.draw.watts)
        if len(self.terms) == 1 and not self.unknown:
            return f"{self.name} {watts} ({self.standing})"
        return f"{self.name} {self.how} = {watts}" if self.how else f"{self.name} {watts}"

    @property
    def as_term(self) -> Term:
        return Term(self.name, self.draw, self.standing, self.how)

    def as_dict(self) -> dict[str, Any]:
        return {
            **self.as_term.as_dict(),
            "kind": self.kind,
            "role": self.role,
            "summary": self.summary,
            "terms": [term.as_dict() for term in self.terms],
            "unknown": list(self.unknown),
            "cards": [
                {"card": one.card, "limit_watts": one.limit_watts, "basis": one.basis, "loaded": one.loaded}
                for one in self.cards
            ],
        }


def host_load(host: Host, cards: list[PlannedCard], is_router: bool) -> LoadPower:
    """A host: its machine, each of its cards, and what its supplies may lose."""
    unknown: list[str] = []
    terms = [*_card_terms(host, cards, unknown), *_machine_terms(host, cards, unknown)]
    loss = host.power.supply_loss if host.power is not None else None
    if loss is not None:
        terms += _loss_terms(loss, total(term.draw for term in terms))
    role = "router" if is_router else "gpu_host" if cards else "other"
    return LoadPower(host.host, "host", role, host.summary, terms, unknown, cards)


def bmc_load(host: Host) -> LoadPower:
    """A management controller that is plugged in apart from its host."""
    draw = host.bmc.draw if host.bmc is not None else None
    terms = [] if draw is None else [term_of("management controller", draw)]
    unknown = [] if draw is not None else [f"bmc.draw of {host.host}"]
    return LoadPower(f"{host.host}{BMC_SUFFIX}", "bmc", "bmc", f"BMC of {host.host}", terms, unknown)


def other_load(name: str, load: Load) -> LoadPower:
    return LoadPower(name, "load", load.role, load.summary, [term_of("declared", load.watts)])


def _card_terms(host: Host, cards: list[PlannedCard], unknown: list[str]) -> list[Term]:
    """Cards with the same figure are one term."""
    idle = host.power.card_idle if host.power is not None else None
    alike: dict[str, list[PlannedCard]] = {}
    for card in cards:
        if not card.loaded and idle is not None:
            alike.setdefault("idle", []).append(card)
        elif card.limit_watts is None:
            unknown.append(f"the limit of card {card.card} of {host.host}")
        else:
            alike.setdefault(card.how, []).append(card)
    terms = []
    for how, group in alike.items():
        if how == "idle" and idle is not None:
            each = term_of(_counted(len(group), "idle card"), idle)
            product = f"{len(group)} x {watts_text(idle.watts)}"
            terms.append(Term(each.name, each.draw.times(len(group)), each.standing, each.how, product))
        else:
            limit = group[0].limit_watts or 0.0
            name = _counted(len(group), "card")
            product = f"{len(group)} x {watts_text(limit)}"
            terms.append(Term(name, exactly(limit * len(group)), "derived", _HOW[group[0].basis], product))
    return terms


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _machine_terms(host: Host, cards: list[PlannedCard], unknown: list[str]) -> list[Term]:
    """The machine without its cards: under load, unless it has cards and none of them is loaded."""
    power = host.power
    rests = bool(cards) and not any(card.loaded for card in cards)
    load = power.under_load if power is not None else None
    rest = power.baseline if power is not None else None
    if rests and rest is not None:
        return [term_of("machine at rest", rest)]
    if load is None and not cards and rest is not None:
        return [term_of("machine", rest)]
    if load is not None:
        return [term_of("machine under load", load)]
    unknown.append(f"power.under_load of {host.host}")
    return []


def _loss_terms(loss: SupplyLoss, read: Draw) -> list[Term]:
    """What the supplies lose on top of what is read; unknown: nothing at best, all of it at worst."""
    if loss.reads == "ac":
        return []
    low, high = loss.low * read.low_watts, max(loss.low, loss.high) * read.high_watts
    shares = f"{100 * loss.low:g} to {100 * loss.high:g} %"
    if loss.reads == "unknown":
        how = f"0 W if the figures are AC, {shares} on top if they are DC: {loss.reason}"
        return [Term("supply loss", Draw(0.0, 0.0, high), "estimate", how)]
    middle = (loss.low + max(loss.low, loss.high)) / 2 * read.watts
    how = f"{shares} of what is read, which is DC: {loss.reason}"
    return [Term("supply loss", Draw(middle, low, high), "derived", how)]
