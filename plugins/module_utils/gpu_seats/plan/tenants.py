"""On-demand tenants and the seats they yield to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings import Finding, finding
from .claims import vram_claim
from .placement import workloads_by_card, yields_to

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ..declare.fleet import Fleet
    from ..declare.host import Host
    from .placement import Placed


def yielding_pairs(host: Host, placed: Collection[Placed]) -> list[tuple[Placed, Placed, str]]:
    """(tenant, seat, card): the tenant must be down while the seat runs there."""
    pairs = []
    for card, on_card in workloads_by_card(placed).items():
        gpu = host.gpus.get(card)
        seats = [] if gpu is None else [one for one in on_card if one.workload.state == "serving"]
        for seat in seats:
            claim = vram_claim(seat.workload, host.gpus[card].vram)
            tenants = [one for one in on_card if one.workload.state == "on_demand"]
            pairs += [
                (one, seat, card)
                for one in tenants
                if yields_to(one.workload, seat.name, claim, host.gpus[card].reserve)
            ]
    return pairs


def stepping_aside(
    host: Host, placed: Collection[Placed], starting: Callable[[Placed], bool], running: Callable[[Placed], bool]
) -> dict[tuple[str, str], str]:
    """(stack, tenant) -> why: tenants that run now and must stop before a seat that starts."""
    return {
        (tenant.stack, tenant.name): f"steps aside on card {card} for {seat.name}, to which it yields"
        for tenant, seat, card in yielding_pairs(host, placed)
        if starting(seat) and running(tenant)
    }


def tenant_findings(
    host: Host, placed: Collection[Placed], starting: Callable[[Placed], bool], running: Callable[[Placed], bool]
) -> list[Finding]:
    """Tenants that are asked for beside the seat they yield to, and tenants that a deployment stops."""
    found = []
    for tenant, seat, card in yielding_pairs(host, placed):
        if starting(tenant):
            text = f"{tenant.name} yields to {seat.name}, which serves on card {card} of {host.host}"
            text += _landing_text(tenant)
            found.append(finding("vram.tenant_must_yield", tenant.subject, text, {"card": card}))
        elif starting(seat) and running(tenant):
            text = f"{tenant.name} runs on card {card} of {host.host} and is stopped first: it yields to {seat.name}"
            text += _landing_text(tenant)
            found.append(finding("vram.tenant_steps_aside", tenant.subject, text, {"card": card, "seat": seat.name}))
    return found


def _landing_text(tenant: Placed) -> str:
    rule = tenant.workload.on_demand
    return f"; it lands on {rule.lands_on}" if rule is not None and rule.lands_on else ""


def landing_findings(fleet: Fleet, placed: Collection[Placed]) -> list[Finding]:
    """Landing spots that are not declared or have no room beside what serves there."""
    found = []
    for one in placed:
        rule = one.workload.on_demand
        if one.workload.state != "on_demand" or rule is None or rule.lands_on is None:
            continue
        host_name, _, card = rule.lands_on.partition("/")
        host = fleet.hosts.get(host_name)
        if host is None or card not in host.gpus:
            text = f"{one.name} is to land on {rule.lands_on}, which no host file declares"
            found.append(finding("vram.tenant_lands_nowhere", one.subject, text))
            continue
        own = fleet.stacks.get(one.stack)
        if own is not None and own.host == host_name and card in one.workload.gpus:
            text = f"{one.name} is to land on {rule.lands_on}, the card that it steps aside from"
            found.append(finding("vram.tenant_lands_nowhere", one.subject, text))
            continue
        gpu = host.gpus[card]
        serving = [w for _, _, w in fleet.workloads(host_name) if w.state == "serving" and card in w.gpus]
        taken = sum(vram_claim(workload, gpu.vram).mib or 0.0 for workload in serving)
        needed, left = vram_claim(one.workload, gpu.vram).mib or 0.0, gpu.vram - gpu.driver_reserve - taken
        if needed > left:
            text = (
                f"{one.name} is to land on {rule.lands_on} with {needed:,.0f} MiB, and {left:,.0f} MiB are left there"
            )
            found.append(finding("vram.tenant_lands_nowhere", one.subject, text))
    return found
