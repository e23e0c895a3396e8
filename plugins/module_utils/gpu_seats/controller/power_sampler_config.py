"""What the sampler service of a host is told: cards by number, the BMC, what the machine draws besides its cards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..declare.host import Host
from ..plan.power.ladder import machine_figures
from .power_measure_plan import bmc_options, default_folder


def sampler_config(host: Host, bmc: Mapping[str, Any]) -> str:
    """The text of its file; the same declaration gives the same bytes."""
    machine, floor, factor = machine_figures(host)
    config = {
        "host": host.host,
        "cards": {card: gpu.uuid for card, gpu in host.gpus.items() if gpu.uuid is not None},
        "bmc": bmc_options(host, bmc) if bmc.get("interface") != "none" else {},
        "limits": {"machine_watts": machine, "floor_watts": floor, "loss_factor": factor},
    }
    return json.dumps(config, indent=1) + "\n"


def sampler_folder(host: Host, folder: str) -> str:
    """Where the files of each day go."""
    return folder or default_folder(host)
