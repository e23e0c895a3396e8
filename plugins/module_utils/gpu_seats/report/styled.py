"""Rich tables and lines as text: the one place that knows Rich."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .terminal import Terminal, printable

STYLE_OF_SEVERITY = {"critical": "bold red", "error": "red", "warning": "yellow", "info": "cyan"}


class Column(NamedTuple):
    """right: numbers, aligned right."""

    heading: str
    right: bool = False


class Cell(NamedTuple):
    text: str
    style: str = ""


def _console(terminal: Terminal) -> Console:
    # Everything is given: Rich must not look at the environment, where FORCE_COLOR or COLUMNS may say otherwise.
    return Console(
        file=io.StringIO(),
        width=terminal.width,
        force_terminal=terminal.colour,
        color_system="standard" if terminal.colour else None,
        no_color=not terminal.colour,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )


def _written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    return "".join(line.rstrip() + "\n" for line in lines)


def table_text(columns: Sequence[Column], rows: Iterable[Sequence[Cell]], terminal: Terminal) -> str:
    """A table without lines, two blanks between columns; cells wrap, nothing is cut. Ends with a newline."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    for column in columns:
        table.add_column(
            column.heading,
            justify="right" if column.right else "left",
            overflow="fold",
            min_width=len(column.heading),
            header_style="bold" if terminal.colour else "",
        )
    for row in rows:
        table.add_row(*(Text(printable(cell.text), style=cell.style) for cell in row))
    console = _console(terminal)
    console.print(table)
    return _written(console)


def lines_text(lines: Iterable[Sequence[Cell]], terminal: Terminal) -> str:
    """Lines made of styled parts, each ended by a newline; never wrapped here."""
    console = _console(terminal)
    for parts in lines:
        console.print(Text.assemble(*((part.text, part.style) for part in parts)), soft_wrap=True)
    return _written(console)
