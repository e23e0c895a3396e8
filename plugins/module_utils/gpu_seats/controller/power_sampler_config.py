"""What the sampler service of a host is told: cards by number, the BMC, what the machine draws besides its cards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..declare.host import Host
from .power_measure_plan import bmc_options, default_folder


def sampler_config(host: Host, bmc: Mapping[str, Any]) -> str:
    """The text of its file; the same declaration gives the same bytes."""
    power = host.power
    machine = (power.under_load or power.baseline) if power is not None else None
    loss = power.supply_loss if power is not None else None
    config = {
        "host": host.host,
        "cards": {card: gpu.uuid for card, gpu in host.gpus.items() if gpu.uuid is not None},
        "bmc": bmc_options(host, bmc) if bmc.get("interface") != "none" else {},
        "limits": {
            "machine_watts": machine.high_watts if machine else 0.0,
            "floor_watts": power.baseline.low_watts if power is not None and power.baseline else 0.0,
            "loss_factor": 1.0 if loss is None or loss.reads == "ac" else 1.0 + max(loss.low, loss.high),
        },
    }
    return json.dumps(config, indent=1) + "\n"


def sampler_folder(host: Host, folder: str) -> str:
    """Where the files of each day go."""
    return folder or default_folder(host)
