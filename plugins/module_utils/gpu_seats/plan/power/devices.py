"""What each protective device carries, against what it may carry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .figures import ROUNDING_WATTS, Draw, Term, share_text, total, watts_text

if TYPE_CHECKING:
    from ...declare.site import Circuit
    from .view import View


@dataclass(frozen=True)
class DevicePower:
    """One device. verdict: ok, over_possible (only its high end), over_continuous, over_absolute or unknown.

    loads: everything below it; plugged: those with no other device between. terms: one a load that it carries.
    unknown_loads: loads that are not known, or not wholly.
    """

    name: str
    circuit: Circuit
    parents: list[str]
    loads: list[str]
    plugged: list[str]
    terms: list[Term]
    unknown_loads: list[str] = field(default_factory=list)
    goes_dark: list[str] = field(default_factory=list)
    on_battery: list[str] = field(default_factory=list)

    @property
    def draw(self) -> Draw:
        return total(term.draw for term in self.terms)

    @property
    def absolute_watts(self) -> float | None:
        return self.circuit.absolute_watts

    @property
    def continuous_watts(self) -> float | None:
        return self.circuit.continuous_watts

    @property
    def share_of_continuous(self) -> float | None:
        return _share(self.draw.watts, self.continuous_watts)

    @property
    def share_of_absolute(self) -> float | None:
        return _share(self.draw.watts, self.absolute_watts)

    @property
    def headroom_watts(self) -> float | None:
        """What is left for hours; below zero where it is over."""
        return None if self.continuous_watts is None else self.continuous_watts - self.draw.watts

    @property
    def verdict(self) -> str:
        absolute, continuous = self.absolute_watts, self.continuous_watts
        if absolute is not None and self.draw.watts > absolute + ROUNDING_WATTS:
            return "over_absolute"
        if continuous is not None and self.draw.watts > continuous + ROUNDING_WATTS:
            return "over_continuous"
        if self.unknown_loads or continuous is None:
            return "unknown"
        return "over_possible" if self.draw.high_watts > continuous + ROUNDING_WATTS else "ok"

    @property
    def rating_text(self) -> str:
        """``20 A x 120 V = 2400 W, for hours 80 % = 1920 W``."""
        circuit = self.circuit
        if self.absolute_watts is None or self.continuous_watts is None:
            return "no rating"
        parts = []
        if circuit.amps and circuit.volts:
            parts.append(f"{circuit.amps:g} A x {circuit.volts:g} V = {watts_text(circuit.amps * circuit.volts)}")
        if circuit.rating_va and circuit.power_factor:
            of_va = watts_text(circuit.rating_va * circuit.power_factor)
            parts.append(f"{circuit.rating_va:g} VA x {circuit.power_factor:g} = {of_va}")
        if circuit.continuous_share < 1:
            parts.append(f"for hours {share_text(circuit.continuous_share)} = {watts_text(self.continuous_watts)}")
        return ", ".join(parts)

    def as_dict(self) -> dict[str, Any]:
        draw, continuous = self.draw, self.continuous_watts
        return {
            "name": self.name,
            "kind": self.circuit.kind,
            "parents": list(self.parents),
            "feeds": list(self.circuit.feeds),
            "bypass": list(self.circuit.bypass),
            "in_use": self.circuit.in_use,
            "standing": self.circuit.standing,
            "reason": self.circuit.reason,
            "rating_text": self.rating_text,
            "absolute_watts": self.absolute_watts,
            "continuous_watts": continuous,
            "low_watts": draw.low_watts,
            "nominal_watts": draw.watts,
            "high_watts": draw.high_watts,
            "share_of_continuous": self.share_of_continuous,
            "low_share_of_continuous": _share(draw.low_watts, continuous),
            "high_share_of_continuous": _share(draw.high_watts, continuous),
            "share_of_absolute": self.share_of_absolute,
            "headroom_watts": self.headroom_watts,
            "loads": list(self.loads),
            "plugged": list(self.plugged),
            "terms": [term.as_dict() for term in self.terms],
            "unknown_loads": list(self.unknown_loads),
            "goes_dark": list(self.goes_dark),
            "on_battery": list(self.on_battery),
            "verdict": self.verdict,
        }


def _share(watts: float, rating_watts: float | None) -> float | None:
    return None if not rating_watts else watts / rating_watts


def device_powers(view: View) -> list[DevicePower]:
    """Every device, those above before those below; one that is out of use carries nothing."""
    return [_device(view, name) for name in view.tree.in_order()]


def _device(view: View, name: str) -> DevicePower:
    tree = view.tree
    carried = {load: factor for load, factor in tree.carried(name).items() if load in view.loads}
    return DevicePower(
        name,
        tree.circuits[name],
        tree.parents(name),
        [load for load in tree.loads(name) if load in view.loads],
        [load for load in tree.plugged(name) if load in view.loads],
        [_term(view, load, factor) for load, factor in carried.items()],
        [load for load in carried if view.loads[load].unknown],
        [load for load in tree.dark_after(name) if load in view.loads],
        [load for load in tree.on_battery_after(name) if load in view.loads],
    )


def _term(view: View, load: str, factor: float) -> Term:
    term = view.loads[load].as_term
    if factor == 1.0:
        return term
    how = f"{watts_text(term.draw.watts)} / {1 / factor:g}, through a ups"
    return Term(term.name, term.draw.times(factor), term.standing, how)
