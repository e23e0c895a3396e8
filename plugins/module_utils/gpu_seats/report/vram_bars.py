"""VRAM of each card before and after a deployment, readable without colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

from .styled import Cell, Column, lines_text, table_text
from .terminal import PLAIN, Terminal, wrapped

BAR_WIDTH = 32
LEGEND = "= stays  + new  - freed  . free  r driver reserve  ! over"
_COLUMNS = (
    Column("card"),
    Column("total", right=True),
    Column("before", right=True),
    Column("after", right=True),
    Column("left", right=True),
    Column("measured free", right=True),
    Column("peak use"),
)


def vram_bar(total_mib: float, reserve_mib: float, before_mib: float, after_mib: float, width: int = BAR_WIDTH) -> str:
    """``[====++++...r]``: each mark stands for total/width; ``!`` where the claims pass what the driver leaves.

    Anything above zero gets at least one mark, so that a small tenant is seen.
    """
    kept = _marks(min(before_mib, after_mib), total_mib, width)
    after = _marks(after_mib, total_mib, width)
    before = _marks(before_mib, total_mib, width)
    if after_mib > before_mib and after == kept:
        after += 1
    if before_mib > after_mib and before == kept:
        before += 1
    reserve = _marks(reserve_mib, total_mib, width)
    marks = "=" * kept + "+" * max(0, after - kept) + "-" * max(0, before - max(kept, after))
    room = width - reserve
    if after_mib > total_mib - reserve_mib:
        return "[" + marks[: width - 1].ljust(width - 1, "+") + "!]"
    return "[" + marks[:room].ljust(room, ".") + "r" * reserve + "]"


def _marks(mib: float, total_mib: float, width: int) -> int:
    if mib <= 0 or total_mib <= 0:
        return 0
    return max(1, min(width, round(mib / total_mib * width)))


def vram_text(cards: Sequence[Mapping[str, Any]], terminal: Terminal = PLAIN) -> str:
    """The table of `CardBudget.as_dict` records in GiB, then who takes what on each card."""
    if not cards:
        return ""
    rows = [_row(card) for card in cards]
    measured = any(card["free_mib"] is not None for card in cards)
    columns = [column for column in _COLUMNS if measured or column.heading != "measured free"]
    shown = [tuple(cell for cell, column in zip(row, _COLUMNS) if column in columns) for row in rows]
    if terminal.width < 80:  # the numbers are what counts, the bar is their picture
        columns, shown = columns[:-1], [row[:-1] for row in shown]
        legend = ""
    else:
        legend = f"{LEGEND}\n"
    heading = "\n".join(wrapped("VRAM claimed by serving seats, running or not, GiB", terminal.width))
    text = f"{heading}\n" + table_text(columns, shown, terminal) + legend
    tenants = [line for card in cards for line in _tenant_lines(card, terminal)]
    return text + (lines_text([(Cell(line),) for line in tenants], terminal) if tenants else "")


def _row(card: Mapping[str, Any]) -> tuple[Cell, ...]:
    left_mib = card["capacity_mib"] - card["after_mib"]
    numbers = [card["total_mib"], card["before_mib"], card["after_mib"]]
    bar = vram_bar(card["total_mib"], card["driver_reserve_mib"], card["before_mib"], card["after_mib"])
    return (
        Cell(card["card"]),
        *(Cell(_gib(mib)) for mib in numbers),
        Cell(_gib(left_mib), "red" if left_mib < 0 else ""),
        Cell(_gib(card["free_mib"])),
        Cell(bar),
    )


def _gib(mib: Optional[float]) -> str:
    return "?" if mib is None else f"{mib / 1024:.1f}"


def _tenant_lines(card: Mapping[str, Any], terminal: Terminal) -> list[str]:
    """``card 2: flash-next 93.0 (declared 95,232 MiB)``; a claim that nobody knows is a question mark."""
    if not card["after"]:
        return []
    claims = [f"{claim['workload']} {_gib(claim['mib'])} ({claim['basis']})" for claim in card["after"]]
    lead = f"card {card['card']}: "
    return wrapped(", ".join(claims), terminal.width, lead, " " * len(lead))
