"""A measurement in the terminal: one line a step, what it means for the devices above, and what to do with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..plan.power.ladder import HostLimit
    from ..plan.power.measurement import Measurement, Spread, SupplyReading


def measured_text(
    measured: Measurement,
    limits: Sequence[HostLimit],
    supply: SupplyReading | None,
    diff: str,
    written: Sequence[str],
    cautions: Sequence[str] = (),
) -> str:
    """The whole answer, ends with a newline. cautions: what to know before the diff is taken over."""
    rows = [("step", "loaded", "cards", "BMC", "machine", "samples")]
    for step in measured.steps:
        loaded = ", ".join(step.cards) or "none"
        figures = (_watts(step.cards_watts), _watts(step.bmc), _watts(step.machine))
        rows.append((str(step.number), loaded, *figures, str(step.samples)))
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = [f"{measured.host}: measured, average of each step", ""]
    lines += ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    lines += ["", *_against_limits(measured, limits)]
    if supply is not None:
        meaning = {"ac": "the BMC reads AC", "dc": "the BMC reads DC", "unknown": "AC or DC stays unknown"}
        lines += [f"{supply.words}: {meaning[supply.reads]}"]
    if diff:
        lines += ["", "proposed for the host file, applied by nobody:", "", diff.rstrip("\n"), "", *cautions]
    lines += [f"wrote {path}" for path in written]
    return "\n".join(lines) + "\n"


def _against_limits(measured: Measurement, limits: Sequence[HostLimit]) -> list[str]:
    peak = measured.peak_watts
    if peak is None:
        return []
    return [
        f"peak {peak:.0f} W at the BMC, {100 * peak / one.continuous_watts:.0f} % of the {one.continuous_watts:.0f} W"
        f" that {one.device} leaves to the host for hours ({one.words})"
        for one in limits
        if one.continuous_watts > 0
    ]


def _watts(spread: Spread | None) -> str:
    if spread is None:
        return "no value"
    return f"{spread.average:.0f} W ({spread.minimum:.0f} to {spread.maximum:.0f})"
