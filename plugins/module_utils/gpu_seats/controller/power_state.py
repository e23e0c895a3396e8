"""Cards as their host shows them, beside the caps that are declared for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..apply.gpu_limits.refusals import cap_holds
from ..declare.fleet import Fleet
from ..declare.host import Gpu, Host
from ..findings import Finding, finding
from ..plan.gpus import listed_card
from ..plan.power import site_power
from ..plan.power.caps import DeclaredCap, declared_caps
from ..plan.power.checks import LIMIT_CODES

SeenCards = Sequence[Mapping[str, Any]]
"""Cards of a `host_info` or `power_look` result, as data."""


def seen_card(key: str, gpu: Gpu, cards: SeenCards) -> Mapping[str, Any] | None:
    return listed_card(gpu, key, cards, lambda one: (one.get("uuid"), one.get("bus_id"), one.get("index")))


def enforced_watts(card: Mapping[str, Any]) -> float | None:
    """The limit that holds now; what was asked for where the driver does not tell the enforced one."""
    enforced = card.get("enforced_power_limit_watts")
    return card.get("power_limit_watts") if enforced is None else enforced


def cap_findings(host: Host, cards: SeenCards) -> list[Finding]:
    """Cards whose limit is not the declared one or can't be read. A card that is not listed has its own finding."""
    found = []
    for key, cap in declared_caps(host).items():
        seen = seen_card(key, host.gpus[key], cards)
        if seen is not None:
            found += _of_card(f"host:{host.host}/gpu:{key}", host.host, cap, seen)
    return found


def _of_card(subject: str, host: str, cap: DeclaredCap, seen: Mapping[str, Any]) -> list[Finding]:
    limit = enforced_watts(seen)
    facts = {"uuid": seen.get("uuid"), "limit_watts": limit, "cap_watts": cap.limit_watts}
    if limit is None:
        unknown = seen.get("unknown") or {}
        why = unknown.get("enforced_power_limit_watts") or unknown.get("power_limit_watts") or "no value"
        text = f"card {cap.card} of {host} is capped at {cap.limit_watts:g} W, and its limit can't be read ({why})"
        return [finding("power.cap_unreadable", subject, text, facts)]
    if is_kept(cap, seen):
        return []
    if limit > cap.limit_watts:
        text = f"card {cap.card} of {host} may draw {limit:g} W, and its cap is {cap.limit_watts:g} W"
        return [finding("power.cap_lost", subject, text, facts)]
    text = f"card {cap.card} of {host} is limited to {limit:g} W, below its cap of {cap.limit_watts:g} W"
    return [finding("power.cap_lost", subject, text, facts, severity="warning")]


def is_kept(cap: DeclaredCap, seen: Mapping[str, Any]) -> bool:
    return cap_holds(cap.limit_watts, seen.get("enforced_power_limit_watts"), seen.get("power_limit_watts"))


def observed_limits(host: Host, cards: SeenCards) -> dict[str, float]:
    """Card key -> the limit that holds now, of the cards that tell it."""
    limits = {}
    for key, gpu in host.gpus.items():
        seen = seen_card(key, gpu, cards)
        limit = enforced_watts(seen) if seen is not None else None
        if limit is not None:
            limits[key] = limit
    return limits


def counted_limits(host: Host, told: Mapping[str, float]) -> dict[str, float]:
    """`told`, and the stock limit of each card whose limit nobody could read: whether its cap holds is not known."""
    stock = {key: gpu.power_limits.default for key, gpu in host.gpus.items() if gpu.power_limits is not None}
    return {**stock, **told}


def power_findings(fleet: Fleet, host_name: str, cards: SeenCards | None) -> list[Finding]:
    """What a look at one host says about watts: lost caps, and devices of its site that these limits overload.

    cards None: they could not be seen, which has a finding of its own.
    """
    host = fleet.hosts[host_name]
    if not host.gpus or cards is None:
        return []
    limits = counted_limits(host, observed_limits(host, cards))
    site = site_power(fleet, host.site, limits={host_name: limits})
    return [*cap_findings(host, cards), *(one for one in site.findings if one.code in LIMIT_CODES)]
