"""Whether load may be put on cards of a host: asked before a deployment, a bench or a recovery starts anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...findings import Finding, finding
from ..gpus import observed_card
from .checks import LIMIT_CODES
from .figures import watts_text
from .site import site_power

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ...declare.fleet import Fleet
    from ...declare.host import Host
    from ..observed import Observed

_LOAD_CODES = ("power.load_unknown", "power.not_on_a_circuit")


def admission_findings(
    fleet: Fleet,
    host: Host,
    starting_cards: Collection[str],
    running_cards: Collection[str],
    observed: Observed | None = None,
) -> list[Finding]:
    """What speaks against loading `starting_cards` while `running_cards` go on; what fails refuses it.

    Cards of other hosts count as loaded where a serving workload is declared on them. A card that enforces more than
    its cap counts with what it enforces, one whose limit can't be read with its stock limit. Nothing where the site
    declares no circuits, or where no card starts.
    """
    site = fleet.sites.get(host.site)
    if site is None or not site.circuits or not starting_cards:
        return []
    loaded = {name: serving_cards(fleet, name) for name in fleet.hosts}
    loaded[host.host] = {*starting_cards, *running_cards}
    unread = unread_limits(host, observed)
    limits = {**unread, **enforced_limits(host, observed)}
    power = site_power(fleet, host.site, loaded=loaded, limits={host.host: limits})
    above = [one for one in power.devices if one.circuit.in_use and host.host in one.loads]
    devices = {f"site:{host.site}/circuit:{one.name}" for one in above}
    subjects = {f"{kind}:{load}" for one in above for load in one.loads for kind in ("host", "load")}
    subjects.add(f"host:{host.host}")
    found = [
        one
        for one in power.findings
        if (one.code in LIMIT_CODES and one.subject in devices) or (one.code in _LOAD_CODES and one.subject in subjects)
    ]
    unsure = {card: watts for card, watts in unread.items() if card in loaded[host.host]}
    return [*found, *_unread_findings(host, unsure), *undeclared_card_findings(host, observed)]


def serving_cards(fleet: Fleet, host_name: str) -> set[str]:
    """Cards of the host with a workload that is always up."""
    return {
        card for _, _, workload in fleet.workloads(host_name) if workload.state == "serving" for card in workload.gpus
    }


def enforced_limits(host: Host, observed: Observed | None) -> dict[str, float]:
    """Card -> the limit that it enforces now, where the host told."""
    cards = observed.cards if observed is not None and observed.cards is not None else []
    listed = {card: observed_card(gpu, card, cards) for card, gpu in host.gpus.items()}
    return {card: one.limit_watts for card, one in listed.items() if one is not None and one.limit_watts is not None}


def unread_limits(host: Host, observed: Observed | None) -> dict[str, float]:
    """Card -> its stock limit, of the cards that are there and give no limit: whether their cap holds nobody knows."""
    found = {}
    for card, gpu in host.gpus.items() if observed is not None and observed.cards is not None else ():
        listed = observed_card(gpu, card, observed.cards or ()) if observed is not None else None
        if listed is not None and listed.limit_watts is None and gpu.power_limits is not None:
            found[card] = gpu.power_limits.default
    return found


def _unread_findings(host: Host, cards: Mapping[str, float]) -> Iterator[Finding]:
    """A cap that can't be read back stops nothing by itself; the circuit is counted as if it did not hold."""
    caps = host.power.caps if host.power is not None else None
    for card, watts in cards.items():
        cap = caps.cards.get(card, caps.limit) if caps is not None else watts
        if cap < watts:
            text = (
                f"card {card} of {host.host} gives no power limit, so whether its cap of {watts_text(cap)} holds is "
                f"not known: it counts with its stock limit, {watts_text(watts)}"
            )
            facts = {"card": card, "cap_watts": cap, "counted_watts": watts}
            yield finding("power.cap_unreadable", f"host:{host.host}/gpu:{card}", text, facts, severity="warning")


def undeclared_card_findings(host: Host, observed: Observed | None) -> list[Finding]:
    """Cards on the host beyond those that are declared: whatever loads them, no sum counts it."""
    if observed is None or not observed.cards:
        return []
    known = [observed_card(gpu, card, observed.cards) for card, gpu in host.gpus.items()]
    others = [str(one.uuid or one.bus_id or one.index) for one in observed.cards if one not in known]
    if len(observed.cards) <= len(host.gpus) or not others:
        return []  # an exchanged card is another finding, and takes the place of a counted one
    text = (
        f"{host.host} shows {len(observed.cards)} cards and declares {len(host.gpus)}: what {', '.join(others)} takes "
        "is counted nowhere"
    )
    remedy = "Declare it under gpus of the host file, with its power_limits, and look at the site's circuits again."
    return [finding("power.load_unknown", f"host:{host.host}", text, {"cards": others}, remedy)]
