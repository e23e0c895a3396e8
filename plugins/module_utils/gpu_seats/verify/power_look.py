"""One look at a host's cards, at the units that keep their caps and into its containers; reads only."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..apply.gpu_limits.card_reading import read_cards
from ..observe.command import Run
from ..observe.systemd_units import unit_states
from .container_gpus import ContainersEngine, check_containers


def power_look(run: Run, engine: ContainersEngine, gpu_ids: Sequence[str], units: Sequence[str]) -> dict[str, Any]:
    """``{cards, card_count, units, containers, findings}``. gpu_ids: declared UUIDs or bus ids, for asking one by one.

    Containers are looked into because a run that was ended between a reload of systemd and its check left that out.
    """
    with ThreadPoolExecutor(2) as beside:
        asked = beside.submit(unit_states, run, units)
        inside = beside.submit(check_containers, engine, run)
        read = read_cards(run, gpu_ids)
        states, findings = asked.result()
        checked = inside.result()
    seen = read.as_dict()
    return {
        "cards": list(seen["cards"].values()),
        "card_count": seen["card_count"],
        "units": {name: state.as_dict() for name, state in states.items()},
        "containers": [look.as_dict() for look in checked.looks],
        "findings": [*seen["findings"], *(one.as_dict() for one in [*findings, *checked.findings])],
    }


__all__ = ["power_look"]
