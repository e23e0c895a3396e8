"""One look at a host's cards and at the units that keep their caps; reads only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..apply.gpu_limits.card_reading import read_cards
from ..observe.command import CommandResult
from ..observe.systemd_units import unit_states

Run = Callable[[Sequence[str], float], CommandResult]


def power_look(run: Run, gpu_ids: Sequence[str], units: Sequence[str]) -> dict[str, Any]:
    """``{cards, card_count, units, findings}``. gpu_ids: declared UUIDs or bus ids, for asking card by card."""
    with ThreadPoolExecutor(1) as beside:
        asked = beside.submit(unit_states, run, units)
        read = read_cards(run, gpu_ids)
        states, findings = asked.result()
    seen = read.as_dict()
    return {
        "cards": list(seen["cards"].values()),
        "card_count": seen["card_count"],
        "units": {name: state.as_dict() for name, state in states.items()},
        "findings": [*seen["findings"], *(one.as_dict() for one in findings)],
    }


__all__ = ["power_look"]
