"""What one deployment does to one host: which containers run, what each card holds, what is refused and why.

Pure: it reads the declarations and, when deploying, what ``host_info`` observed. Where `refusals` is not empty,
nothing is touched.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ..findings import Finding, by_severity, finding
from .fleet_plan import host_findings, placed_on
from .gpus import device_ids, identity_findings, observed_card, unseen_findings
from .host_ram import RamBudget, free_ram_findings, host_ram_claim, ram_budget
from .measured import measured_findings
from .names import project_aliases
from .observed import Observed, observed_host
from .placement import CardBudget, Placed, card_budgets
from .ports import is_own, taken_port_findings
from .power import admission_findings
from .preflight import address_findings, disk_findings, docker_findings, image_findings
from .run_states import StackPlan, WorkloadPlan, renderable_plans, stack_plan, with_stops
from .start_order import start_order
from .tenants import stepping_aside, tenant_findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..declare.fleet import Fleet
    from ..declare.host import Host
    from ..declare.selection import Selection

__all__ = ["DeploymentPlan", "StackPlan", "WorkloadPlan", "plan_deployment"]


@dataclass(frozen=True)
class DeploymentPlan:
    """The plan of one host.

    device_ids: card key -> what Docker gets, the UUID or the index as text. start_order: ``stack/workload`` of what
    starts; those on one card start one after the other. refusals: errors that stop the deployment. findings: all
    others that concern it.
    """

    host: str
    stacks: list[StackPlan]
    cards: list[CardBudget]
    device_ids: dict[str, str]
    host_ram: RamBudget
    start_order: list[str]
    refusals: list[Finding] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {
            "host": self.host,
            "stacks": [asdict(stack) for stack in self.stacks],
            "cards": [card.as_dict() for card in self.cards],
            "device_ids": dict(self.device_ids),
            "host_ram": self.host_ram.as_dict(),
            "start_order": list(self.start_order),
            "refusals": [one.as_dict() for one in self.refusals],
            "findings": [one.as_dict() for one in self.findings],
        }


@dataclass(frozen=True)
class _Situation:
    """Everything that the parts of one plan share."""

    fleet: Fleet
    host: Host
    placed: list[Placed]
    selected: set[tuple[str, str]]
    starting: set[tuple[str, str]]
    running: set[tuple[str, str]]
    observed: Observed | None

    def starts(self, one: Placed) -> bool:
        return (one.stack, one.name) in self.starting

    def runs(self, one: Placed) -> bool:
        return (one.stack, one.name) in self.running

    @property
    def started(self) -> list[Placed]:
        return [one for one in self.placed if self.starts(one)]


def plan_deployment(
    fleet: Fleet,
    host_name: str,
    selection: Selection,
    observed: Mapping[str, Any] | None = None,
    pull: str = "missing",
) -> DeploymentPlan:
    """Plan `selection` on `host_name`.

    observed: what ``host_info`` returned, None offline. pull: never refuses images that are not on the host. Raises
    KeyError for a host that is not declared.
    """
    host = fleet.hosts[host_name]
    seen = observed_host(observed) if observed else None
    chosen = list(dict.fromkeys(one.stack for one in selection.on(host_name)))
    stacks, incomplete = renderable_plans(fleet, [stack_plan(fleet.stacks[name], host, selection) for name in chosen])
    situation = _situation(fleet, host, selection, stacks, seen)
    stops = stepping_aside(host, situation.placed, situation.starts, situation.runs)
    stacks = with_stops(fleet, host, stacks, stops)
    cards = _cards(situation, set(stops))
    found = [*incomplete, *_declared_findings(situation)]
    found += tenant_findings(host, situation.placed, situation.starts, situation.runs)
    starting = {card for one in situation.started for card in one.workload.gpus}
    found += admission_findings(fleet, host, starting, {one.card for one in cards if one.after}, seen)
    if seen is not None:
        found += _observed_findings(situation, seen, stacks, set(stops), cards, pull)
    ordered = by_severity({(one.code, one.subject, one.message): one for one in found}.values())
    after = [one for one in situation.placed if one.workload.state == "serving" or situation.starts(one)]
    return DeploymentPlan(
        host_name,
        stacks,
        cards,
        device_ids(host),
        ram_budget(host, after, seen.memory_available_mib if seen else None),
        start_order(host, situation.started),
        [one for one in ordered if one.fails],
        [one for one in ordered if not one.fails],
    )


def _situation(
    fleet: Fleet, host: Host, selection: Selection, stacks: Iterable[StackPlan], observed: Observed | None
) -> _Situation:
    placed = placed_on(fleet, host.host)
    running = {(one.stack, one.name) for one in placed if _running_container(fleet, one, observed) is not None}
    return _Situation(
        fleet,
        host,
        placed,
        {(one.stack, one.workload) for one in selection.on(host.host)},
        {(plan.stack, one.name) for plan in stacks for one in plan.workloads.values() if one.run == "up"},
        running,
        observed,
    )


def _running_container(fleet: Fleet, one: Placed, observed: Observed | None) -> str | None:
    """Name of the workload's own container that runs now; None where none does or nobody looked."""
    stack = fleet.stacks[one.stack]
    for container in observed.containers if observed is not None else ():
        if container.running and is_own(container, stack, one.name, one.workload):
            return container.name
    return None


def _cards(situation: _Situation, stopped: set[tuple[str, str]]) -> list[CardBudget]:
    """Budgets of all cards, with the free memory where nvidia-smi was asked."""
    seen = situation.observed
    free: dict[str, float | None] = {}
    for card, gpu in situation.host.gpus.items() if seen is not None else ():
        listed = observed_card(gpu, card, seen.cards or ()) if seen is not None else None
        free[card] = listed.free_mib if listed is not None else None

    def stays(one: Placed) -> bool:
        return situation.runs(one) and (one.stack, one.name) not in stopped

    running: Callable[[Placed], bool] | None = situation.runs if seen is not None else None
    return card_budgets(situation.host, situation.placed, situation.starts, running, stays, free)


def _declared_findings(situation: _Situation) -> list[Finding]:
    """Findings of the declarations that concern this deployment: its workloads, its cards, the host's RAM.

    A neighbour whose claim nobody knows concerns it too: the card's sum is not known without it.
    A fault of another card or stack is lint's business and does not stop a deployment that has no part in it.
    """
    host = situation.host
    chosen = [one for one in situation.placed if (one.stack, one.name) in situation.selected]
    cards = {card for one in situation.started for card in one.workload.gpus}
    subjects = {f"host:{host.host}/gpu:{card}" for card in cards}
    subjects |= {one.subject for one in chosen} | {f"stack:{one.stack}" for one in chosen}
    if any(host_ram_claim(one.workload) for one in situation.started):
        subjects.add(f"host:{host.host}")
    neighbours = {one.subject for one in situation.placed if cards & set(one.workload.gpus)}
    return [
        one
        for one in host_findings(situation.fleet, host.host, situation.placed)
        if subjects & {one.subject, *one.evidence.get("concerns", ())}
        or (one.code == "vram.claim_unknown" and one.subject in neighbours)
    ]


def _observed_findings(
    situation: _Situation,
    seen: Observed,
    stacks: Iterable[StackPlan],
    stopped: set[tuple[str, str]],
    cards: list[CardBudget],
    pull: str,
) -> list[Finding]:
    """What the host itself says against the plan; without Docker nothing more is asked."""
    host, fleet = situation.host, situation.fleet
    found = [*docker_findings(host.host, seen), *disk_findings(host.host, seen)]
    if any(one.fails for one in found):
        return found
    found += address_findings(host.host, host.address, seen)
    names = {(one.stack, one.name): _running_container(fleet, one, seen) for one in situation.placed}
    leaving = {name for key, name in names.items() if name and (key in situation.starting or key in stopped)}
    removed = _without_workload(fleet, stacks, seen)
    leaving |= removed
    aside = removed | {name for key, name in names.items() if name and key in stopped}
    for plan in stacks:
        starting = [one.name for one in plan.workloads.values() if one.run == "up"]
        found += taken_port_findings(fleet.stacks[plan.stack], starting, seen, aside)
        found += _spelling_findings(fleet, plan, seen)
    wanted = {one.subject: one.workload.image for one in situation.started if one.workload.image}
    found += image_findings(wanted, seen, pull)
    used = {card for one in situation.started for card in one.workload.gpus}
    if seen.cards is not None:
        found += identity_findings(host, used, seen.cards)
    else:
        found += unseen_findings(host, used, seen.cards_reason)
    own = removed | {name for name in names.values() if name}
    found += measured_findings(host, situation.started, seen, leaving, own, situation.runs, cards)
    new = [one for one in situation.started if not situation.runs(one)]
    return found + free_ram_findings(host, new, seen.memory_total_mib, seen.memory_available_mib)


def _without_workload(fleet: Fleet, stacks: Iterable[StackPlan], seen: Observed) -> frozenset[str]:
    """Names of containers that go before anything starts: of workloads that a stack of this plan no longer has."""
    workloads = {plan.stack: fleet.stacks[plan.stack].workloads for plan in stacks}
    return frozenset(
        one.name
        for one in seen.containers
        if one.stack_label in workloads and one.workload_label not in workloads[one.stack_label]
    )


def _spelling_findings(fleet: Fleet, plan: StackPlan, seen: Observed) -> list[Finding]:
    """The same stack running under another project name: a second copy would want the same ports."""
    aliases = set(project_aliases(fleet.stacks[plan.stack]))
    return [
        finding(
            "compose.project_other_spelling",
            f"container:{one.name}",
            f"stack {plan.stack} is Compose project {plan.project}, and container {one.name} of it exists under "
            f"project {one.project}",
            {"project": one.project, "service": one.service},
            severity="warning",
        )
        for one in seen.containers
        if one.project in aliases
    ]
