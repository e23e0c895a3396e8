"""What is drawn: the devices and loads of one site as records, whatever shape they came in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
    """Watts that were measured. source: what was read, such as ``BMC``. on: the day, empty when not told."""

    source: str
    watts: float
    on: str = ""


@dataclass(frozen=True)
class Load:
    """A host or anything else that draws. fate: why it goes dark together with what trips the device."""

    name: str
    role: str
    summary: str
    parts: tuple[Part, ...]
    watts: float | None
    low_watts: float | None
    high_watts: float | None
    readings: tuple[Reading, ...] = ()
    fate: str = ""


@dataclass(frozen=True)
class Device:
    """A protective device. loads: names of everything below it. parts: figures of these loads."""

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
    note: str = ""
    gives_first: str = ""


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
    """One site. question: what is asked beyond the declaration ("limit=300"), empty when nothing is."""

    site: str
    devices: tuple[Device, ...]
    loads: tuple[Load, ...]
    findings: tuple[Found, ...] = ()
    question: str = ""
    range_reason: str = ""

    def load(self, name: str) -> Load | None:
        """The load of that name; None for a name that is only mentioned."""
        return next((load for load in self.loads if load.name == name), None)

    @property
    def first_to_give(self) -> Device | None:
        """The device that gives first, if that is told."""
        return next((device for device in self.devices if device.gives_first), None)


def weakest_standing(parts: Iterable[Part]) -> str:
    """A sum is no better than its weakest figure."""
    ranks = [STANDINGS.index(part.standing) if part.standing in STANDINGS else len(STANDINGS) - 1 for part in parts]
    return STANDINGS[max(ranks, default=len(STANDINGS) - 1)]


def summed(values: Sequence[float | None]) -> float | None:
    """The sum; None when one of them is not known, and 0 for no values."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
