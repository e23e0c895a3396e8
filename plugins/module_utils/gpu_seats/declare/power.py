"""What a machine draws, how sure that is, and what its cards may draw: ``power`` of a host file.

Every figure carries its standing. Caps and their reasons stand in ``caps`` and nowhere else.
"""

from __future__ import annotations

from typing import Literal, Optional

from pydantic import Field

from .fields import CardId, Date, LimitWatts, Record, Watts

FIGURE_EXAMPLE = "{watts: 400W, standing: estimate, how: a guess}"


class WattsFigure(Record):
    """Watts with where they come from; `low` and `high` are what they may be instead (`watts` unless given)."""

    watts: Watts = Field(description="The figure that sums count with")
    low: Optional[Watts] = Field(None, description="What it is at least")
    high: Optional[Watts] = Field(None, description="What it may be at most")
    standing: Literal["measured", "derived", "estimate", "assumed"] = Field(
        description="measured needs date and how", examples=["estimate"]
    )
    date: Optional[Date] = Field(None, description="Day of the reading", examples=["2026-09-30"])
    how: Optional[str] = Field(None, description="What was read, or what it is made from")

    @property
    def low_watts(self) -> float:
        return self.watts if self.low is None else min(self.low, self.watts)

    @property
    def high_watts(self) -> float:
        return self.watts if self.high is None else max(self.high, self.watts)


class SupplyLoss(Record):
    """Whether the host's figures are what the wall gives (AC) or what its supplies put out (DC)."""

    reads: Literal["ac", "dc", "unknown"] = Field(
        description="ac: nothing is added. dc: low to high is added. unknown: nothing to high is added"
    )
    low: float = Field(0.08, ge=0, lt=1, description="Least loss of the supplies, as a share of what is read")
    high: float = Field(0.10, ge=0, lt=1, description="Most loss of the supplies, as a share of what is read")
    reason: str


class AboveStock(Record):
    """Who decided when that cards run above their stock limit, and why the circuit takes it."""

    date: Date = Field(description="Day of the decision", examples=["2026-09-30"])
    reason: str


class Caps(Record):
    """The enforced limit of every card of the host: the only place of caps."""

    limit: LimitWatts = Field(description="Limit of each card that `cards` does not name")
    cards: dict[CardId, LimitWatts] = Field(default_factory=dict, description="Cards with a limit of their own")
    ceiling: Optional[LimitWatts] = Field(None, description="No cap may be above it, whatever the firmware takes")
    above_stock: Optional[AboveStock] = Field(
        None,
        description="Needed for a cap above the card's default limit",
        examples=["{date: 2026-09-30, reason: why}"],
    )
    reason: str = Field(description="Why the cards are capped as they are")

    def limit_of(self, card: str) -> float:
        return self.cards.get(card, self.limit)


class PowerLimits(Record):
    """Limits of one card as ``nvidia-smi -q -d POWER`` gives them. `max` is the firmware's ceiling, no target."""

    min: Watts
    default: LimitWatts
    max: LimitWatts


class PowerReading(Record):
    """One reading of the whole machine by its BMC, and of the cards at the same time."""

    date: Date
    source: str
    instantaneous: Optional[Watts] = None
    minimum: Optional[Watts] = None
    maximum: Optional[Watts] = None
    average: Optional[Watts] = None
    gpus: list[Watts] = Field(default_factory=list, description="Draw of each card, by index")
    remark: Optional[str] = None


class Power(Record):
    """What a machine draws besides its cards, what its cards may draw, and what nobody has measured."""

    baseline: Optional[WattsFigure] = Field(
        None, description="Machine without its cards, with no card loaded", examples=[FIGURE_EXAMPLE]
    )
    under_load: Optional[WattsFigure] = Field(
        None, description="Machine without its cards, under load", examples=[FIGURE_EXAMPLE]
    )
    card_idle: Optional[WattsFigure] = Field(
        None, description="One card without load; its cap unless given", examples=[FIGURE_EXAMPLE]
    )
    supply_loss: Optional[SupplyLoss] = Field(None, description="What the supplies lose on top of the figures")
    caps: Optional[Caps] = Field(None, description="Limits of the cards, and why they are so")
    circuit_alone: Optional[str] = Field(None, description="Circuit of the site that feeds this host and nothing else")
    readings: list[PowerReading] = Field(default_factory=list)
    unknown: list[str] = Field(default_factory=list, description="What nobody has measured")
