"""A site and its circuits, declared under ``gpu_seats_site`` in ``group_vars/site_<site>.yml``."""

from __future__ import annotations

from typing import Literal, Optional

from pydantic import Field

from .fields import Assumed, Fraction, Name, Record
from .workload import Note


class Circuit(Record):
    """A protective device with a rating and what hangs below it (hosts, other loads, further circuits)."""

    kind: Literal["breaker", "inlet", "ups", "pdu"]
    amps: Optional[float] = Field(None, gt=0)
    volts: Optional[float] = Field(None, gt=0)
    rating_va: Optional[float] = Field(None, gt=0)
    continuous: Fraction = Field(0.8, description="Share of the rating for continuous loads (NEC: 80 %)")
    feeds: list[str] = Field(description="Hosts, other loads and further circuits below it")
    in_use: bool = Field(True, description="false: known, but nothing hangs below it now")
    standing: Literal["measured", "derived", "estimate", "confirmed", "assumed"]
    reason: str


class Site(Record):
    """A place with its own power feed and edge router."""

    site: Name
    summary: str = Field(description="What it is, in one line")
    router: Optional[str] = Field(None, description="Host that is its edge router")
    circuits: dict[Name, Circuit] = Field(default_factory=dict)
    notes: list[Note] = Field(default_factory=list)
    assumed: Assumed = Field(default_factory=dict)
