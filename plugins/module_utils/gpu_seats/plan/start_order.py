"""The order in which workloads start, one at a time on each card.

vLLM measures the card's memory twice while it starts and refuses when a neighbour changed it in between ("Error in
memory profiling", a neighbour freed memory). The seats that profile start first, the largest before the others; seats
with pinned KV bytes do not profile and come after them, everything without a card at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .claims import vram_claim
from .placement import sizes_by_total

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..declare.host import Host
    from .placement import Placed


def start_order(host: Host, starting: Collection[Placed]) -> list[str]:
    """``stack/workload`` of what starts, in order; those that share no card may start together."""
    return [f"{one.stack}/{one.name}" for one in sorted(starting, key=lambda one: _rank(host, one))]


def _rank(host: Host, one: Placed) -> tuple[int, float, str, str]:
    if not one.workload.gpus:
        return 2, 0.0, one.stack, one.name
    gpu = host.gpus.get(one.workload.gpus[0])
    claim = vram_claim(one.workload, gpu.vram).mib if gpu is not None else None
    return (0 if sizes_by_total(one.workload) else 1), -(claim or 0.0), one.stack, one.name
