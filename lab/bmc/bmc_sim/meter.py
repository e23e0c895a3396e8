"""The BMC's power meter: the host's declared watts plus what the simulated cards draw, sampled every second."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Figures:
    """Watts of the samples since the meter started, `period_ms` ago."""

    current: float
    minimum: float
    maximum: float
    average: float
    period_ms: int


class Meter:
    """Takes samples; one thread may take them while another asks for the figures."""

    def __init__(
        self,
        host: HostWatts,
        cards: Callable[[], tuple[list[float], float]] = cards_watts,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._host, self._cards, self._clock = host, cards, clock
        self._lock = threading.Lock()
        self._started = clock()
        self._current = self._minimum = self._maximum = self._sum = host.total(*cards())
        self._count = 1

    def sample(self) -> None:
        watts = self._host.total(*self._cards())
        with self._lock:
            self._current, self._sum, self._count = watts, self._sum + watts, self._count + 1
            self._minimum, self._maximum = min(self._minimum, watts), max(self._maximum, watts)

    def figures(self) -> Figures:
        with self._lock:
            average, period = self._sum / self._count, int((self._clock() - self._started) * 1000)
            return Figures(self._current, self._minimum, self._maximum, average, period)
