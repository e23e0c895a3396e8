"""Cards of one host beside their caps, and what is measured of the host beside its worst case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

from .styled import Cell, Column, table_text
from .terminal import PLAIN, Terminal, wrapped

_COLUMNS = (
    Column("card"),
    Column("cap", right=True),
    Column("limit", right=True),
    Column("draws now", right=True),
    Column("verdict"),
)
_STYLE = {True: "green", False: "red", None: "yellow"}
_SOURCES = {"dcmi": "DCMI", "sensor": "a sensor"}


def watts_text(watts: Optional[float], digits: int = 0) -> str:
    """``275 W``, ``14.2 W`` with a digit, ``?`` for a value that nobody gave."""
    return "?" if watts is None else f"{watts:,.{digits}f} W"


def power_cards_text(host: Mapping[str, Any], terminal: Terminal = PLAIN) -> str:
    """host: ``{host, cards, bmc, worst_watts}``; cards as `power_verify` returns them, ok None: not set yet.

    bmc: the result of `bmc_power_info`, None where nobody asked.
    """
    rows = [_row(one) for one in host["cards"]]
    table = table_text(_COLUMNS, rows, terminal) if rows else "no caps are declared\n"
    lines = wrapped(measured_text(host), terminal.width, "", "  ")
    return f"{host['host']}\n{table}" + "".join(f"{line}\n" for line in lines)


def _row(card: Mapping[str, Any]) -> Sequence[Cell]:
    return (
        Cell(str(card["card"])),
        Cell(watts_text(card["cap_watts"])),
        Cell(watts_text(card["limit_watts"])),
        Cell(watts_text(card["draw_watts"], 1)),
        Cell(str(card["verdict"]), _STYLE[card["ok"]]),
    )


def measured_text(host: Mapping[str, Any]) -> str:
    """``cards draw 63 W now, at most 1,100 W by their limits; ...`` and what the BMC reads beside the worst case."""
    draws = [one["draw_watts"] for one in host["cards"]]
    limits = [one["limit_watts"] for one in host["cards"]]
    parts = []
    if draws:
        parts.append(f"cards draw {_sum_text(draws)} now, at most {_sum_text(limits)} by their limits")
    bmc = host.get("bmc")
    worst = host.get("worst_watts")
    counted = "" if worst is None else f", {watts_text(worst)} is its worst case"
    if bmc is None:
        parts.append(f"the whole machine was not measured{counted}")
    elif bmc.get("watts") is None:
        parts.append(f"the whole machine can't be measured ({bmc.get('reason') or 'no reason given'}){counted}")
    else:
        source = _SOURCES.get(str(bmc.get("source")), str(bmc.get("source")))
        parts.append(f"the whole machine draws {watts_text(bmc['watts'])} by its BMC ({source}){counted}")
    return "; ".join(parts)


def _sum_text(values: Sequence[Optional[float]]) -> str:
    known = [one for one in values if one is not None]
    if not known:
        return "an unknown power"
    unknown = len(values) - len(known)
    return watts_text(sum(known)) + (f" (and {unknown} unknown)" if unknown else "")
