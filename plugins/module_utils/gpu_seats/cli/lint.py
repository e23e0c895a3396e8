"""Check every declaration: files, names, ports, placement, watts, engine options, and whether all of it renders.

Writes nothing. Exits 2 when a file cannot be read as a declaration, 1 when a finding would refuse a deployment.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..report.terminal import Terminal
from .answer import FINDINGS, FINE, Answer
from .declarations import add_project_arguments, chosen_project, load_declarations

if TYPE_CHECKING:
    from ..declare.fleet import Fleet
    from ..findings import Finding
    from ..plan.deployment import DeploymentPlan, StackPlan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_project_arguments(parser)


def run(chosen: argparse.Namespace, terminal: Terminal) -> Answer:
    from ..plan.fleet_plan import plan_fleet
    from ..plan.power.literal_watts import literal_watts_findings
    from ..plan.power.site import fleet_power_findings
    from ..report.finding_list import count_text, distinct, findings_text
    from ..report.findings_json import findings_document

    fleet = load_declarations(chosen)
    literal = literal_watts_findings(fleet, chosen_project(chosen))
    found = distinct([*plan_fleet(fleet), *fleet_power_findings(fleet), *literal, *unrendered(fleet)])
    counted = {"hosts": len(fleet.hosts), "stacks": len(fleet.stacks), "seats": sum(1 for _ in fleet.seats())}
    text = findings_text(found, terminal)
    sizes = ", ".join(f"{number} {what if number != 1 else what[:-1]}" for what, number in counted.items())
    text += f"{sizes}: {count_text(found)}\n"
    failed = any(one.fails for one in found)
    return Answer(text, {"checked": counted, **findings_document(found)}, FINDINGS if failed else FINE)


def unrendered(fleet: Fleet) -> Iterator[Finding]:
    """A finding for each stack that the renderer refuses, as a deployment of everything would meet it."""
    from ..declare.selection import select
    from ..findings import finding
    from ..plan.deployment import plan_deployment

    selection = select(fleet, "all")
    for host in selection.hosts:
        plan = plan_deployment(fleet, host, selection)
        for stack_plan in plan.stacks:
            refusal = _refusal(fleet, plan, stack_plan)
            if refusal:
                subject = f"stack:{stack_plan.stack}"
                where = fleet.where(subject)
                yield finding("declaration.unrenderable", subject, refusal, {"file": where} if where else {})


def _refusal(fleet: Fleet, plan: DeploymentPlan, stack_plan: StackPlan) -> str:
    """Why the stack cannot be rendered; empty where it can."""
    from ..render.refusal import RenderError
    from ..render.stack import render_stack

    try:
        render_stack(fleet, plan.host, stack_plan, plan.device_ids)
    except RenderError as error:
        return str(error)
    return ""
