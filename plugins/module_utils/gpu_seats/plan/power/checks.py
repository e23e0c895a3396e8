"""Findings about one site: devices over their limits, loads that nobody counts, caps, and shared fate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...catalogue import CATALOGUE
from ...findings import Finding, finding
from .fate import sum_text
from .figures import range_text, share_text, watts_text

if TYPE_CHECKING:
    from ...declare.fleet import Fleet
    from .devices import DevicePower
    from .fate import SharedFate
    from .loads import LoadPower
    from .situation import PlannedCard
    from .view import View

_CODES = {
    "over_absolute": "power.over_absolute",
    "over_continuous": "power.over_continuous",
    "over_possible": "power.over_possible",
}

LIMIT_CODES = tuple(_CODES.values())
"""Findings about a device that carries, or may carry, more than it should."""


def device_subject(view: View, name: str) -> str:
    return f"site:{view.site.site}/circuit:{name}"


def load_subject(load: LoadPower) -> str:
    return f"host:{load.name}" if load.kind == "host" else f"load:{load.name}"


def limit_findings(view: View, devices: list[DevicePower]) -> Iterator[Finding]:
    """One for each device in use whose worst case, or its high end, is above what it may carry."""
    for device in devices:
        code = _CODES.get(device.verdict)
        if code is not None and device.circuit.in_use:
            text = f"{device.name} ({device.circuit.kind}, {device.rating_text}): {_over_text(view, device)}"
            remedy = CATALOGUE[code].remedy.replace("SITE", view.site.site)
            yield finding(code, device_subject(view, device.name), text, _evidence(device), remedy)


def _over_text(view: View, device: DevicePower) -> str:
    told = sum_text(view, device)
    if device.verdict == "over_possible":
        ranges = [f"{term.name} {range_text(term.draw)}" for term in device.terms]
        over = device.draw.high_watts - (device.continuous_watts or 0.0)
        return (
            f"{told} fits, but the high end does not: {' + '.join(ranges)} is up to "
            f"{watts_text(device.draw.high_watts)}; over by {watts_text(over)}"
        )
    absolute = device.verdict == "over_absolute"
    limit = (device.absolute_watts if absolute else device.continuous_watts) or 0.0
    return f"{told}; over {watts_text(limit)} by {watts_text(device.draw.watts - limit)}"


def _evidence(device: DevicePower) -> dict[str, Any]:
    return {
        "terms": {term.name: term.draw.watts for term in device.terms},
        "nominal_watts": device.draw.watts,
        "high_watts": device.draw.high_watts,
        "continuous_watts": device.continuous_watts,
        "absolute_watts": device.absolute_watts,
    }


def unknown_findings(view: View) -> Iterator[Finding]:
    """Loads below a device in use whose watts nobody declared."""
    for name, load in view.loads.items():
        if load.unknown and name in view.tree.fed:
            above = view.tree.above(name)
            text = (
                f"{name} hangs below {', '.join(above)} of site {view.site.site}, and what it takes is not declared: "
                f"{', '.join(load.unknown)}"
            )
            yield finding("power.load_unknown", load_subject(load), text, {"devices": above, "unknown": load.unknown})


def unfed_findings(view: View) -> Iterator[Finding]:
    """Loads that hang below no device in use, where the site declares devices at all."""
    if not view.tree.circuits:
        return
    for name, load in view.loads.items():
        if name not in view.tree.fed:
            idle = [one for one, circuit in view.tree.circuits.items() if name in (*circuit.feeds, *circuit.bypass)]
            why = f"only below {', '.join(idle)}, which is out of use" if idle else "below none of its devices"
            text = f"{name} hangs {why}: no device of site {view.site.site} counts it"
            yield finding("power.not_on_a_circuit", load_subject(load), text, {"devices": idle})


def cap_findings(view: View) -> Iterator[Finding]:
    """Cards that are to run above or below what their host declares of them; several alike are one finding."""
    for name, load in view.loads.items():
        alike: dict[tuple[str, str], list[str]] = {}
        for card in load.cards:
            for fault in _cap_faults(card):
                alike.setdefault(fault, []).append(card.card)
        for (code, text), cards in alike.items():
            which = f"card {cards[0]}" if len(cards) == 1 else f"cards {', '.join(cards)}"
            yield finding(code, f"host:{name}", f"{which} of {name}: {text}", {"cards": cards})


def _cap_faults(card: PlannedCard) -> Iterator[tuple[str, str]]:
    limit = card.limit_watts
    if limit is None or card.basis not in ("cap", "asked limit"):
        return
    if card.ceiling_watts is not None and limit > card.ceiling_watts:
        yield "power.cap_above_ceiling", f"{card.how} is above the ceiling {watts_text(card.ceiling_watts)}"
    if card.stock_watts is not None and limit > card.stock_watts and not card.above_stock:
        text = f"{card.how} is above the stock limit {watts_text(card.stock_watts)} without a dated reason"
        yield "power.cap_above_stock", text
    if card.max_watts is not None and limit > card.max_watts:
        yield (
            "power.cap_above_ceiling",
            f"{card.how} is above {watts_text(card.max_watts)}, the most that the card takes",
        )
    if card.min_watts is not None and limit < card.min_watts:
        yield "power.cap_below_min", f"{card.how} is below {watts_text(card.min_watts)}, the least that the card takes"


def claim_findings(fleet: Fleet, view: View) -> Iterator[Finding]:
    """A circuit that a host claims alone and that feeds something else too."""
    for name, host in fleet.hosts.items():
        claimed = host.power.circuit_alone if host.power is not None else None
        if host.site != view.site.site or claimed is None or claimed not in view.tree.used:
            continue
        others = [load for load in view.tree.loads(claimed) if load not in (name, f"{name}/bmc") and load in view.loads]
        if others:
            text = f"{name} claims {claimed} alone, and {', '.join(others)} hangs below it too"
            yield finding("power.circuit_claimed_twice", device_subject(view, claimed), text, {"others": others})


def recovery_findings(
    view: View, fates: list[SharedFate], first: dict[str, Any] | None, proposal: dict[str, Any] | None
) -> Iterator[Finding]:
    """One for each set of devices that take the same way in along; the one that gives first is named first."""
    alike: dict[tuple[Any, ...], list[SharedFate]] = {}
    for fate in fates:
        if fate.locks_out:
            alike.setdefault((*fate.overloads, *fate.ways_in), []).append(fate)
    leading = first["device"] if first is not None else ""
    for group in alike.values():
        names = sorted((fate.device for fate in group), key=lambda name: name != leading)
        ways = " and ".join(way.text for way in group[0].ways_in)
        loads = " and ".join(group[0].overloads)
        gives = f"{names[0]} gives first, and" if names[0] == leading else f"when {names[0]} gives,"
        beside = f"; the same holds for {', '.join(names[1:])}" if names[1:] else ""
        text = (
            f"{gives} {ways} go dark together with {loads}, whose load can open it: nobody can then look at {loads} or "
            f"power-cycle it from outside{beside}"
        )
        yield finding(
            "power.correlated_recovery",
            device_subject(view, names[0]),
            text,
            {"devices": names, "ways_in": [way.text for way in group[0].ways_in], "overloads": group[0].overloads},
            proposal["text"] if proposal is not None and proposal["separates"] else "",
        )


def proposal_text(devices: list[DevicePower], left_out: list[str]) -> str:
    """The proposed feed in one sentence, with the budget of each of its devices. left_out: loads that it lacks."""
    parts = []
    for device in devices:
        if device.circuit.in_use and device.continuous_watts is not None:
            fed = ", ".join(device.circuit.feeds)
            share = share_text(device.share_of_continuous)
            budget = f"{watts_text(device.draw.watts)} of {watts_text(device.continuous_watts)}, {share}"
            parts.append(f"{device.name} feeds {fed} ({budget})")
    missing = f"; it feeds no {', no '.join(left_out)}, so find a place for that first" if left_out else ""
    return f"Separate them as proposed: {'; '.join(parts)}{missing}."
