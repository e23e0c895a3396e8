"""What the task `seat_plan` returns: the plan of one host and what apply and verify need, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..declare.fleet import Fleet
from ..declare.problems import DeclarationError, Problem
from ..declare.seat import Seat
from ..declare.selection import Selection, select
from ..findings import Finding, finding_from_dict
from ..plan.deployment import DeploymentPlan, plan_deployment
from ..plan.names import container_name
from ..render.stack import RenderedStack
from ..report.finding_list import findings_text
from ..report.terminal import PLAIN
from .deployment import (
    apply_arguments,
    missing_source_findings,
    observation_arguments,
    rendered_stacks,
    retire_arguments,
)
from .play_fleet import seat_names
from .power_state import power_findings
from .standing import containers_by_name, standing_of, undeclared_findings

Intent = Literal["deploy", "status", "retire"]


@dataclass(frozen=True)
class SeatPlanRequest:
    """Arguments of the task. secrets: the variable gpu_seats_secrets, {stack: {NAME: value}}."""

    host: str
    seat: object
    intent: Intent = "deploy"
    pull: str = "missing"
    rollback: bool = False
    secrets: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SeatPlan:
    """plan: of this host. seats: one entry a selected workload (seat, state, cards, port, stack, container)."""

    plan: DeploymentPlan
    seats: list[dict[str, Any]]
    stacks: list[dict[str, Any]]
    checks: list[dict[str, Any]]
    findings: list[Finding]
    passed_over: Mapping[str, str]
    refused: bool = False
    rollback: bool = False

    def as_result(self) -> dict[str, Any]:
        """Task data: `failed` with every refusal in `msg`, else what apply and verify need."""
        result: dict[str, Any] = {
            "changed": False,
            "failed": self.refused,
            "seats": self.seats,
            "plan": self.plan.as_dict(),
            "findings": [one.as_dict() for one in self.findings],
            "passed_over": dict(self.passed_over),
            "rollback": self.rollback,
        }
        if self.refused:
            return {**result, "msg": refusal_text(self.plan.host, self.plan.refusals)}
        return {**result, "stacks": self.stacks, "checks": self.checks}


def seat_plan(
    fleet: Fleet, request: SeatPlanRequest, observe: Callable[[dict[str, Any]], Mapping[str, Any]]
) -> SeatPlan:
    """Plans what `request` asks for. observe: runs host_info with the given arguments.

    Raises DeclarationError for unknown seats before `observe` is called, RenderError for workloads that lack what
    their engine or their secrets need.
    """
    selection = select(fleet, seat_names(request.seat), retired=request.intent != "deploy")
    if request.intent == "retire":
        _refuse_unless_retired(fleet, selection)
    observed = observe(observation_arguments(fleet, request.host, selection))
    plan = plan_deployment(fleet, request.host, selection, observed, request.pull)
    missing = missing_source_findings(fleet, plan, observed)
    plan = replace(plan, refusals=[*plan.refusals, *missing])
    # a rollback brings back what was verified, whatever is wrong with what is declared now
    refused = request.intent == "deploy" and not request.rollback and any(one.fails for one in plan.refusals)
    rendered = [] if refused else rendered_stacks(fleet, plan, request.secrets)
    seats, standing = seats_of(fleet, selection, plan, observed)
    standing += undeclared_findings(observed, fleet.stacks)
    if request.intent == "status":
        standing += power_findings(fleet, request.host, (observed.get("gpus") or {}).get("cards"))
    resting = resting_containers(fleet, request.host, observed)
    checks = [check for stack in rendered for check in stack.checks]
    if request.intent == "status":
        # named in a status, an on-demand seat is looked at, not asked for
        checks = [check for check in checks if f"container:{check['container']}" not in resting]
    return SeatPlan(
        plan,
        seats,
        _stack_arguments(request, plan, rendered),
        checks,
        _findings(
            request,
            plan,
            _look_findings(plan, observed, checks, resting),
            standing,
        ),
        selection.passed_over,
        refused,
        request.rollback,
    )


def _stack_arguments(
    request: SeatPlanRequest, plan: DeploymentPlan, rendered: list[RenderedStack]
) -> list[dict[str, Any]]:
    if request.intent == "retire":
        by_name = {stack.stack: stack for stack in plan.stacks}
        return [retire_arguments(stack, by_name[stack.name]) for stack in rendered]
    return [apply_arguments(stack) for stack in rendered]


def _look_findings(
    plan: DeploymentPlan, observed: Mapping[str, Any], checks: list[dict[str, Any]], resting: Mapping[str, bool]
) -> Iterator[Finding]:
    """What the look at the host found and no other part of the run says again, newer or in better words.

    What the plan refuses for stands among the refusals. How the containers of `checks` run is verified after they
    were brought to the plan: what was wrong with them before would be told as an error of a seat that was cured.
    resting: see `resting_containers`; that they are down is as declared and no finding.
    """
    of_host = {one.code for one in plan.refusals if one.subject == f"host:{plan.host}"}
    verified = {f"container:{check['container']}" for check in checks}
    for one in (finding_from_dict(data) for data in observed.get("findings", ())):
        how_it_runs = one.subject in verified and one.code.startswith(("container.", "port."))
        at_rest = (
            one.code.startswith("container.") and one.subject in resting and (not one.fails or resting[one.subject])
        )
        if one.code not in of_host and not how_it_runs and not at_rest:
            yield one


def resting_containers(fleet: Fleet, host: str, observed: Mapping[str, Any]) -> dict[str, bool]:
    """``container:NAME`` of workloads that are down as declared -> whether nothing about how they ended matters.

    A dormant seat was stopped, with whatever exit code that came; an on-demand one that crashed is still told.
    """
    standing = containers_by_name(observed) or {}
    found = {}
    for _stack, name, workload in fleet.workloads(host):
        container = container_name(name, workload)
        status = (standing.get(container) or {}).get("status")
        down = status in (None, "exited", "created", "dead")
        if down and workload.state in ("dormant", "retired", "on_demand"):
            found[f"container:{container}"] = workload.state != "on_demand"
    return found


def _findings(
    request: SeatPlanRequest, plan: DeploymentPlan, seen: Iterable[Finding], standing: list[Finding]
) -> list[Finding]:
    """What is told beside the plan. To retire a seat nothing has to fit, so only the host's own state counts then.
    In a status the words of how it stands count, where a deploy would say the same."""
    if request.intent == "retire":
        return list(seen)
    if request.intent != "status":
        return [*plan.refusals, *plan.findings, *seen]
    told = {(one.code, one.subject) for one in standing}
    planned = [one for one in (*plan.refusals, *plan.findings) if (one.code, one.subject) not in told]
    return [*planned, *seen, *standing]


def seats_of(
    fleet: Fleet, selection: Selection, plan: DeploymentPlan, observed: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], list[Finding]]:
    """The table's first columns for every selected workload of the planned host, and how each stands there."""
    planned = {(stack.stack, one.name): one for stack in plan.stacks for one in stack.workloads.values()}
    containers = containers_by_name(observed)
    rows: list[dict[str, Any]] = []
    found: list[Finding] = []
    for one in selection.on(plan.host):
        workload = fleet.stacks[one.stack].workloads[one.workload]
        container = planned[(one.stack, one.workload)].container
        stands = standing_of(one.workload, workload.state, (containers or {}).get(container))
        ports = [workload.port] if isinstance(workload, Seat) else [port.host for port in workload.ports]
        rows.append(
            {
                "seat": one.workload,
                "state": workload.state,
                "cards": list(workload.gpus) if "gpus" in workload.model_fields_set else None,
                "port": ",".join(str(port) for port in ports if port),
                "stack": one.stack,
                "container": container,
                "is_seat": one.is_seat,
                "standing": stands.text if containers is not None else "not known, Docker does not answer",
            }
        )
        found += stands.findings
    return rows, found


def _refuse_unless_retired(fleet: Fleet, selection: Selection) -> None:
    problems = [
        Problem(
            f"stacks/{one.stack}/stack.yml",
            None,
            f"{one.workload}.state",
            fleet.stacks[one.stack].workloads[one.workload].state,
            "is not retired, so nothing of it is taken away",
            "retired",
            "set its state to retired with a reason first: the declaration says what is, the verb follows",
        )
        for one in selection.selected
        if fleet.stacks[one.stack].workloads[one.workload].state != "retired"
    ]
    if problems:
        raise DeclarationError(problems)


def refusal_text(host: str, refusals: list[Finding]) -> str:
    """Why nothing was touched, one refusal after the other."""
    return f"refused, nothing was touched on {host}:\n" + findings_text(refusals, PLAIN)
