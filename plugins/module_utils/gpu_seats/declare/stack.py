"""A stack: one Docker Compose project, declared in ``stacks/<stack>/stack.yml``."""

from __future__ import annotations

from typing import Optional

from pydantic import Field

from .fields import Assumed, Name, Record
from .seat import Seat
from .workload import Note, Service, Workload


class Stack(Record):
    """One Compose project. `project` is set only where a running project has a name that the rule does not give."""

    stack: Name = Field(description="The name of its folder")
    host: Name = Field(description="Host file it is deployed to")
    summary: str = Field(description="What it is for, in one line")
    project: Optional[str] = Field(
        None, pattern=r"^[a-z0-9][a-z0-9_-]*$", description="Compose project, where the folder's name does not give it"
    )
    seats: dict[Name, Seat] = Field(default_factory=dict, description="Served models, by name; unique in the fleet")
    services: dict[Name, Service] = Field(default_factory=dict, description="Containers that serve no model, by name")
    notes: list[Note] = Field(default_factory=list, description="Dated statements; the latest one wins")
    assumed: Assumed = Field(default_factory=dict, description="Keys that no source gives, each with why it is so")

    @property
    def workloads(self) -> dict[str, Workload]:
        """Seats, then services, by name."""
        return {**self.seats, **self.services}
