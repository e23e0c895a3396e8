"""A small fleet as records, and what a host would show of it."""

from __future__ import annotations

from typing import Any

from gpu_seats.declare.fleet import Fleet
from gpu_seats.declare.host import Host
from gpu_seats.declare.site import Site
from gpu_seats.declare.stack import Stack

UUIDS = {"0": "GPU-00000000-0000-4000-8000-000000000000", "1": "GPU-00000001-0000-4000-8000-000000000000"}
HOST = {
    "host": "box1",
    "site": "lab",
    "summary": "Two cards",
    "address": "192.0.2.10",
    "ram": "256GiB",
    "gpus": {key: {"model": "Card", "vram": "97887MiB", "uuid": uuid} for key, uuid in UUIDS.items()},
}
CHAT = {
    "state": "serving",
    "engine": "other",
    "image": "registry.test/chat:1.0",
    "gpus": ["1"],
    "port": 8010,
    "container_port": 8000,
    "claim": {"vram": "40GiB", "host_ram": "4GiB"},
}


def fleet(**workloads: dict[str, Any]) -> Fleet:
    """One stack `chat-seat` on box1 with the given seats (only `chat` unless given)."""
    seats = workloads or {"chat": CHAT}
    stack = {"stack": "chat-seat", "host": "box1", "summary": "Chat", "seats": seats}
    return Fleet(
        sites={"lab": Site.model_validate({"site": "lab", "summary": "A site"})},
        hosts={"box1": Host.model_validate(HOST)},
        stacks={"chat-seat": Stack.model_validate(stack)},
    )


def observed(*containers: dict[str, Any], free_mib: float = 97247.0) -> dict[str, Any]:
    """A healthy host_info result with these containers."""
    cards = [
        {
            "index": int(key),
            "uuid": uuid,
            "bus_id": f"00000000:0{int(key) + 1}:00.0",
            "memory_total_mib": 97887.0,
            "memory_free_mib": free_mib,
        }
        for key, uuid in UUIDS.items()
    ]
    return {
        "gpus": {"cards": cards, "processes": []},
        "docker": {"available": True, "compose_version": "2.26.1", "containers": list(containers), "images": {}},
        "listeners": [],
        "memory": {"total_mib": 262144.0, "available_mib": 250000.0},
        "disks": {},
        "addresses": ["192.0.2.10"],
        "findings": [],
    }


def container(name: str, status: str = "running") -> dict[str, Any]:
    return {"id": "a" * 64, "name": name, "status": status, "running": status == "running", "labels": {}}
