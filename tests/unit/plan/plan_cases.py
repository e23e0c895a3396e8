"""Small fleets for the planning tests, made by code from the declaration records."""

from __future__ import annotations

from typing import Any

from gpu_seats.declare.fleet import Fleet
from gpu_seats.declare.host import Host
from gpu_seats.declare.stack import Stack

TOTAL_MIB = 97887.0
CAPACITY_MIB = 97247.0


def uuid_of(card: int) -> str:
    return f"GPU-5e7a000{card}-c0de-4000-8000-00000000000{card}"


def bus_of(card: int) -> str:
    return f"00000000:{2 * card}1:00.0"


def host(name: str = "fv-ml1", cards: int = 4, **over: Any) -> Host:
    """A host with cards of 97,887 MiB; ``reserve`` of a card by ``reserve={"3": {...}}``."""
    reserve = over.pop("reserve", {})
    gpus = {
        str(card): {
            "model": "RTX PRO 6000 Blackwell Max-Q",
            "vram": "97887MiB",
            "uuid": uuid_of(card),
            "bus_id": bus_of(card),
            **({"reserve": reserve[str(card)]} if str(card) in reserve else {}),
        }
        for card in range(cards)
    }
    data = {"host": name, "site": "fv", "summary": "a host", "address": "10.251.50.54", "ram": "566GiB", "gpus": gpus}
    return Host.model_validate({**data, **over})


def seat(**over: Any) -> dict[str, Any]:
    """A vLLM seat of 20 GiB on card 0, port 8000; a key given as None is left out."""
    data: dict[str, Any] = {
        "state": "serving",
        "engine": "vllm",
        "image": "vllm/vllm-openai:v0.30.0",
        "model": {"path": "/tank/aimodels/m"},
        "gpus": ["0"],
        "port": 8000,
        "claim": {"vram": "20GiB"},
        "vllm": {"gpu_memory_utilization": 0.2},
    }
    return {key: value for key, value in {**data, **over}.items() if value is not None}


def service(**over: Any) -> dict[str, Any]:
    """A container that serves no model; a key given as None is left out."""
    data: dict[str, Any] = {"state": "serving", "image": "louislam/dockge:1.5.0"}
    return {key: value for key, value in {**data, **over}.items() if value is not None}


def stack(name: str, seats: dict[str, Any] | None = None, **over: Any) -> Stack:
    data = {"stack": name, "host": "fv-ml1", "summary": name, "seats": seats or {}, **over}
    return Stack.model_validate(data)


def fleet(*stacks: Stack, hosts: list[Host] | None = None) -> Fleet:
    every = hosts or [host()]
    return Fleet(hosts={one.host: one for one in every}, stacks={one.stack: one for one in stacks})


def flash_next(**over: Any) -> dict[str, Any]:
    """The seat of the incident report: 93 GiB with pinned KV bytes and its table in host RAM."""
    data: dict[str, Any] = {
        "state": "serving",
        "engine": "vllm",
        "image": "vllm/vllm-openai:v0.29.1rc0",
        "needs": ["engram_cpu_offload"],
        "model": {
            "path": "/tank/aimodels/qwen38-flash-next-abliterated-nvfp4",
            "repo": "dealignai/Qwen3.8-Flash-Next-ABLITERATED-NVFP4",
            "revision": "be794b99",
            "served_name": "qwen3.8-flash-next",
            "weights": "74.36GiB",
        },
        "gpus": ["2"],
        "port": 8022,
        "claim": {"vram": "93GiB", "host_ram": "67GiB"},
        "vllm": {
            "max_model_len": 262144,
            "kv_cache_memory": "14GiB",
            "max_num_batched_tokens": 8192,
            "activation_peak": "1.65GiB",
            "engram": {"cpu_offload": True, "table": "47.7GiB"},
        },
        "homepage": {"group": "AI seats", "name": "Flash-Next", "icon": "mdi-chip"},
    }
    return {key: value for key, value in {**data, **over}.items() if value is not None}


def codes(findings: Any) -> list[str]:
    return [one.code for one in findings]
