"""The common scale of watts, and where things stand on the sheet."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .records import PowerTree

WIDTH = 1000.0
MARGIN = 16.0
PLOT_LEFT = 352.0
PLOT_RIGHT = 868.0
_MOST_TICKS = 6


@dataclass(frozen=True)
class Scale:
    """Watts to pixels, the same for every bar of one picture."""

    full_watts: float

    def x(self, watts: float) -> float:
        """Where a bar of so many watts ends."""
        return PLOT_LEFT + (PLOT_RIGHT - PLOT_LEFT) * max(0.0, watts) / self.full_watts

    def ticks(self) -> list[float]:
        """Round watts from 0 on, at most seven."""
        step = _round_step(self.full_watts / _MOST_TICKS)
        return [number * step for number in range(int(self.full_watts / step + 1e-9) + 1)]


def scale_of(tree: PowerTree) -> Scale:
    """Reaches to the greatest limit or load of all devices and loads."""
    watts = [w for device in tree.devices for w in (device.absolute_watts, device.watts, device.high_watts)]
    watts += [w for load in tree.loads for w in (load.watts, load.high_watts)]
    watts += [reading.watts for load in tree.loads for reading in (*load.readings, *load.measured)]
    return Scale(max([w for w in watts if w is not None and w > 0], default=1000.0))


def _round_step(at_least: float) -> float:
    """The smallest of 1, 2, 5 and their tenfolds that is not below `at_least`."""
    power = 10.0 ** math.floor(math.log10(at_least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= at_least * (1 - 1e-9))
