"""Claims of an engine on the simulated cards of its container: memory, and watts that follow the running requests."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Any, Callable

IDLE_W = 8.0
"""An engine without a request: its context, clocks low."""
FULL_W = 330.0
"""What a batch asks for at most; more than any limit, so that the limit is what a busy card draws."""


def watts_at(running: int) -> float:
    """Watts above the idle card with so many requests: each one takes half of what is left up to the full batch."""
    return IDLE_W + (FULL_W - IDLE_W) * (1 - 0.5**running)


def follower(claims: list[Any]) -> Callable[[int], None]:
    """What an engine calls when the number of its running requests changes."""

    def follow(running: int) -> None:
        for claim in claims:
            claim.update(watts=watts_at(running))

    return follow


def claims_on_cards(process: str, mib: int) -> list[Any]:
    """Hold `mib` on the container's first card; nothing where it asked for no card or for no memory."""
    library = os.environ.get("GPU_SIM_LIB", "/usr/lib/gpu-sim")
    if not mib or not Path(library, "gpu_sim").is_dir():
        return []
    sys.path.insert(0, library)
    from gpu_sim.claims import HeldClaim
    from gpu_sim.machine import load_machine, visible_cards

    name = f"{socket.gethostname()}-{os.getpid()}"
    return [HeldClaim(card.uuid, name, process, mib, IDLE_W) for card in visible_cards(load_machine())[:1]]
