"""What becomes of each container of a stack: up, stopped, kept as it is, or absent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ..declare.seat import Seat
from ..findings import Finding, finding
from .names import container_name, project_aliases, project_name
from .seat_rules import missing_facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..declare.fleet import Fleet
    from ..declare.host import Host
    from ..declare.selection import Selection
    from ..declare.stack import Stack

Run = Literal["up", "stopped", "keep", "leave", "absent"]


@dataclass(frozen=True)
class WorkloadPlan:
    """What becomes of one container.

    run: up (made and started), stopped (on disk, not running), keep (recreated only if it runs and differs, never
    started), leave (nothing is done to it, whatever it is), absent (not in the file). why: the reason for the
    operator. selected: asked for in this deployment.
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


def run_state(state: str, selected: bool, named: bool) -> tuple[Run, str]:
    """What becomes of a workload in `state`; `named`: asked for by its own or its stack's name, not by ``all``."""
    if state == "retired":
        return "absent", "retired"
    if not selected:
        return "leave", "not asked for: left as it is"
    if state == "dormant":
        return "stopped", "dormant: its files are on disk, its container stays stopped"
    if state == "on_demand" and not named:
        return "keep", "on demand: started only when named"
    return ("up", "serving") if state == "serving" else ("up", "on demand, asked for by name")


def stack_plan(stack: Stack, host: Host, selection: Selection | None) -> StackPlan:
    """The stack with what becomes of each of its workloads; without a selection all are kept as they are."""
    plans = {}
    for name, workload in stack.workloads.items():
        selected = selection.find(stack.stack, name) if selection is not None else None
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


def renderable_plans(fleet: Fleet, plans: Iterable[StackPlan]) -> tuple[list[StackPlan], list[Finding]]:
    """Plans that can be rendered. A stack of dormant workloads that are not fully declared is left alone.

    A stack with something that runs beside such a workload is an error: its file would lose that service.
    """
    kept, found = [], []
    for plan in plans:
        workloads = fleet.stacks[plan.stack].workloads
        present = [name for name, one in plan.workloads.items() if one.run != "absent"]
        unknown = [name for name in present if missing_facts(workloads[name])]
        if not unknown or any(workloads[name].state in ("serving", "on_demand") for name in unknown):
            kept.append(plan)  # a running workload without its facts is refused by its own rule
        elif len(unknown) < len(present):
            kept.append(plan)
            text = f"stack {plan.stack} cannot be written: {', '.join(unknown)} would be lost from its file"
            found.append(finding("seat.stack_incomplete", f"stack:{plan.stack}", text))
    return kept, found


def with_stops(
    fleet: Fleet, host: Host, plans: list[StackPlan], stops: Mapping[tuple[str, str], str]
) -> list[StackPlan]:
    """The plans with `stops` ((stack, workload) -> why) put before them, so that cards are free when seats start."""
    by_stack = {plan.stack: plan for plan in plans}
    for (stack, name), why in stops.items():
        plan = by_stack.get(stack) or stack_plan(fleet.stacks[stack], host, None)
        workloads = {**plan.workloads, name: replace(plan.workloads[name], run="stopped", why=why)}
        by_stack[stack] = replace(plan, workloads=workloads)
    first = {stack for stack, _ in stops}
    return sorted(by_stack.values(), key=lambda plan: plan.stack not in first)
