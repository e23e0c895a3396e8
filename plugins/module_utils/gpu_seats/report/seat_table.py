"""The table that every verb ends with: one line a seat, then what was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Optional

from ..findings import Finding
from .finding_list import count_text, distinct, findings_text
from .styled import Cell, Column, lines_text, table_text
from .terminal import PLAIN, Terminal, wrapped

_COLUMNS = (Column("seat"), Column("state"), Column("card"), Column("port"), Column("verdict"))

_READABLE = 32
"""Columns that a verdict wants; a terminal with less room gets it below the seat."""


@dataclass(frozen=True)
class SeatRow:
    """One line of the table. cards: as declared, ``2`` or ``0,1``; ``cpu`` for none. ok None: not verified."""

    seat: str
    state: str
    cards: str
    port: str
    verdict: str
    ok: Optional[bool] = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def cards_text(cards: Optional[Sequence[str]]) -> str:
    """``["0", "1"]`` -> ``0,1``, ``[]`` -> ``cpu``, None (no card is declared) -> ``-``."""
    if cards is None:
        return "-"
    return ",".join(cards) if cards else "cpu"


def seat_table_text(rows: Iterable[SeatRow], findings: Iterable[Finding], terminal: Terminal = PLAIN) -> str:
    """The table, and below it the findings with their remedies."""
    found = distinct(findings)
    cells = [_cells(row) for row in rows]
    parts = []
    if cells:
        fits = _fits(cells, terminal)
        parts.append(table_text(_COLUMNS, cells, terminal) if fits else _below_each_other(cells, terminal))
    if found:
        parts.append(f"{count_text(found)}\n" + findings_text(found, terminal))
    return "\n".join(parts)


def _fits(rows: Sequence[tuple[Cell, ...]], terminal: Terminal) -> bool:
    """Whether the verdict column keeps a readable width beside the four others."""
    widths = (max([len(column.heading), *(len(row[at].text) for row in rows)]) for at, column in enumerate(_COLUMNS))
    *others, verdict = widths
    return terminal.width - sum(others) - 2 * len(others) >= min(verdict, _READABLE)


def _below_each_other(rows: Sequence[tuple[Cell, ...]], terminal: Terminal) -> str:
    lines: list[Sequence[Cell]] = []
    for seat, state, cards, port, verdict in rows:
        heading = f"{seat.text}  {state.text}  card {cards.text}  port {port.text}"
        lines += [(Cell(line),) for line in wrapped(heading, terminal.width)]
        lines += [(Cell(line, verdict.style),) for line in wrapped(verdict.text, terminal.width, "    ", "    ")]
    return lines_text(lines, terminal)


def _cells(row: SeatRow) -> tuple[Cell, ...]:
    style = {True: "green", False: "red", None: ""}[row.ok]
    return (Cell(row.seat), Cell(row.state), Cell(row.cards), Cell(row.port or "-"), Cell(row.verdict, style))
