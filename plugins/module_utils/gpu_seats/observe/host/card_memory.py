"""Whether a card's memory and its processes were seen at one moment.

nvidia-smi gives the memory of a card and that of its processes in two answers. While a model loads, gigabytes come
between them, and a plan that trusted both would miss memory that nobody holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ..nvidia.cards import GpuCard

EXPLAINED_WITHIN_MIB = 1024.0
"""What drivers take of `memory.used` for contexts and reserves that no process is listed with."""
STEADY_WITHIN_MIB = 64.0
"""Memory that did not move more than this between two looks is held by somebody who is not listed."""
LOOKS = 6
PAUSE_S = 0.25

MOVES = "its card's memory changed while it was asked for: a program is loading or ending"


class Look(NamedTuple):
    """One answer for all cards, and one for their processes (None: not known), with whatever else came along."""

    cards: list[GpuCard]
    processes: list[dict[str, Any]] | None
    rest: Any


def settled_look(look: Callable[[], Look], pause: Callable[[float], None]) -> Look:
    """The first look whose processes explain each card's memory, or the second of two that show the same.

    Where `LOOKS` were not enough, the processes of the cards that still move lose their memory figure, with the reason.
    """
    seen = look()
    for _ in range(LOOKS - 1):
        before = _unexplained(seen)
        if not before:
            return seen
        pause(PAUSE_S)
        seen = look()
        if _is_steady(before, _unexplained(seen)):
            return seen
    moving = _unexplained(seen)
    return seen._replace(processes=_without_memory(seen.processes or (), moving)) if moving else seen


def _unexplained(look: Look) -> dict[str, float]:
    """UUID -> used MiB of the card, where the listed processes hold something else; unknown figures are left out."""
    found = {}
    for card in look.cards:
        here = [one for one in look.processes or () if one["gpu_uuid"] == card.uuid]
        if card.uuid is None or card.memory_used_mib is None or look.processes is None:
            continue
        held = [one["used_memory_mib"] for one in here]
        if None not in held and abs(card.memory_used_mib - sum(held)) > EXPLAINED_WITHIN_MIB:
            found[card.uuid] = card.memory_used_mib
    return found


def _is_steady(before: Mapping[str, float], now: Mapping[str, float]) -> bool:
    return all(uuid in before and abs(mib - before[uuid]) <= STEADY_WITHIN_MIB for uuid, mib in now.items())


def _without_memory(processes: Iterable[dict[str, Any]], moving: Mapping[str, float]) -> list[dict[str, Any]]:
    return [
        {**one, "used_memory_mib": None, "unknown": {**one.get("unknown", {}), "used_memory_mib": MOVES}}
        if one["gpu_uuid"] in moving
        else one
        for one in processes
    ]
