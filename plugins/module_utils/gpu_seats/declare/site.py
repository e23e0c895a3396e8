"""A site and its circuits, declared under ``gpu_seats_site`` in ``group_vars/site_<site>.yml``."""

from __future__ import annotations

from typing import Literal, Optional

from pydantic import Field

from .fields import MOST_WATTS, Assumed, Date, Fraction, Name, Record
from .power import FIGURE_EXAMPLE, WattsFigure
from .workload import Note

BMC_SUFFIX = "/bmc"
"""``fv-ml1/bmc`` in feeds: the management controller of fv-ml1, plugged in apart from its host."""

_CONTINUOUS = {"breaker": 0.8, "inlet": 0.8, "pdu": 0.8, "ups": 1.0}


class Circuit(Record):
    """A protective device with a rating and what hangs below it (hosts, other loads, further circuits)."""

    kind: Literal["breaker", "inlet", "ups", "pdu"]
    amps: Optional[float] = Field(
        None, gt=0, le=10_000, description="Rated current; a breaker, an inlet and a pdu need it"
    )
    volts: Optional[float] = Field(
        None, gt=0, le=100_000, description="Rated voltage; a breaker, an inlet and a pdu need it"
    )
    rating_va: Optional[float] = Field(None, gt=0, le=MOST_WATTS, description="Rated output of a ups in VA")
    power_factor: Optional[Fraction] = Field(None, description="Watts that a ups gives for each VA of its rating")
    efficiency: Optional[Fraction] = Field(None, description="Of a ups: what is above it carries output / efficiency")
    continuous: Optional[Fraction] = Field(
        None, description="Share of the rating for continuous loads: 0.8 (NEC), for a ups 1.0, unless given"
    )
    feeds: list[str] = Field(description="Hosts, other loads and further circuits below it; <host>/bmc for a BMC alone")
    bypass: list[str] = Field(
        default_factory=list,
        description="What hangs on surge-only outlets of a ups: it loads what is above the ups, not its inverter",
    )
    in_use: bool = Field(True, description="false: known, but nothing hangs below it now")
    standing: Literal["measured", "derived", "estimate", "confirmed", "assumed"]
    reason: str
    date: Optional[Date] = Field(None, description="Day of the statement that the standing rests on")

    @property
    def absolute_watts(self) -> float | None:
        """What it carries at all; None where its rating is not complete."""
        by_current = self.amps * self.volts if self.amps and self.volts else None
        by_va = self.rating_va * self.power_factor if self.rating_va and self.power_factor else None
        return min((watts for watts in (by_current, by_va) if watts is not None), default=None)

    @property
    def continuous_share(self) -> float:
        return _CONTINUOUS[self.kind] if self.continuous is None else self.continuous

    @property
    def continuous_watts(self) -> float | None:
        """What it carries for hours; None where its rating is not complete."""
        return None if self.absolute_watts is None else self.absolute_watts * self.continuous_share


class Load(Record):
    """Something that takes power and is no host of the fleet."""

    summary: str = Field(description="What it is, in one line")
    watts: WattsFigure = Field(description="What it takes at its worst", examples=[FIGURE_EXAMPLE])
    role: Literal["router", "switch", "other"] = "other"


class Site(Record):
    """A place with its own power feed and edge router."""

    site: Name
    summary: str = Field(description="What it is, in one line")
    router: Optional[str] = Field(None, description="Host, or load of the site, that is its edge router")
    circuits: dict[Name, Circuit] = Field(default_factory=dict, description="Protective devices, by name")
    loads: dict[Name, Load] = Field(default_factory=dict, description="What takes power and is no host, by name")
    feed_proposal: dict[Name, Circuit] = Field(
        default_factory=dict, description="Circuits as they should be, so that the way in survives an overload"
    )
    notes: list[Note] = Field(default_factory=list)
    assumed: Assumed = Field(default_factory=dict)
