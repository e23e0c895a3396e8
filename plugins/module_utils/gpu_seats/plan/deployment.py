"""What one deployment does to one host: which containers run, what each card holds, what is refused and why.

Pure: it reads the declarations and, when deploying, what ``host_info`` observed. Where `refusals` is not empty,
nothing is touched.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..declare.seat import Seat
from ..findings import Finding, by_severity
from .names import container_name, project_aliases, project_name
from .placement import CardBudget, Placed, card_budgets, placement_findings

if TYPE_CHECKING:
    from ..declare.fleet import Fleet
    from ..declare.host import Host
    from ..declare.selection import Selection
    from ..declare.stack import Stack

Run = Literal["up", "stopped", "keep", "absent"]


@dataclass(frozen=True)
class WorkloadPlan:
    """What becomes of one container.

    run: up (made and started), stopped (on disk, not running), keep (recreated only if it runs and differs, never
    started), absent (not in the file). why: the reason for the operator. selected: asked for in this deployment.
    """

    name: str
    run: Run
    why: str
    is_seat: bool
    container: str
    cards: list[str]
    selected: bool


@dataclass(frozen=True)
class StackPlan:
    """One Compose project. aliases: other spellings under which an old project of this stack may run."""

    stack: str
    project: str
    aliases: list[str]
    directory: str
    workloads: dict[str, WorkloadPlan]


@dataclass(frozen=True)
class DeploymentPlan:
    """The plan of one host. `device_ids` maps card keys to what Docker gets: the UUID, or the index as text."""

    host: str
    stacks: list[StackPlan]
    cards: list[CardBudget]
    device_ids: dict[str, str]
    refusals: list[Finding] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {
            "host": self.host,
            "stacks": [asdict(stack) for stack in self.stacks],
            "cards": [card.as_dict() for card in self.cards],
            "device_ids": dict(self.device_ids),
            "refusals": [one.as_dict() for one in self.refusals],
            "findings": [one.as_dict() for one in self.findings],
        }


def plan_deployment(
    fleet: Fleet, host_name: str, selection: Selection, observed: dict[str, Any] | None = None
) -> DeploymentPlan:
    """Plan `selection` on `host_name`. Raises KeyError for a host that is not declared."""
    host = fleet.hosts[host_name]
    stacks = [stack_plan(fleet.stacks[name], host, selection) for name in _stacks_on(selection, host_name)]
    starting = {(plan.stack, one.name) for plan in stacks for one in plan.workloads.values() if one.run == "up"}
    placed = [Placed(stack.stack, name, workload) for stack, name, workload in fleet.workloads(host_name)]
    cards = card_budgets(host, placed, lambda one: (one.stack, one.name) in starting)
    found = by_severity(placement_findings(host, placed))
    return DeploymentPlan(
        host_name,
        stacks,
        cards,
        {card: gpu.uuid or card for card, gpu in host.gpus.items()},
        [one for one in found if one.fails],
        [one for one in found if not one.fails],
    )


def _stacks_on(selection: Selection, host_name: str) -> list[str]:
    return list(dict.fromkeys(one.stack for one in selection.on(host_name)))


def stack_plan(stack: Stack, host: Host, selection: Selection) -> StackPlan:
    """The stack with what becomes of each of its workloads."""
    plans = {}
    for name, workload in stack.workloads.items():
        selected = selection.find(stack.stack, name)
        run, why = run_state(workload.state, selected is not None, bool(selected and selected.named))
        plans[name] = WorkloadPlan(
            name,
            run,
            why,
            isinstance(workload, Seat),
            container_name(name, workload),
            list(workload.gpus),
            selected is not None,
        )
    directory = f"{host.paths.compose}/{stack.stack}"
    return StackPlan(stack.stack, project_name(stack), project_aliases(stack), directory, plans)


def run_state(state: str, selected: bool, named: bool) -> tuple[Run, str]:
    """What becomes of a workload in `state`; `named`: asked for by its own or its stack's name, not by ``all``."""
    if state == "retired":
        return "absent", "retired"
    if not selected:
        return "keep", "not asked for: left as it is"
    if state == "dormant":
        return "stopped", "dormant: its files are on disk, its container stays stopped"
    if state == "on_demand" and not named:
        return "keep", "on demand: started only when named"
    return ("up", "serving") if state == "serving" else ("up", "on demand, asked for by name")
