"""Where the simulated BMC's files go on the lab host, and who may use it."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

from ..declared import HostBmc
from ..layout import STATE

_BMC = Path(__file__).resolve().parent
_LIBRARY = "/usr/lib/bmc-sim/bmc_sim"
CONFIG_FILE = "/etc/gpu-seats-lab/bmc.json"
ADDRESS_FILE = "/etc/gpu-seats-lab/bmc-address"
PASSWORD_FILE = "/etc/gpu-seats-lab/bmc-password"
USER = "gpu-seats-lab"
"""IPMI allows 16 characters."""


def files(bmc: HostBmc | None) -> dict[str, tuple[bytes, int]]:
    """Absolute path on the lab host -> (content, mode); without a declared BMC only the program."""
    laid = {"/usr/bin/bmc-sim": ((_BMC / "bmc-sim").read_bytes(), 0o755)}
    for module in sorted((_BMC / "bmc_sim").glob("*.py")):
        laid[f"{_LIBRARY}/{module.name}"] = (module.read_bytes(), 0o644)
    if bmc is None:
        return laid
    config = {
        "address": bmc.address,
        "user": USER,
        "baseline_watts": bmc.baseline_watts,
        "under_load_watts": bmc.under_load_watts,
        "supplies": bmc.supplies,
    }
    laid[CONFIG_FILE] = (json.dumps(config, indent=1).encode() + b"\n", 0o644)
    laid[ADDRESS_FILE] = (f"{bmc.address}/32\n".encode(), 0o644)
    laid[PASSWORD_FILE] = (f"{_password()}\n".encode(), 0o600)
    return laid


def _password() -> str:
    """The checkout's own, made at its first use: 16 characters, which is what every ipmitool and BMC takes."""
    kept = STATE / "bmc-password"
    STATE.mkdir(mode=0o755, exist_ok=True)
    if not kept.exists():
        with os.fdopen(os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(12))
    return kept.read_text()
