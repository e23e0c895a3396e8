"""Where the simulators' files go on the lab host."""

from __future__ import annotations

from pathlib import Path

_SIM = Path(__file__).resolve().parent
_LIBRARY = "/usr/lib/gpu-sim"
"""Bind-mounted into containers by the runtime hook, so it holds all that nvidia-smi needs there."""

COMMANDS = ("nvidia-smi", "gpu-sim", "lose-port", "nvidia-container-runtime-hook", "nvidia-persistenced", "gpu-burn")


def files() -> dict[str, tuple[bytes, int]]:
    """Absolute path on the lab host -> (content, mode)."""
    laid = {f"/usr/bin/{name}": ((_SIM / name).read_bytes(), 0o755) for name in COMMANDS}
    laid[f"{_LIBRARY}/nvidia-smi"] = ((_SIM / "nvidia-smi").read_bytes(), 0o755)
    for module in sorted((_SIM / "gpu_sim").glob("*.py")):
        laid[f"{_LIBRARY}/gpu_sim/{module.name}"] = (module.read_bytes(), 0o644)
    return laid
