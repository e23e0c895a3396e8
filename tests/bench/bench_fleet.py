"""A project of its own with many small stacks on the lab host, and the same stacks for the peer's play."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from gpu_seats.controller.deployment import apply_arguments
from gpu_seats.declare.fleet import load_fleet
from gpu_seats.declare.selection import select
from gpu_seats.plan.deployment import plan_deployment
from gpu_seats.render.stack import RenderedStack, render_stack

HOST = "fv-ml1"
FIRST_PORT = 39001
PLAYS = Path(__file__).parent / "plays"


def stack_names(many: int) -> list[str]:
    return [f"bench-{number:02}" for number in range(1, many + 1)]


def lay_fleet(root: Path, image: str, many: int) -> None:
    """Writes `many` stacks of one service each, without cards, and the plays beside them, to `root`."""
    shutil.rmtree(root, ignore_errors=True)
    # the lab inventory names both directories; lab/stacks stays empty here
    for directory in ("inventories", "stacks", "lab/stacks"):
        (root / directory).mkdir(parents=True)
    shutil.copytree(PLAYS, root / "plays")
    for number, name in enumerate(stack_names(many)):
        # on Docker's own bridge: its address pools hold about 30 networks, and the lab host has stacks of its own
        service = {
            "state": "serving",
            "image": image,
            "network_mode": "bridge",
            "ports": [{"host": FIRST_PORT + number, "container": 8080}],
        }
        document = {"stack": name, "host": HOST, "summary": "A stack of the bench", "services": {name: service}}
        directory = root / "stacks" / name
        directory.mkdir()
        (directory / "stack.yml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def rendered_stacks(root: Path, inventory: Path) -> list[RenderedStack]:
    """Every stack of the laid fleet, as a deployment of all of them renders it."""
    fleet = load_fleet(root, inventory)
    plan = plan_deployment(fleet, HOST, select(fleet, "all"))
    return [render_stack(fleet, HOST, stack, plan.device_ids) for stack in plan.stacks]


def apply_variables(stacks: list[RenderedStack]) -> dict[str, Any]:
    """Variables of the play that runs the module alone."""
    return {"bench_stacks": [apply_arguments(stack) for stack in stacks]}


def peer_variables(root: Path, stacks: list[RenderedStack]) -> dict[str, Any]:
    """Variables of the peer's play: the very files that gpu-seats writes, so that both keep the same projects."""
    templates = root / "templates"
    templates.mkdir(exist_ok=True)
    entries = []
    for stack in stacks:
        template = templates / f"{stack.name}.yaml.j2"
        template.write_text(stack.compose_text, encoding="utf-8")
        entries.append({"directory": stack.directory, "project": stack.project, "template": str(template)})
    return {"bench_stacks": entries}
