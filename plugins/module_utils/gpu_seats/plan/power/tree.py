"""The tree of devices that are in use: what hangs below each of them, and what goes dark when one gives.

A load counts once at a device, however many ways lead down to it, and in full at each device that feeds it. A load
that a device feeds, and a device in use below it too, is plugged into the lower one: a ups that comes in use takes over
what the breaker above it fed. What is really plugged in at both has a device of its own on the other way.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...declare.site import Circuit


class Tree:
    """Devices by name; those out of use carry nothing and are no way to anything."""

    def __init__(self, circuits: Mapping[str, Circuit]) -> None:
        self.circuits = dict(circuits)
        self._carried: dict[str, dict[str, float]] = {}

    @cached_property
    def used(self) -> dict[str, Circuit]:
        return {name: circuit for name, circuit in self.circuits.items() if circuit.in_use}

    def parents(self, name: str) -> list[str]:
        """Devices directly above, in use or not."""
        return [above for above, one in self.circuits.items() if name in one.feeds or name in one.bypass]

    def carried(self, name: str) -> dict[str, float]:
        """Load -> watts at the device for each watt of the load: more than 1 where a ups below it loses some."""
        return self._below(name, ())

    def _below(self, name: str, above: tuple[str, ...]) -> dict[str, float]:
        known = self._carried.get(name)
        if known is not None:
            return known
        found: dict[str, float] = {}
        for fed in self.used[name].feeds if name in self.used else ():
            _keep_highest(found, self._through(fed, (*above, name)))
        self._carried[name] = found
        return found

    def _through(self, fed: str, above: tuple[str, ...]) -> dict[str, float]:
        """What one outlet carries, seen from above it."""
        if fed not in self.circuits:
            return {fed: 1.0}
        if fed not in self.used or fed in above:
            return {}
        device = self.used[fed]
        loss = 1.0 / device.efficiency if device.efficiency else 1.0
        found = {load: factor * loss for load, factor in self._below(fed, above).items()}
        for passed in device.bypass:
            _keep_highest(found, self._through(passed, (*above, fed)))
        return found

    def loads(self, name: str) -> list[str]:
        """Every load that the device feeds, over its surge-only outlets too."""
        found = dict(self.carried(name))
        for passed in self.used[name].bypass if name in self.used else ():
            _keep_highest(found, self._through(passed, (name,)))
        return list(found)

    def plugged(self, name: str) -> list[str]:
        """Loads that are plugged into the device itself, and into no device in use below it."""
        device = self.used.get(name)
        if device is None:
            return []
        outlets = (*device.feeds, *device.bypass)
        lower = {load for fed in outlets if fed in self.used for load in self.loads(fed)}
        return [load for load in outlets if load not in self.circuits and load not in lower]

    @cached_property
    def fed(self) -> set[str]:
        """Loads that hang below at least one device in use."""
        return {load for name in self.used for load in self.loads(name)}

    def dark_after(self, name: str) -> list[str]:
        """Loads that lose their last feed when the device opens. What a ups feeds goes on from its battery."""
        alive = self._alive_without(name)
        return [load for load in self.loads(name) if not self._is_powered(load, alive)]

    def on_battery_after(self, name: str) -> list[str]:
        """Loads below the device that only the battery of a ups keeps up when it opens."""
        alive, from_wall = self._alive_without(name), self._alive_without(name, batteries=False)
        return [
            load for load in self.loads(name) if self._is_powered(load, alive) and not self._is_powered(load, from_wall)
        ]

    def _alive_without(self, lost: str, batteries: bool = True) -> set[str]:
        """Devices that still give power once `lost` has opened."""
        alive: set[str] = set()
        for _ in self.used:  # a device comes after those above it: as many rounds as there are levels
            for name, device in self.used.items():
                above = [one for one in self.parents(name) if one in self.used]
                has_source = not above or any(self._gives(one, name, alive) for one in above)
                if name != lost and (has_source or (batteries and device.kind == "ups")):
                    alive.add(name)
        return alive

    def _gives(self, above: str, name: str, alive: Iterable[str]) -> bool:
        """Whether `above` powers `name`: through itself, or past a ups that has no source of its own any more."""
        if name in self.used[above].feeds:
            return above in alive
        return self._has_source(above, alive)

    def _has_source(self, name: str, alive: Iterable[str]) -> bool:
        above = [one for one in self.parents(name) if one in self.used]
        return not above or any(self._gives(one, name, alive) for one in above)

    def _is_powered(self, load: str, alive: Iterable[str]) -> bool:
        return any(
            (load in device.feeds and name in alive) or (load in device.bypass and self._has_source(name, alive))
            for name, device in self.used.items()
            if load in self.plugged(name)
        )

    def in_order(self) -> list[str]:
        """Every device once, those above before those below."""
        ordered: dict[str, None] = {}
        roots = [name for name in self.circuits if not self.parents(name)]
        pending = [*roots, *self.circuits]
        while pending:
            name = pending.pop(0)
            if name in ordered:
                continue
            ordered[name] = None
            outlets = (*self.circuits[name].feeds, *self.circuits[name].bypass)
            pending[:0] = [fed for fed in outlets if fed in self.circuits and fed not in ordered]
        return list(ordered)


def _keep_highest(found: dict[str, float], more: Mapping[str, float]) -> None:
    for load, factor in more.items():
        found[load] = max(factor, found.get(load, 0.0))
