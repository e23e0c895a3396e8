"""Declarations for the rendering tests, made by code."""

from __future__ import annotations

from typing import Any

from gpu_seats.declare.fleet import Fleet
from gpu_seats.declare.host import Host
from gpu_seats.declare.selection import select
from gpu_seats.declare.stack import Stack
from gpu_seats.plan.deployment import plan_deployment
from gpu_seats.render.stack import RenderedStack, render_stack

UUIDS = {str(card): f"GPU-5e7a000{card}-c0de-4000-8000-00000000000{card}" for card in range(4)}


def host(**over: Any) -> Host:
    gpus = {card: {"model": "card", "vram": "97887MiB", "uuid": uuid} for card, uuid in UUIDS.items()}
    data = {
        "host": "fv-ml1",
        "site": "fv",
        "summary": "a host",
        "address": "10.251.50.54",
        "ram": "566GiB",
        "gpus": gpus,
    }
    return Host.model_validate({**data, **over})


def stack(seats: dict[str, Any] | None = None, services: dict[str, Any] | None = None, **over: Any) -> Stack:
    data = {"stack": "s", "host": "fv-ml1", "summary": "s", "seats": seats or {}, "services": services or {}}
    return Stack.model_validate({**data, **over})


def rendered(
    one: Stack, asked: str = "all", secrets: dict[str, str] | None = None, on: Host | None = None
) -> RenderedStack:
    """The stack planned and rendered as a deployment of `asked` would."""
    fleet = Fleet(hosts={"fv-ml1": on or host()}, stacks={one.stack: one})
    plan = plan_deployment(fleet, "fv-ml1", select(fleet, asked))
    return render_stack(fleet, "fv-ml1", plan.stacks[0], plan.device_ids, secrets)


def vllm_seat(**over: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "state": "serving",
        "engine": "vllm",
        "image": "vllm/vllm-openai:v0.30.0",
        "model": {"path": "/tank/aimodels/m"},
        "gpus": ["0"],
        "port": 8015,
        "claim": {"vram": "20GiB"},
        "vllm": {"gpu_memory_utilization": 0.2},
    }
    return {key: value for key, value in {**data, **over}.items() if value is not None}


def service(**over: Any) -> dict[str, Any]:
    return {"state": "serving", "image": "amir20/dozzle:v8.14.6", **over}
