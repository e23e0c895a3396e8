"""A project of its own with many small stacks on the lab host, and the same stacks for the peer's play."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from gpu_seats.declare.fleet import load_fleet
from gpu_seats.declare.selection import select
from gpu_seats.plan.deployment import plan_deployment
from gpu_seats.render.stack import render_stack

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
        service = {"state": "serving", "image": image, "ports": [{"host": FIRST_PORT + number, "container": 8080}]}
        document = {"stack": name, "host": HOST, "summary": "A stack of the bench", "services": {name: service}}
        directory = root / "stacks" / name
        directory.mkdir()
        (directory / "stack.yml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def peer_variables(root: Path, inventory: Path) -> dict[str, Any]:
    """Variables of the peer's play: the very files that gpu-seats writes, so that both keep the same projects."""
    fleet = load_fleet(root, inventory)
    plan = plan_deployment(fleet, HOST, select(fleet, "all"))
    templates = root / "templates"
    templates.mkdir(exist_ok=True)
    stacks = []
    for stack_plan in plan.stacks:
        rendered = render_stack(fleet, HOST, stack_plan, plan.device_ids)
        template = templates / f"{rendered.name}.yaml.j2"
        template.write_text(rendered.compose_text, encoding="utf-8")
        stacks.append({"directory": rendered.directory, "project": rendered.project, "template": str(template)})
    return {"bench_stacks": stacks}
