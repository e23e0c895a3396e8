"""What gives first, and what goes dark together with it: the way in that would repair the failure above all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ...declare.site import BMC_SUFFIX
from .figures import share_text, watts_text

if TYPE_CHECKING:
    from ...declare.fleet import Fleet
    from .devices import DevicePower
    from .view import View


class WayIn(NamedTuple):
    """kind: router or bmc. host: whose BMC it is, of a router its own name."""

    kind: str
    name: str
    host: str

    @property
    def text(self) -> str:
        return f"router {self.name}" if self.kind == "router" else f"the BMC of {self.host}"


@dataclass(frozen=True)
class SharedFate:
    """What happens when one device gives. overloads: hosts with cards, whose load can open it.

    ways_in: what one would repair it through, and goes dark with it. locks_out: both are there, the router included.
    """

    device: str
    overloads: list[str]
    goes_dark: list[str]
    on_battery: list[str]
    ways_in: list[WayIn]

    @property
    def locks_out(self) -> bool:
        return bool(self.overloads) and any(way.kind == "router" for way in self.ways_in)

    def as_dict(self) -> dict[str, Any]:
        ways = [{**way._asdict(), "text": way.text} for way in self.ways_in]
        return {**asdict(self), "ways_in": ways, "locks_out": self.locks_out}


def shared_fates(fleet: Fleet, view: View, devices: list[DevicePower]) -> list[SharedFate]:
    """One for each device that is in use and carries something."""
    return [_fate(fleet, view, device) for device in devices if device.circuit.in_use and device.loads]


def _fate(fleet: Fleet, view: View, device: DevicePower) -> SharedFate:
    carried = [term.name for term in device.terms]
    return SharedFate(
        device.name,
        [name for name in carried if view.loads[name].cards],
        device.goes_dark,
        device.on_battery,
        _ways_in(fleet, view, device.goes_dark),
    )


def _ways_in(fleet: Fleet, view: View, dark: list[str]) -> list[WayIn]:
    """Routers among the loads that go dark, then management controllers, which stand in their hosts."""
    routers = [WayIn("router", name, name) for name in dark if view.loads[name].role == "router"]
    controllers = []
    for name, load in view.loads.items():
        host = fleet.hosts.get(name)
        apart = f"{name}{BMC_SUFFIX}"
        fed_as = apart if apart in view.tree.fed else name
        if load.kind == "host" and host is not None and host.bmc is not None and fed_as in dark:
            controllers.append(WayIn("bmc", host.bmc.address, name))
    return [*routers, *controllers]


def first_to_give(view: View, devices: list[DevicePower]) -> dict[str, Any] | None:
    """The device in use whose load is the largest share of its full rating; of equals the one nearest to the load."""
    lower_first = [one for one in reversed(devices) if one.circuit.in_use and one.share_of_absolute]
    if not lower_first:
        return None
    ranked = sorted(lower_first, key=lambda one: -(one.share_of_absolute or 0.0))
    first, others = ranked[0], ranked[1:]
    return {
        "device": first.name,
        "kind": first.circuit.kind,
        "nominal_watts": first.draw.watts,
        "absolute_watts": first.absolute_watts,
        "share_of_absolute": first.share_of_absolute,
        "verdict": first.verdict,
        "why": _why(view, first, others),
        "then": [{"device": one.name, "share_of_absolute": one.share_of_absolute} for one in others],
    }


def _why(view: View, first: DevicePower, others: list[DevicePower]) -> str:
    text = (
        f"{share_text(first.share_of_absolute)} of the {_rated(first)} that it carries at all: {sum_text(view, first)}"
    )
    if others:
        shares = [f"{one.name} at {share_text(one.share_of_absolute)} of {_rated(one)}" for one in others]
        text += f"; then {', '.join(shares)}"
    return text


def _rated(device: DevicePower) -> str:
    return "?" if device.absolute_watts is None else watts_text(device.absolute_watts)


def sum_text(view: View, device: DevicePower) -> str:
    """The arithmetic of what a device carries: each load with its terms, then the sum."""
    parts = []
    for term in device.terms:
        load = view.loads[term.name]
        passed = term.draw.watts != load.draw.watts
        parts.append(f"{load.arithmetic} -> {watts_text(term.draw.watts)} ({term.how})" if passed else load.arithmetic)
    text = "; ".join(parts) or "nothing"
    return text if len(parts) < 2 else f"{text}; together {watts_text(device.draw.watts)}"
