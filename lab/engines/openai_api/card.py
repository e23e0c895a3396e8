"""Claims of a simple stand-in on the simulated cards of its container."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Any

IDLE_W = 15.0


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
