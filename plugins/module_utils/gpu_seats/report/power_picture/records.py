"""What is drawn: the devices and loads of one site as records, whatever shape they came in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

GROUPS = ("cards", "machine", "router", "other", "loss")
"""Kinds of segments, in the order in which they are stacked."""

STANDINGS = ("measured", "derived", "estimate")
"""How far a figure is to be believed, best first; ``assumed`` counts as an estimate."""


@dataclass(frozen=True)
class Part:
    """One figure below a device. group: one of GROUPS. watts: None when nobody knows it."""

    load: str
    group: str
    name: str
    watts: float | None
    low_watts: float | None
    high_watts: float | None
    standing: str
    how: str = ""


@dataclass(frozen=True)
class Reading:
    """Watts that were read. source: what was read, such as ``BMC``. on: the day or time, empty when not told."""

    source: str
    watts: float
    on: str = ""


@dataclass(frozen=True)
class Load:
    """A host or anything else that draws. watts: None when nothing of it is known. unknown: what is missing.

    measured: what it takes now. readings: what it was read to take before. fate: what goes dark together with it.
    """

    name: str
    role: str
    summary: str
    parts: tuple[Part, ...]
    watts: float | None
    low_watts: float | None
    high_watts: float | None
    unknown: tuple[str, ...] = ()
    measured: tuple[Reading, ...] = ()
    readings: tuple[Reading, ...] = ()
    fate: str = ""


@dataclass(frozen=True)
class Device:
    """A protective device. loads: names of everything below it. parts: figures of these loads.

    unknown_loads: those whose watts are not wholly known, so that the sum is a lower bound. gives_first: why it is the
    first to give; empty for all others. range_reason: what would have to be so for the high end.
    """

    name: str
    kind: str
    rating: str
    parents: tuple[str, ...]
    in_use: bool
    absolute_watts: float | None
    continuous_watts: float | None
    watts: float | None
    low_watts: float | None
    high_watts: float | None
    loads: tuple[str, ...]
    parts: tuple[Part, ...]
    verdict: str
    standing: str = ""
    feeds: tuple[str, ...] = ()
    unknown_loads: tuple[str, ...] = ()
    gives_first: str = ""
    range_reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """A finding about this tree."""

    severity: str
    code: str
    subject: str
    message: str
    remedy: str = ""


@dataclass(frozen=True)
class PowerTree:
    """One site. question: what is asked beyond the declaration (``limit=300``), empty when nothing is.

    unmeasured: load and text of everything that nobody has read.
    """

    site: str
    devices: tuple[Device, ...]
    loads: tuple[Load, ...]
    findings: tuple[Found, ...] = ()
    summary: str = ""
    question: str = ""
    unmeasured: tuple[tuple[str, str], ...] = ()

    @property
    def first_to_give(self) -> Device | None:
        """The device that gives first, if that is told."""
        return next((device for device in self.devices if device.gives_first), None)

    @cached_property
    def by_name(self) -> dict[str, Load]:
        """The loads by their names."""
        return {load.name: load for load in self.loads}

    @property
    def in_use(self) -> list[Device]:
        """Devices that carry something."""
        return [device for device in self.devices if device.in_use]


def weakest_standing(parts: Iterable[Part]) -> str:
    """A sum is no better than its weakest figure."""
    ranks = [STANDINGS.index(part.standing) if part.standing in STANDINGS else len(STANDINGS) - 1 for part in parts]
    return STANDINGS[max(ranks, default=len(STANDINGS) - 1)]


def summed(values: Sequence[float | None]) -> float | None:
    """The sum; None when one of them is not known, and 0 for no values."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
