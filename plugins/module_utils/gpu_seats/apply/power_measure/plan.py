"""What a measurement is to do, as the controller planned it: steps, cards with their caps, load, limits, times."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class MeasuredCard:
    """A card of the host. Every card is watched, also those that no step loads."""

    card: str
    uuid: str
    cap_watts: float


@dataclass(frozen=True)
class Step:
    """One rung: the cards that are loaded at it, all of them together. Number 0 loads none."""

    number: int
    cards: tuple[str, ...]
    nominal_watts: float | None = None


@dataclass(frozen=True)
class LoadedSeat:
    """A seat that load is put on with requests."""

    seat: str
    cards: tuple[str, ...]
    port: int
    task: str
    served_name: str


@dataclass(frozen=True)
class Load:
    """command: one run a card, its words with placeholders filled in. seats: asked where there is no command."""

    command: tuple[str, ...] = ()
    seats: tuple[LoadedSeat, ...] = ()
    requests: int = 16


@dataclass(frozen=True)
class Limits:
    """stop_at_watts: of the whole host. machine_watts: the machine without its cards, where no BMC tells it.

    floor_watts: the least the machine draws, for a BMC that lags behind the cards. loss_factor: what readings are
    multiplied with at worst (they may be what the supplies give instead of what they take).
    """

    stop_at_watts: float
    machine_watts: float
    floor_watts: float = 0.0
    loss_factor: float = 1.0
    margin_watts: float = 20.0


@dataclass(frozen=True)
class Times:
    """Seconds. settle: after the last card of a step is loaded. hold: what is measured. top: what the last step is
    held longer, until a word comes. lease: how long the load goes on while nobody looks."""

    every_s: float = 3.0
    settle_s: float = 30.0
    hold_s: float = 60.0
    top_s: float = 0.0
    lease_s: float = 45.0


@dataclass(frozen=True)
class MeasurePlan:
    host: str
    folder: str
    cards: tuple[MeasuredCard, ...]
    steps: tuple[Step, ...]
    load: Load
    limits: Limits
    times: Times = Times()
    bmc: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The same for runs whose steps can be taken together: host, caps, steps and load; not times and limits."""
        same = {
            "host": self.host,
            "cards": [asdict(one) for one in self.cards],
            "steps": [[step.number, list(step.cards)] for step in self.steps],
            "load": asdict(self.load),
        }
        return hashlib.sha256(json.dumps(same, sort_keys=True).encode("utf-8")).hexdigest()[:12]

    @property
    def caps(self) -> dict[str, float]:
        """Cap by UUID."""
        return {one.uuid: one.cap_watts for one in self.cards}

    def card(self, name: str) -> MeasuredCard:
        return next(one for one in self.cards if one.card == name)

    def name_of(self, uuid: str) -> str:
        """The card's declared number, else its UUID."""
        return next((one.card for one in self.cards if one.uuid == uuid), uuid)

    def as_dict(self) -> dict[str, Any]:
        # tuples become lists, as in a file
        data: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return data


def measure_plan(data: Mapping[str, Any]) -> MeasurePlan:
    """The plan that `as_dict` was made from. Raises ValueError, naming the member, for what cannot be run."""
    try:
        plan = MeasurePlan(
            host=str(data["host"]),
            folder=str(data["folder"]),
            cards=tuple(MeasuredCard(str(c["card"]), str(c["uuid"]), float(c["cap_watts"])) for c in data["cards"]),
            steps=tuple(
                Step(int(s["number"]), tuple(str(card) for card in s["cards"]), _optional(s.get("nominal_watts")))
                for s in data["steps"]
            ),
            load=_load(data["load"]),
            limits=Limits(**{name: float(value) for name, value in data["limits"].items()}),
            times=Times(**{name: float(value) for name, value in (data.get("times") or {}).items()}),
            bmc=dict(data.get("bmc") or {}),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"this is no plan of a measurement: {type(error).__name__}: {error}") from error
    _check(plan)
    return plan


def _optional(value: Any) -> float | None:
    return None if value is None else float(value)


def _load(data: Mapping[str, Any]) -> Load:
    seats = tuple(
        LoadedSeat(
            str(one["seat"]),
            tuple(str(card) for card in one["cards"]),
            int(one["port"]),
            str(one["task"]),
            str(one["served_name"]),
        )
        for one in data.get("seats") or ()
    )
    command = tuple(str(word) for word in data.get("command") or ())
    return Load(command, seats, int(data.get("requests") or Load.requests))


def _check(plan: MeasurePlan) -> None:
    known = {one.card for one in plan.cards}
    for step in plan.steps:
        strange = [card for card in step.cards if card not in known]
        if strange:
            raise ValueError(f"steps.{step.number}: no card {', '.join(strange)}; there are {', '.join(sorted(known))}")
    if [step.number for step in plan.steps] != sorted({step.number for step in plan.steps}) or not plan.steps:
        raise ValueError("steps: numbers that rise are needed, at least one")
    if any(step.cards for step in plan.steps) and not plan.load.command and not plan.load.seats:
        raise ValueError("load: neither a command nor seats, so no card could be loaded")
    for name, value in asdict(plan.times).items():
        if value < 0 or (name in ("every_s", "lease_s") and value <= 0):
            raise ValueError(f"times.{name}: {value} is no time to wait")
    if plan.limits.stop_at_watts <= 0 or plan.limits.loss_factor < 1:
        raise ValueError("limits: stop_at_watts above 0 and loss_factor of at least 1 are needed")


__all__ = ["Limits", "Load", "LoadedSeat", "MeasurePlan", "MeasuredCard", "Step", "Times", "measure_plan"]
