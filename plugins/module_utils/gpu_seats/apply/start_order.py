"""Seats that share a card start one after the other.

vLLM measures free memory twice while it starts and refuses if a neighbour changed it in between ("Error in memory
profiling"); llama.cpp and other tenants allocate in the same window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .wanted import WantedService


@dataclass(frozen=True)
class Start:
    """One service that is about to start."""

    stack: str
    service: WantedService

    @property
    def name(self) -> str:
        return f"{self.stack}/{self.service.name}"


def chains(starts: Sequence[Start], sequence: Sequence[str] = ()) -> list[list[Start]]:
    """Starts that must wait for each other, each list in order; services alone on their cards are in none.

    sequence: names ``stack/service`` in the wanted order; those it does not name follow in the order given.
    """
    order = {name: position for position, name in enumerate(sequence)}
    groups: list[tuple[set[str], list[Start]]] = []
    for start in starts:
        if not start.service.gpus:
            continue
        cards, members = set(start.service.gpus), [start]
        apart = []
        for group_cards, group in groups:
            if group_cards & cards:
                cards |= group_cards
                members = group + members
            else:
                apart.append((group_cards, group))
        groups = [*apart, (cards, members)]
    given = {start.name: position for position, start in enumerate(starts)}
    last = len(order)
    return [
        sorted(group, key=lambda start: (order.get(start.name, last), given[start.name]))
        for _cards, group in groups
        if len(group) > 1
    ]


__all__ = ["Start", "chains"]
