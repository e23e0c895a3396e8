"""Show what each card holds before and after a deployment, and what would be refused.

Offline: it counts with what is declared, not with what runs. `ansible-playbook deploy-seat.yml --check --diff`
plans against the host itself.
"""

from __future__ import annotations

import argparse

from ..report.terminal import Terminal
from .answer import FINDINGS, FINE, Answer, CommandError
from .declarations import add_project_arguments, declaration_refusal, load_declarations


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", metavar="HOST", help="only this host")
    parser.add_argument("--seat", metavar="SEAT", default="all", help="a seat, a stack, a list a,b, or all (default)")
    add_project_arguments(parser)


def run(chosen: argparse.Namespace, terminal: Terminal) -> Answer:
    from ..declare.problems import DeclarationError, did_you_mean
    from ..declare.selection import ALL, select
    from ..plan.deployment import plan_deployment
    from ..report.plan_table import plan_text

    fleet = load_declarations(chosen)
    if chosen.host is not None and chosen.host not in fleet.hosts:
        near = did_you_mean(chosen.host, fleet.hosts)
        raise CommandError(f"--host {chosen.host}: no such host is declared; {near or ', '.join(fleet.hosts)}")
    try:
        selection = select(fleet, chosen.seat)
    except DeclarationError as error:
        raise declaration_refusal(error) from None
    hosts = selection.hosts if chosen.host is None else [host for host in selection.hosts if host == chosen.host]
    if not hosts and chosen.host is not None and chosen.seat == ALL:
        hosts = [chosen.host]  # it has no seat yet; its cards are what the plan shows
    if not hosts:
        raise CommandError(f"--seat {chosen.seat}: nothing of it is on {chosen.host}")
    plans = [plan_deployment(fleet, host, selection).as_dict() for host in hosts]
    text = "\n".join(plan_text(plan, terminal=terminal) for plan in plans)
    refused = any(plan["refusals"] for plan in plans)
    return Answer(text, {"plans": plans}, FINDINGS if refused else FINE)
