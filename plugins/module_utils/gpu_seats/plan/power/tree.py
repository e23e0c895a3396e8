"""The tree of devices that are in use: what hangs below each of them, and what goes dark when one gives.

A load counts once at a device, however many ways lead down to it, and in full at each device that feeds it. A load
that a device feeds, and a device in use below it too, is plugged into the lower one: a ups that comes in use takes over
what the breaker above it fed. What is really plugged in at both has a device of its own on the other way.

Nothing here calls itself, and every device is looked at a bounded number of times: chains and diamonds of any length
are summed up.
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
        self._last_loss: _Loss | None = None

    @cached_property
    def used(self) -> dict[str, Circuit]:
        return {name: circuit for name, circuit in self.circuits.items() if circuit.in_use}

    def parents(self, name: str) -> list[str]:
        """Devices directly above, in use or not."""
        return list(self._parents[name])

    def carried(self, name: str) -> dict[str, float]:
        """Load -> watts at the device for each watt of the load: more than 1 where a ups below it loses some."""
        found: dict[str, float] = {}
        for fed in self.used[name].feeds if name in self.used else ():
            _keep_highest(found, self._outlet(fed))
        return found

    def loads(self, name: str) -> list[str]:
        """Every load that the device feeds, over its surge-only outlets too."""
        return list(self._passed.get(name, ()))

    def above(self, load: str) -> list[str]:
        """Devices in use that feed the load, directly or not."""
        return [name for name in self.used if load in self._passed[name]]

    def plugged(self, name: str) -> list[str]:
        """Loads that are plugged into the device itself, and into no device in use below it."""
        return list(self._plugged.get(name, ()))

    @cached_property
    def fed(self) -> set[str]:
        """Loads that hang below at least one device in use."""
        return {load for passed in self._passed.values() for load in passed}

    def dark_after(self, name: str) -> list[str]:
        """Loads that lose their last feed when the device opens. What a ups feeds goes on from its battery."""
        lost = self._loss(name)
        return [load for load in self.loads(name) if not lost.is_powered(load)]

    def on_battery_after(self, name: str) -> list[str]:
        """Loads below the device that only the battery of a ups keeps up when it opens."""
        lost = self._loss(name)
        if not lost.on_battery:
            return []
        from_wall = _Loss(self, name, batteries=False)
        return [load for load in self.loads(name) if lost.is_powered(load) and not from_wall.is_powered(load)]

    def _loss(self, name: str) -> _Loss:
        """What the loss of the device does; the last one is kept, because two questions are asked of each."""
        if self._last_loss is None or self._last_loss.lost != name:
            self._last_loss = _Loss(self, name)
        return self._last_loss

    def in_order(self) -> list[str]:
        """Every device once, those above before those below; where that leaves a choice, as they are declared."""
        return list(self._order)

    def used_below(self, name: str) -> list[str]:
        """Devices in use that hang below `name`, those above before those below."""
        found: set[str] = set()
        pending = [name] if name in self.used else []
        while pending:
            device = self.used[pending.pop()]
            for fed in (*device.feeds, *device.bypass):
                if fed in self.used and fed not in found:
                    found.add(fed)
                    pending.append(fed)
        return sorted(found - {name}, key=self._places.__getitem__)

    @cached_property
    def used_parents(self) -> dict[str, list[str]]:
        """Device in use -> the devices in use directly above it."""
        return {name: [above for above in self._parents[name] if above in self.used] for name in self.used}

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self._order)}

    @cached_property
    def _parents(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {name: [] for name in self.circuits}
        for above, circuit in self.circuits.items():
            for fed in dict.fromkeys((*circuit.feeds, *circuit.bypass)):
                if fed in found:
                    found[fed].append(above)
        return found

    @cached_property
    def _order(self) -> list[str]:
        """The devices that hang below a root, then those of rings, which only code can make."""
        done: set[str] = set()
        roots = [name for name, above in self._parents.items() if not above]
        below_roots = self._lower_first(reversed(roots), done)
        rings = self._lower_first(self.circuits, done)
        return [*reversed(below_roots), *reversed(rings)]

    def _lower_first(self, starts: Iterable[str], done: set[str]) -> list[str]:
        """Devices after all that hang below them; `done` grows by what was met."""
        ordered: list[str] = []
        for start in starts:
            pending = [(start, False)]
            while pending:
                name, is_left = pending.pop()
                if is_left:
                    ordered.append(name)
                elif name not in done:
                    done.add(name)
                    pending.append((name, True))
                    circuit = self.circuits[name]
                    pending += [(fed, False) for fed in (*circuit.feeds, *circuit.bypass) if fed in self.circuits]
        return ordered

    @cached_property
    def _passed(self) -> dict[str, dict[str, float]]:
        """Device in use -> load -> watts above the device for each watt of the load."""
        passed: dict[str, dict[str, float]] = {}
        for name in reversed(self._order):
            device = self.used.get(name)
            if device is None:
                continue
            loss = 1.0 / device.efficiency if device.efficiency else 1.0
            found: dict[str, float] = {}
            for fed in device.feeds:
                below = passed.get(fed, {}) if fed in self.circuits else {fed: 1.0}
                _keep_highest(found, {load: factor * loss for load, factor in below.items()})
            for beside in device.bypass:
                _keep_highest(found, passed.get(beside, {}) if beside in self.circuits else {beside: 1.0})
            passed[name] = found
        return passed

    def _outlet(self, fed: str) -> Mapping[str, float]:
        """What one outlet carries, seen from above it."""
        return self._passed.get(fed, {}) if fed in self.circuits else {fed: 1.0}

    @cached_property
    def _plugged(self) -> dict[str, list[str]]:
        found = {}
        for name, device in self.used.items():
            outlets = (*device.feeds, *device.bypass)
            lower = {load for fed in outlets if fed in self.used for load in self._passed[fed]}
            found[name] = [load for load in outlets if load not in self.circuits and load not in lower]
        return found

    @cached_property
    def plugged_into(self) -> dict[str, list[str]]:
        """Load -> the devices in use that it is plugged into."""
        found: dict[str, list[str]] = {}
        for name, loads in self._plugged.items():
            for load in loads:
                found.setdefault(load, []).append(name)
        return found


class _Loss:
    """What still gives power once one device has opened. Devices that do not hang below it are as before.

    on_battery: whether a ups goes on without a source.
    """

    def __init__(self, tree: Tree, lost: str, batteries: bool = True) -> None:
        self.lost = lost
        self.on_battery = False
        self._tree = tree
        self._without_source: set[str] = set()
        self._dead = {lost}
        for name in tree.used_below(lost):
            if not any(self._gives(one, name) for one in tree.used_parents[name]):
                self._without_source.add(name)
                if batteries and tree.used[name].kind == "ups":
                    self.on_battery = True
                else:
                    self._dead.add(name)

    def is_powered(self, load: str) -> bool:
        return any(self._gives(device, load) for device in self._tree.plugged_into.get(load, ()))

    def _gives(self, above: str, name: str) -> bool:
        """Whether `above` powers `name`: through itself, or past a ups that has no source of its own any more."""
        if name in self._tree.used[above].feeds:
            return above not in self._dead
        return above not in self._without_source


def _keep_highest(found: dict[str, float], more: Mapping[str, float]) -> None:
    for load, factor in more.items():
        found[load] = max(factor, found.get(load, 0.0))
