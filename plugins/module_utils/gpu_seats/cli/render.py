"""Print the Compose file of one stack, as a deployment would write it.

The lines after it, which are YAML comments, name every file that is written and its mode. Values of secrets are
never read here. The text can be piped: gpu-seats render STACK | docker compose -f - config
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ..report.terminal import Terminal
from .answer import Answer, CommandError
from .declarations import add_project_arguments, declaration_refusal, load_declarations


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stack", metavar="STACK", help="a stack, or a seat of it")
    add_project_arguments(parser)


def run(chosen: argparse.Namespace, terminal: Terminal) -> Answer:
    from ..declare.problems import DeclarationError
    from ..declare.selection import select
    from ..plan.deployment import plan_deployment
    from ..render.refusal import RenderError
    from ..render.stack import render_stack

    fleet = load_declarations(chosen)
    try:
        selection = select(fleet, chosen.stack)
    except DeclarationError as error:
        raise declaration_refusal(error) from None
    if len(selection.stacks) > 1:
        raise CommandError(f"{chosen.stack}: {len(selection.stacks)} stacks; render takes one")
    plan = plan_deployment(fleet, selection.hosts[0], selection)
    (stack_plan,) = plan.stacks
    try:
        rendered = render_stack(fleet, plan.host, stack_plan, plan.device_ids)
    except RenderError as error:
        raise CommandError(str(error)) from None
    files = [_listed(file) for file in rendered.files]
    text = rendered.compose_text + "".join(_comment(file) for file in files)
    document = {**rendered.as_dict(), "host": plan.host, "files": files}
    return Answer(text, document)


def _listed(file: Mapping[str, Any]) -> dict[str, Any]:
    """A file without its content: the Compose text stands beside it, and a secret is nobody's business."""
    return {key: value for key, value in file.items() if key != "content"}


def _comment(file: Mapping[str, Any]) -> str:
    needs = f"  secrets: {', '.join(file['needs'])}" if file.get("needs") else ""
    return f"# file {file['mode']} {file['path']}{needs}\n"
