"""What the place that text is written to can show: width and colour; text made safe and wrapped for it."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Mapping
from typing import NamedTuple, TextIO

WIDEST = 100
"""Columns a table takes at most, however wide the terminal is: longer lines are hard to read in a log."""
NARROWEST = 40


class Terminal(NamedTuple):
    """width: columns, 40 to 100. colour: whether ANSI colours may be written."""

    width: int = WIDEST
    colour: bool = False


PLAIN = Terminal()


def terminal_of(stream: TextIO, environ: Mapping[str, str]) -> Terminal:
    """The Terminal behind `stream`; a file or a pipe is 100 columns without colour.

    NO_COLOR (set to anything but nothing, https://no-color.org) and TERM=dumb switch colour off.
    """
    if not stream.isatty():
        return PLAIN
    colour = not environ.get("NO_COLOR") and environ.get("TERM", "") != "dumb"
    return Terminal(max(NARROWEST, min(WIDEST, _columns(stream, environ))), colour)


def _columns(stream: TextIO, environ: Mapping[str, str]) -> int:
    declared = environ.get("COLUMNS", "")
    if declared.isdigit() and int(declared) > 0:
        return int(declared)
    try:
        return os.get_terminal_size(stream.fileno()).columns or WIDEST
    except (OSError, ValueError):
        return WIDEST


_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """`text` without terminal escapes and control characters: tool output ends up in messages."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\t", " ")))


def wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Lines of at most `width` columns, led by `first` and then `rest`; line breaks of `text` are kept.

    A word longer than the line is left whole, so that a path or a command can still be copied.
    """
    lines: list[str] = []
    for part in printable(text).splitlines() or [""]:
        lead = rest if lines else first
        lines += textwrap.wrap(
            part,
            width,
            initial_indent=lead,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [lead.rstrip()]
    return lines
