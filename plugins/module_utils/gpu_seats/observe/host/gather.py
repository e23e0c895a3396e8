"""Everything `host_info` returns, gathered in parallel threads: the slowest tool decides how long it takes."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...findings import finding
from ..command import run
from ..engine_api import EngineApi
from .cards import observed_cards
from .docker import observed_docker
from .system import observed_addresses, observed_disks, observed_listeners, observed_memory, present_paths

LIMIT_S = 90.0
"""After this a part is given up: its tools have limits of their own, but a dead file system blocks even a look."""


@dataclass(frozen=True)
class HostQuestion:
    """What is looked at. images, paths: whose presence and room matter. gpu_ids: declared UUIDs or bus ids.

    gpus False: a host without cards, nvidia-smi is not asked. mount_sources: paths that containers mount.
    """

    images: Sequence[str] = ()
    paths: Sequence[str] = ()
    gpu_ids: Sequence[str] = ()
    gpus: bool = True
    mount_sources: Sequence[str] = ()


def observed_host(question: HostQuestion) -> dict[str, Any]:
    """Plain data by part, as the module host_info documents it, and findings; no tool makes it raise."""
    seen = _answers(_parts(question))
    findings = [one for part in seen.values() for one in part.pop("findings", ())]
    return {
        "kernel": platform.release(),
        "gpus": seen.get("gpus") or {"cards": None, "card_count": None, "processes": None},
        "docker": seen["docker"] or {"available": None},
        "listeners": seen["listening"].get("listeners"),
        "memory": seen["memory"] or {"total_mib": None, "available_mib": None},
        "disks": seen["disks"].get("disks", {}),
        "addresses": seen["addresses"].get("addresses"),
        "present": seen["mounts"].get("present", {}),
        "findings": findings,
    }


def _parts(question: HostQuestion) -> dict[str, Callable[[], dict[str, Any]]]:
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "docker": lambda: observed_docker(EngineApi(), run, question.images),
        "listening": lambda: observed_listeners(run),
        "addresses": lambda: {"addresses": observed_addresses(run)},
        "memory": observed_memory,
        "disks": lambda: observed_disks(question.paths),
        "mounts": lambda: present_paths(question.mount_sources),
    }
    if question.gpus:
        parts["gpus"] = lambda: observed_cards(run, question.gpu_ids)
    return parts


def _answers(parts: Mapping[str, Callable[[], dict[str, Any]]], limit_s: float = LIMIT_S) -> dict[str, dict[str, Any]]:
    """What every part says. Threads are daemons: one that hangs in the kernel must not keep the run from ending."""
    said: dict[str, dict[str, Any]] = {}
    threads = [
        threading.Thread(target=_answer, args=(name, part, said), daemon=True, name=f"observe-{name}")
        for name, part in parts.items()
    ]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + limit_s
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    done = dict(said)
    for name in parts:
        if name not in done:
            hung = finding("command.hung", f"host:{name}", f"looking at {name} did not end within {limit_s:.0f} s")
            done[name] = {"findings": [hung.as_dict()]}
    return done


def _answer(name: str, part: Callable[[], dict[str, Any]], said: dict[str, dict[str, Any]]) -> None:
    """Puts what one part says into `said`. A part that breaks must not hide the others: its fault is a finding."""
    try:
        said[name] = part()
    except Exception as error:
        broken = finding("observe.part_failed", f"host:{name}", f"{name}: {type(error).__name__}: {error}")
        said[name] = {"findings": [broken.as_dict()]}
