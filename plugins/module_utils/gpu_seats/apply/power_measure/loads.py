"""What is started for a step: one command a card, or requests to the seats of the cards."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .plan import LoadedSeat, MeasuredCard, MeasurePlan, Step
from .seat_load import load_seats

PLACEHOLDERS = ("uuid", "index", "card", "watts", "seconds")
OF_A_CARD = ("uuid", "index", "card")
EXAMPLE = """-e "load_command='gpu-burn -i {index} {seconds}'\""""
"""As it is typed: Ansible splits what follows -e at spaces, and a shell takes the outer quotes away."""
TASKS = {"seats": load_seats}
"""Loads that are no command, for the keeper."""

_PLACEHOLDER = re.compile(r"\{(\w*)\}")


@dataclass(frozen=True)
class LoadOrder:
    """One load. cards: what it puts under load. argv: a command, else `task` with `argument`."""

    name: str
    cards: tuple[str, ...]
    limit_s: float
    argv: tuple[str, ...] = ()
    task: str = ""
    argument: Any = None


def command_words(text: str) -> tuple[str, ...]:
    """The words of a load command; no shell is between. Raises ValueError for what cannot be split or filled in."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise ValueError(f"load_command {text!r}: {error}") from error
    if not words:
        raise ValueError("load_command is empty")
    strange = sorted({name for word in words for name in _PLACEHOLDER.findall(word)} - set(PLACEHOLDERS))
    if strange:
        unknown, allowed = (", ".join("{" + name + "}" for name in names) for names in (strange, PLACEHOLDERS))
        raise ValueError(f"load_command: unknown {unknown}; there are {allowed}")
    if not any("{" + name + "}" in word for word in words for name in OF_A_CARD):
        # without the inner quotes only the first word arrives, and all cards would run the same command
        raise ValueError(
            f"load_command {text!r} says nowhere which card it loads: {{index}}, {{uuid}} or {{card}} is needed. Where"
            f" words are missing, they were lost for want of quotes inside the quotes: {EXAMPLE}"
        )
    return words


def filled_in(words: tuple[str, ...], card: MeasuredCard, index: int | None, seconds: float) -> tuple[str, ...]:
    """The command for one card. Raises ValueError where it asks for an index that is not known."""
    values = {
        "uuid": card.uuid,
        "index": "" if index is None else str(index),
        "card": card.card,
        "watts": f"{card.cap_watts:.0f}",
        "seconds": f"{seconds:.0f}",
    }
    if index is None and any("{index}" in word for word in words):
        raise ValueError(f"card {card.card}: nvidia-smi gives no index for {card.uuid}; use {{uuid}} in load_command")
    return tuple(_PLACEHOLDER.sub(lambda match: values[match.group(1)], word) for word in words)


def remaining_s(plan: MeasurePlan, step: Step) -> float:
    """How long a load of this step may be needed: until the end of the last one, with room."""
    times, left = plan.times, [one for one in plan.steps if one.number >= step.number]
    raising = sum(len(one.cards) for one in left) * (times.every_s + 5)
    return len(left) * (times.settle_s + times.hold_s) + times.top_s + raising + 60


def loads_of(plan: MeasurePlan, step: Step, indices: Mapping[str, int | None], seconds: float) -> list[LoadOrder]:
    """Everything that runs during a step, in the order in which it is started."""
    if plan.load.command:
        return [
            LoadOrder(
                f"load of card {name}",
                (name,),
                seconds,
                argv=filled_in(plan.load.command, plan.card(name), indices.get(plan.card(name).uuid), seconds),
            )
            for name in step.cards
        ]
    orders: dict[str, LoadOrder] = {}
    for name in step.cards:
        for seat in plan.load.seats:
            if name in seat.cards and set(seat.cards) <= set(step.cards):
                orders.setdefault(seat.seat, _seat_order(plan, seat, seconds))
    return list(orders.values())


def _seat_order(plan: MeasurePlan, seat: LoadedSeat, seconds: float) -> LoadOrder:
    argument = {"seats": [asdict(seat)], "requests": plan.load.requests}
    return LoadOrder(f"requests to {seat.seat}", seat.cards, seconds, task="seats", argument=argument)


__all__ = ["EXAMPLE", "PLACEHOLDERS", "TASKS", "LoadOrder", "command_words", "filled_in", "loads_of", "remaining_s"]
