"""A stack: one Docker Compose project, declared in ``stacks/<stack>/stack.yml``."""

from __future__ import annotations

from typing import Optional

from pydantic import Field

from .fields import Assumed, Name, Record
from .seat import Seat
from .workload import Note, Service, Workload


class Stack(Record):
    """One Compose project. `project` is set only where a running project has a name that the rule does not give."""

    stack: Name
    host: Name
    summary: str = Field(description="What it is for, in one line")
    project: Optional[str] = Field(None, pattern=r"^[a-z0-9][a-z0-9_-]*$")
    seats: dict[Name, Seat] = Field(default_factory=dict)
    services: dict[Name, Service] = Field(default_factory=dict)
    notes: list[Note] = Field(default_factory=list)
    assumed: Assumed = Field(default_factory=dict)

    @property
    def workloads(self) -> dict[str, Workload]:
        """Seats, then services, by name."""
        return {**self.seats, **self.services}
