"""The steps of a power measurement: one card more at each, and what every device above the host then carries at worst.

A step that the planner would refuse is no step: the ladder ends below it, and says why.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...findings import Finding, finding
from .figures import watts_text
from .site import SitePower, site_power

if TYPE_CHECKING:
    from ...declare.fleet import Fleet
    from ...declare.host import Host
    from .devices import DevicePower

_REFUSED = ("over_continuous", "over_absolute", "unknown")


@dataclass(frozen=True)
class HostLimit:
    """What one device above the host leaves to the host: its limits less the most that its other loads may take.

    continuous_watts: for hours. words: the arithmetic.
    """

    device: str
    kind: str
    continuous_watts: float
    absolute_watts: float
    others_watts: float
    words: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "device": self.device,
            "kind": self.kind,
            "continuous_watts": self.continuous_watts,
            "absolute_watts": self.absolute_watts,
            "others_watts": self.others_watts,
            "words": self.words,
        }


@dataclass(frozen=True)
class Rung:
    """One step. cards: loaded at it. devices: worst case of each device above the host. refusal: why it isn't taken."""

    number: int
    cards: list[str]
    host_watts: float
    host_high_watts: float
    devices: list[dict[str, Any]]
    refusal: Finding | None = None

    @property
    def text(self) -> str:
        """``step 2 of ...`` is the caller's; this says what the planner expects."""
        loads = f"card{'s' if len(self.cards) > 1 else ''} {', '.join(self.cards)} loaded" if self.cards else "no load"
        return f"{loads}: host {_range(self.host_watts, self.host_high_watts)}; " + "; ".join(
            f"{one['name']} {_range(one['nominal_watts'], one['high_watts'])}"
            f" of {watts_text(one['continuous_watts'])} for hours"
            for one in self.devices
            if one["continuous_watts"] is not None
        )


@dataclass(frozen=True)
class Ladder:
    """rungs: the steps that are taken, number 0 without load first. refused: the first that isn't.

    stop_at_watts: the host's watts at which the load is ended; stop_words: where that comes from. machine_watts,
    floor_watts: the machine without its cards at most and at least. loss_factor: what readings are raised by. others:
    what was counted for each other load of the devices above, in words.
    """

    host: str
    rungs: list[Rung]
    refused: Rung | None
    limits: list[HostLimit]
    stop_at_watts: float
    stop_words: str
    machine_watts: float
    floor_watts: float
    loss_factor: float
    others: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


class LadderError(Exception):
    """There is nothing that may be measured; findings say why."""

    def __init__(self, found: Sequence[Finding]) -> None:
        super().__init__("; ".join(one.message for one in found))
        self.findings = list(found)


def measure_ladder(
    fleet: Fleet,
    host: Host,
    groups: Sequence[Collection[str]],
    enforced: Mapping[str, float] | None = None,
    stop_at_watts: float | None = None,
) -> Ladder:
    """The ladder over `groups`: cards that are loaded together, in order.

    Other hosts count with all of their cards loaded: nothing keeps anybody from loading them while this host is
    measured. enforced: card -> the limit that it enforces now. stop_at_watts: a lower threshold than the devices
    allow. Raises LadderError where no device is known above the host, or a threshold is asked that is above a limit.
    """
    others = {name: set(one.gpus) for name, one in fleet.hosts.items() if name != host.host}

    def at(cards: Collection[str]) -> SitePower:
        return site_power(
            fleet, host.site, loaded={**others, host.host: set(cards)}, limits={host.host: enforced or {}}
        )

    full = at(host.gpus)
    limits = host_limits(full, host.host)
    if not limits:
        message = f"no device with a rating feeds {host.host}: nothing says when its load must end"
        raise LadderError([finding("power.measure_step_refused", f"host:{host.host}", message)])
    stop, words = _stop_threshold(host.host, limits, stop_at_watts)
    rungs: list[Rung] = []
    refused: Rung | None = None
    cards: list[str] = []
    for number, group in enumerate([(), *groups]):
        cards = [*cards, *(card for card in group if card not in cards)]
        rung = _rung(number, list(cards), at(cards), host.host)
        if rung.refusal is not None:
            refused = rung
            break
        rungs.append(rung)
    found = [refused.refusal] if refused is not None and refused.refusal is not None else []
    machine, floor, factor = machine_figures(host)
    assumed = _other_loads(full, host.host)
    return Ladder(host.host, rungs, refused, limits, stop, words, machine, floor, factor, assumed, found)


def host_limits(power: SitePower, host: str) -> list[HostLimit]:
    """What each device in use above `host` leaves to it; devices without a rating leave nothing that is known."""
    found = []
    own = next((one.draw.watts for one in power.loads if one.name == host), 0.0)
    for device in power.devices:
        term = next((one for one in device.terms if one.name == host), None)
        if term is None or device.continuous_watts is None or device.absolute_watts is None:
            continue
        others = sum(one.draw.high_watts for one in device.terms if one.name != host)
        # through a ups that loses some, a watt of the host is more than one at the device
        factor = term.draw.watts / own if own else 1.0
        words = f"{watts_text(device.continuous_watts)} of {device.name}"
        if others:
            names = ", ".join(one.name for one in device.terms if one.name != host)
            words += f" less up to {watts_text(others)} of {names}"
        if abs(factor - 1) > 1e-6:
            words += f", by {factor:.2f}"
        found.append(
            HostLimit(
                device.name,
                device.circuit.kind,
                (device.continuous_watts - others) / factor,
                (device.absolute_watts - others) / factor,
                others,
                words,
            )
        )
    return sorted(found, key=lambda one: one.continuous_watts)


def _other_loads(power: SitePower, host: str) -> list[str]:
    """``fv-edge 125 W (estimate), up to 150 W`` of each load that shares a device with the host."""
    beside = {term.name for one in power.devices if any(term.name == host for term in one.terms) for term in one.terms}
    found = []
    for load in power.loads:
        if load.name in beside - {host}:
            most = f", up to {watts_text(load.draw.high_watts)}" if load.draw.high_watts > load.draw.watts else ""
            found.append(f"{load.arithmetic}{most}")
    return found


def _stop_threshold(host: str, limits: list[HostLimit], asked: float | None) -> tuple[float, str]:
    least = limits[0]
    if asked is None:
        return least.continuous_watts, least.words
    if asked > least.continuous_watts:
        message = (
            f"stop_at_watts={asked:g} is above what {least.device} leaves to {host}: {least.words}"
            f" = {watts_text(least.continuous_watts)}; a lower threshold is allowed, a higher one is not"
        )
        raise LadderError([finding("power.measure_step_refused", f"host:{host}", message)])
    return asked, "as asked"


def _rung(number: int, cards: list[str], power: SitePower, host: str) -> Rung:
    above = [one for one in power.devices if any(term.name == host for term in one.terms)]
    load = next(one for one in power.loads if one.name == host)
    return Rung(
        number,
        cards,
        load.draw.watts,
        load.draw.high_watts,
        [_device(one) for one in above],
        _refusal(number, cards, above, power, host),
    )


def _device(device: DevicePower) -> dict[str, Any]:
    return {
        "name": device.name,
        "nominal_watts": device.draw.watts,
        "high_watts": device.draw.high_watts,
        "continuous_watts": device.continuous_watts,
        "verdict": device.verdict,
    }


def _refusal(number: int, cards: list[str], above: list[DevicePower], power: SitePower, host: str) -> Finding | None:
    bad = [one for one in above if one.verdict in _REFUSED]
    if not cards or not bad:
        return None
    worst = max(bad, key=lambda one: (_REFUSED.index(one.verdict), one.draw.watts))
    sums = " + ".join(one.arithmetic for one in power.loads if any(term.name == one.name for term in worst.terms))
    if worst.verdict == "unknown":
        why = f"the load of {', '.join(worst.unknown_loads) or worst.name} on {worst.name} is not known: {sums}"
    else:
        why = f"{worst.name} would carry {sums} = {watts_text(worst.draw.watts)}, and it has {worst.rating_text}"
    message = f"step {number} (cards {', '.join(cards)} loaded) is not taken: {why}"
    evidence = {"step": number, "device": worst.name, "watts": worst.draw.watts, "limit_watts": worst.continuous_watts}
    return finding("power.measure_step_refused", f"host:{host}", message, evidence)


def machine_figures(host: Host) -> tuple[float, float, float]:
    """Most and least of the machine without its cards, and what readings of this host are raised by at worst."""
    power = host.power
    if power is None:
        return 0.0, 0.0, 1.0
    load, rest, loss = power.under_load or power.baseline, power.baseline, power.supply_loss
    factor = 1.0 if loss is None or loss.reads == "ac" else 1.0 + max(loss.low, loss.high)
    return (load.high_watts if load else 0.0), (rest.low_watts if rest else 0.0), factor


def _range(watts: float, high_watts: float) -> str:
    text = f"{watts:.0f}"
    return f"{text} W" if high_watts - watts < 0.5 else f"{text} W (up to {high_watts:.0f} W)"


__all__ = ["HostLimit", "Ladder", "LadderError", "Rung", "host_limits", "machine_figures", "measure_ladder"]
