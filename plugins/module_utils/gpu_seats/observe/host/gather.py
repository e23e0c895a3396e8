"""Everything `host_info` returns, gathered in parallel threads: the slowest tool decides how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ...findings import finding
from ..command import run
from ..engine_api import EngineApi
from .cards import observed_cards
from .docker import observed_docker
from .system import observed_addresses, observed_disks, observed_listeners, observed_memory


@dataclass(frozen=True)
class HostQuestion:
    """What is looked at. images, paths: whose presence and room matter. gpu_ids: declared UUIDs or bus ids.

    gpus False: a host without cards, nvidia-smi is not asked.
    """

    images: Sequence[str] = ()
    paths: Sequence[str] = ()
    gpu_ids: Sequence[str] = ()
    gpus: bool = True


def observed_host(question: HostQuestion) -> dict[str, Any]:
    """``{gpus, docker, listeners, memory, disks, addresses, findings}``: plain data; nothing a tool does raises."""
    seen = _answers(_parts(question))
    findings = [one for part in seen.values() for one in part.pop("findings", ())]
    return {
        "gpus": seen.get("gpus") or {"cards": None, "processes": None},
        "docker": seen["docker"] or {"available": None},
        "listeners": seen["listening"].get("listeners"),
        "memory": seen["memory"] or {"total_mib": None, "available_mib": None},
        "disks": seen["disks"].get("disks", {}),
        "addresses": seen["addresses"].get("addresses"),
        "findings": findings,
    }


def _parts(question: HostQuestion) -> dict[str, Callable[[], dict[str, Any]]]:
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "docker": lambda: observed_docker(EngineApi(), run, question.images),
        "listening": lambda: observed_listeners(run),
        "addresses": lambda: {"addresses": observed_addresses(run)},
        "memory": observed_memory,
        "disks": lambda: observed_disks(question.paths),
    }
    if question.gpus:
        parts["gpus"] = lambda: observed_cards(run, question.gpu_ids)
    return parts


def _answers(parts: Mapping[str, Callable[[], dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    with ThreadPoolExecutor(len(parts)) as pool:
        asked = {name: pool.submit(part) for name, part in parts.items()}
        return {name: _answer(name, future) for name, future in asked.items()}


def _answer(name: str, future: Future[dict[str, Any]]) -> dict[str, Any]:
    """What one part says. A part that breaks must not hide the others, so its fault is a finding."""
    try:
        return future.result()
    except Exception as error:
        broken = finding("observe.part_failed", f"host:{name}", f"{name}: {type(error).__name__}: {error}")
        return {"findings": [broken.as_dict()]}
