"""What the samples of one step come to. A figure without samples is None, never 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def step_figures(samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Average, least and most of the cards, of the BMC, and of the machine without its cards (both at one sample)."""
    cards = [one["cards_watts"] for one in samples if one.get("cards_watts") is not None]
    bmc = [one["bmc_watts"] for one in samples if one.get("bmc_watts") is not None]
    machine = [
        one["bmc_watts"] - one["cards_watts"]
        for one in samples
        if one.get("bmc_watts") is not None and one.get("cards_watts") is not None
    ]
    by_card: dict[str, list[float]] = {}
    for sample in samples:
        for card in sample.get("cards") or ():
            if card.get("draw_watts") is not None:
                by_card.setdefault(str(card["uuid"]), []).append(float(card["draw_watts"]))
    return {
        "from": samples[0]["t"] if samples else None,
        "until": samples[-1]["t"] if samples else None,
        "samples": len(samples),
        "cards_watts": spread(cards),
        "bmc_watts": spread(bmc),
        "machine_watts": spread(machine),
        "by_card": {uuid: spread(watts) for uuid, watts in by_card.items()},
    }


def spread(watts: Sequence[float]) -> dict[str, Any] | None:
    """``{average, minimum, maximum, count}``; None of nothing."""
    if not watts:
        return None
    return {
        "average": round(sum(watts) / len(watts), 1),
        "minimum": round(min(watts), 1),
        "maximum": round(max(watts), 1),
        "count": len(watts),
    }


__all__ = ["spread", "step_figures"]
