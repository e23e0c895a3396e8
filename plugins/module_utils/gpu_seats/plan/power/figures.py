"""Watts as a range, and the terms that a load's sum is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...declare.power import WattsFigure

STANDINGS = ("measured", "derived", "estimate", "assumed", "unknown")
"""How sure a figure is, the surest first."""

ROUNDING_WATTS = 1e-6
"""Sums of broken watts miss by parts of a microwatt; a device that is exactly full is not over."""


@dataclass(frozen=True)
class Draw:
    """low_watts <= watts <= high_watts. watts: what sums count with."""

    watts: float
    low_watts: float
    high_watts: float

    def __add__(self, other: Draw) -> Draw:
        return Draw(self.watts + other.watts, self.low_watts + other.low_watts, self.high_watts + other.high_watts)

    def times(self, factor: float) -> Draw:
        return Draw(self.watts * factor, self.low_watts * factor, self.high_watts * factor)


NOTHING = Draw(0.0, 0.0, 0.0)


def exactly(watts: float) -> Draw:
    return Draw(watts, watts, watts)


def total(draws: Iterable[Draw]) -> Draw:
    return sum(draws, NOTHING)


@dataclass(frozen=True)
class Term:
    """One part of a sum. how: where it comes from. product: ``4 x 275 W`` where it is one, else empty."""

    name: str
    draw: Draw
    standing: str
    how: str
    product: str = ""

    @property
    def counted(self) -> str:
        """As a summand of a line: ``4 x 275 W cards``, ``400 W machine under load``."""
        if self.product:
            return f"{self.product} {self.name.partition(' ')[2]}"
        return f"{watts_text(self.draw.watts)} {self.name}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "watts": self.draw.watts,
            "low_watts": self.draw.low_watts,
            "high_watts": self.draw.high_watts,
            "standing": self.standing,
            "how": self.how,
            "product": self.product,
        }


def term_of(name: str, figure: WattsFigure) -> Term:
    """The declared figure; when it was read stands in its `how`."""
    day = f" ({figure.date.isoformat()})" if figure.date is not None else ""
    draw = Draw(figure.watts, figure.low_watts, figure.high_watts)
    return Term(name, draw, figure.standing, f"{figure.how or ''}{day}".strip())


def weakest(standings: Iterable[str]) -> str:
    """What a sum of figures of these standings is worth; ``unknown`` for no figure at all."""
    return max(standings, key=STANDINGS.index, default="unknown")


def watts_text(watts: float) -> str:
    """``1625 W``; a broken figure keeps two decimals, so that the sum of a line stays true."""
    return f"{round(watts, 2):.10g} W" if abs(watts) < 1e5 else f"{watts:,.0f} W"


def rounded_text(watts: float) -> str:
    """Whole watts, for tables that nobody adds up."""
    return f"{watts:.0f} W"


def range_text(draw: Draw) -> str:
    """``25 to 150 W``; one figure where there is no range."""
    low, high = rounded_text(draw.low_watts), rounded_text(draw.high_watts)
    return high if low == high else f"{low.removesuffix(' W')} to {high}"


def share_text(share: float | None) -> str:
    return "?" if share is None else f"{100 * share:.0f} %"
