"""The BMC's power meter: the host's declared watts plus what the simulated cards draw, sampled every second."""

from __future__ import annotations

import importlib
import os
import sys
import time
from dataclasses import dataclass, field
from typing import Callable

SAMPLE_S = 1.0


@dataclass(frozen=True)
class HostWatts:
    """The machine without its cards, as its host file declares it: while no card is busy, and while one is."""

    baseline_watts: float
    under_load_watts: float

    def total(self, cards: list[float], busy_above: float) -> float:
        machine = self.under_load_watts if any(watts > busy_above for watts in cards) else self.baseline_watts
        return machine + sum(cards)


def cards_watts() -> tuple[list[float], float]:
    """What each simulated card draws now, and the watts above which a card is busy."""
    library = os.environ.get("GPU_SIM_LIB", "/usr/lib/gpu-sim")
    if library not in sys.path:
        sys.path.append(library)
    faults = importlib.import_module("gpu_sim.faults").active_faults()
    machine = importlib.import_module("gpu_sim.machine").load_machine()
    live_claims = importlib.import_module("gpu_sim.claims").live_claims
    power = importlib.import_module("gpu_sim.power")
    power.drop_unheld_limits(machine, faults)
    drawn = [power.drawn_watts(card, live_claims(card.uuid), faults) for card in machine.cards]
    return drawn, power.BUSY_ABOVE_W


@dataclass
class Meter:
    """Current, lowest, highest and mean watts of its samples since it started."""

    host: HostWatts
    cards: Callable[[], tuple[list[float], float]] = cards_watts
    clock: Callable[[], float] = time.monotonic
    started: float = field(init=False)
    current: float = field(init=False)
    minimum: float = field(init=False)
    maximum: float = field(init=False)
    _sum: float = field(init=False, default=0.0)
    _count: int = field(init=False, default=0)
    _sampled: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()
        self._take(self.started)
        self.minimum = self.maximum = self.current

    def sample(self) -> None:
        """Take a sample when the last one is a second old."""
        now = self.clock()
        if now - self._sampled >= SAMPLE_S:
            self._take(now)
            self.minimum, self.maximum = min(self.minimum, self.current), max(self.maximum, self.current)

    def _take(self, now: float) -> None:
        self.current = self.host.total(*self.cards())
        self._sum, self._count, self._sampled = self._sum + self.current, self._count + 1, now

    @property
    def average(self) -> float:
        return self._sum / self._count

    @property
    def period_ms(self) -> int:
        return int((self.clock() - self.started) * 1000)
