"""What the simulated engines need to know about a workload beyond its image's name, read from the stack files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

Mapping = dict[str, Any]
Record = dict[str, str]

_UNITS = {"MiB": 1, "GiB": 1024, "TiB": 1024**2, "MB": 10**6 / 2**20, "GB": 10**9 / 2**20, "TB": 10**12 / 2**20}


def mib(size: object) -> int | None:
    """``74.36GiB`` -> 76144; None for anything that isn't a size with a unit."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([MGT]i?B)\s*", str(size))
    return int(float(match[1]) * _UNITS[match[2]]) if match else None


def workloads(stacks: Iterable[Mapping]) -> list[Mapping]:
    """Every seat and service of these stacks."""
    groups = [stack.get(group) for stack in stacks for group in ("seats", "services")]
    members = [member for group in groups if isinstance(group, dict) for member in group.values()]
    return [member for member in members if isinstance(member, dict)]


def container_ports(workload: Mapping) -> list[str]:
    """Ports inside the container that the declaration publishes."""
    found = [workload.get("container_port")]
    listed = workload.get("ports")
    for entry in listed if isinstance(listed, list) else []:
        is_mapping = isinstance(entry, dict)
        found.append(entry.get("container") if is_mapping else str(entry).partition("/")[0].rpartition(":")[2])
    return [str(port) for port in found if port is not None]


def standin_arguments(image: str, members: Iterable[Mapping]) -> Record:
    """Build arguments by which a stand-in image behaves like what the stacks expect of it."""
    using = [member for member in members if member.get("image") == image]
    ports = sorted({port for member in using for port in container_ports(member)})
    models = [member["model"] for member in using if isinstance(member.get("model"), dict)]
    claims = [member["claim"] for member in using if isinstance(member.get("claim"), dict)]
    at_rest = next((mib(claim.get("vram_at_rest", claim.get("vram"))) for claim in claims), None)
    return {
        "PORTS": " ".join(ports),
        "SERVED_NAME": next((str(m["served_name"]) for m in models if "served_name" in m), ""),
        "VRAM_MIB": str(at_rest or 0),
    }


def model_facts(path: str, members: Iterable[Mapping]) -> bytes:
    """``gpu-sim.json`` for a stand-in model folder: what the vLLM simulator can't find out without weights."""
    for member in members:
        model, settings = member.get("model"), member.get("vllm")
        if not isinstance(model, dict) or model.get("path") != path:
            continue
        facts: dict[str, object] = {"engram": isinstance(settings, dict) and "engram" in settings}
        weights = mib(model.get("weights"))
        if weights is not None:
            facts["weights_mib"] = weights
        return json.dumps(facts).encode() + b"\n"
    return b"{}\n"
