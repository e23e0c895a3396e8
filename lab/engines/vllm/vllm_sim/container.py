"""What the container tells the engine: its simulated cards, its names, and the fault that is on for it."""

from __future__ import annotations

import json
import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GPU_SIM = os.environ.get("GPU_SIM_LIB", "/usr/lib/gpu-sim")
ALLOWED = {"slow_load", "crash_in_load", "out_of_memory", "wrong_model_name", "hangs", "dies_after_ready"}


@dataclass(frozen=True)
class EngineFault:
    """name: one of ALLOWED. seconds: how long a load takes or an engine lives, where that matters."""

    name: str
    seconds: float | None = None


def gpu_sim() -> Any:
    """The simulator's package, None in a container that asked for no card."""
    if not Path(GPU_SIM, "gpu_sim").is_dir():
        return None
    if GPU_SIM not in sys.path:
        sys.path.insert(0, GPU_SIM)
    import gpu_sim.claims
    import gpu_sim.faults
    import gpu_sim.machine

    return gpu_sim


def visible_record() -> dict[str, Any]:
    sim = gpu_sim()
    if sim is None or not sim.machine.VISIBLE_FILE.exists():
        return {}
    return dict(json.loads(sim.machine.VISIBLE_FILE.read_text(encoding="utf-8")))


def fault_keys(served: list[str], model: str) -> list[str]:
    """Names under which a fault of this engine may be filed."""
    names = [os.environ.get("GPU_SEATS_SEAT", ""), socket.gethostname(), *served, Path(model).name]
    return [name for name in [*names, *visible_record().get("names", [])] if name and "/" not in name]


def current_fault(keys: list[str]) -> EngineFault | None:
    folder = Path(os.environ.get("GPU_SIM_DIR", "/var/lib/gpu-sim")) / "engine-faults"
    for key in keys:
        try:
            record = json.loads((folder / f"{key}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if record.get("fault") in ALLOWED:
            return EngineFault(record["fault"], record.get("seconds"))
    return None


def claim_name() -> str:
    """File name of this container's claims: its short id, or the process's when there is no container."""
    return f"{socket.gethostname()}-{os.getpid()}"
