"""The words of one row: name, kind and marks on the left; what the bar means below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..power_verdicts import VERDICT_WORDS
from .bars import measured_place, stripes_of, text
from .markup import element
from .records import Device, Load, Part
from .scale import MARGIN, PLOT_LEFT, WIDTH, Scale
from .text_width import fitting_lines, text_width
from .words import (
    NOT_IN_USE,
    grouped,
    headline,
    high_end,
    kind_words,
    load_headline,
    measured_words,
    part_words,
    reading_words,
)

_LINE = 16.0
_SWATCH = 11.0
_COLUMN_GAP = 14.0
_STYLES = {"name": (14.0, True), "says": (13.0, True), "": (12.0, False)}
"""Size and weight of the classes of style.py, by their first word."""


@dataclass(frozen=True)
class Pill:
    """A framed word. look: `` open`` for an outline, `` alarm`` for what is wrong."""

    words: str
    look: str = ""


def lines_of(content: str, x: float, y: float, right: float, class_: str = "") -> tuple[list[str], float]:
    """`content` in lines from base line `y` on that end before `right`; and the base line of the line after."""
    size, bold = _STYLES.get(class_.split(" ")[0], _STYLES[""])
    lines = fitting_lines(content, right - x, size, bold) if content else []
    drawn = [text(x, y + index * _LINE, line, class_) for index, line in enumerate(lines)]
    return drawn, y + len(lines) * _LINE


def left_column(subject: Device | Load, x: float, top: float) -> tuple[list[str], float]:
    """Name, kind, marks; and where the column ends."""
    right = PLOT_LEFT - _COLUMN_GAP
    quiet = " quiet" if isinstance(subject, Device) and not subject.in_use else ""
    names, y = lines_of(subject.name, x, top, right, f"name{quiet}")
    kinds, y = lines_of(_kind(subject), x, y, right, "quiet")
    pills, y = _pills(_marks(subject), x, y, right)
    return [*names, *kinds, *pills], y


def _kind(subject: Device | Load) -> str:
    if isinstance(subject, Device):
        return kind_words(subject)
    return f"{subject.role}: {subject.summary}" if subject.summary else subject.role


def _marks(subject: Device | Load) -> list[Pill]:
    if isinstance(subject, Load):
        return [Pill("shared fate", " open")] if subject.fate else []
    if not subject.in_use:
        return [Pill(NOT_IN_USE, " open quiet")]
    over = subject.verdict in ("over_continuous", "over_absolute")
    marks = [Pill("first to give")] if subject.gives_first else []
    if subject.verdict in VERDICT_WORDS:
        marks.append(Pill(VERDICT_WORDS[subject.verdict], " alarm" if over else " open"))
    return marks


def _pills(pills: Sequence[Pill], x: float, y: float, right: float) -> tuple[list[str], float]:
    drawn = []
    left = x
    for pill in pills:
        width = text_width(pill.words, 11, bold=True) + 12
        if left > x and left + width > right:
            left, y = x, y + 20
        drawn.append(element("rect", x=left, y=y - 10, width=width, height=16, rx=3, class_=f"pill{pill.look}"))
        drawn.append(text(left + width / 2, y + 2, pill.words, f"in-pill{pill.look}", "middle"))
        left += width + 6
    return drawn, y + (22 if pills else 0)


def device_texts(device: Device, top: float) -> tuple[list[str], float]:
    """Headline, what the bar is made of, why it gives first, notes."""
    if not device.in_use:
        return lines_of(headline(device), PLOT_LEFT, top, WIDTH - MARGIN, "quiet")
    says, y = lines_of(headline(device), PLOT_LEFT, top, WIDTH - MARGIN, "says")
    ends, y = lines_of(high_end(device), PLOT_LEFT, y, WIDTH - MARGIN)
    parts, y = _composition(grouped(device.parts), y)
    notes, y = _notes([device.gives_first, *device.notes], y)
    return [*says, *ends, *parts, *notes], y


def load_texts(load: Load, top: float, scale: Scale) -> tuple[list[str], float]:
    """Watts with their range, the figures they are made of, what was read, what shares the fate."""
    says, y = lines_of(load_headline(load), PLOT_LEFT, top, WIDTH - MARGIN, "says")
    parts, y = _composition(load.parts, y)
    now = measured_words(load) if measured_place(load, scale) is None else ""
    missing = f"not known: {', '.join(load.unknown)}" if load.unknown else ""
    notes, y = _notes([missing, now, *map(reading_words, load.readings), load.fate], y)
    return [*says, *parts, *notes], y


def _notes(notes: Sequence[str], y: float) -> tuple[list[str], float]:
    drawn: list[str] = []
    for note in notes:
        lines, y = lines_of(note, PLOT_LEFT, y, WIDTH - MARGIN, "quiet")
        drawn += lines
    return drawn, y


def _composition(parts: Sequence[Part], y: float) -> tuple[list[str], float]:
    """Each part after its swatch, as many in a line as fit."""
    if not parts:
        return [], y
    drawn: list[str] = []
    x, right = PLOT_LEFT, WIDTH - MARGIN
    for part in parts:
        words = part_words(part)
        if x > PLOT_LEFT and x + _SWATCH + 5 + text_width(words, 12) > right:
            x, y = PLOT_LEFT, y + _LINE
        drawn += swatch(part.group, part.standing, x, y)
        lines, after = lines_of(words, x + _SWATCH + 5, y, right)
        drawn += lines
        if len(lines) > 1:
            x, y = PLOT_LEFT, after
        else:
            x += _SWATCH + 5 + text_width(words, 12) + _COLUMN_GAP
    return drawn, y if x == PLOT_LEFT else y + _LINE


def swatch(group: str, standing: str, x: float, y: float) -> list[str]:
    """A small segment in front of the text with base line `y`."""
    if group == "loss":
        return [element("path", d=f"M{x} {y - 8} v8 m0 -4 h{_SWATCH} m0 -4 v8", class_="whisker")]
    box = {"x": x, "y": y - 10, "width": _SWATCH, "height": _SWATCH}
    over = [element("rect", **box, class_=stripes_of(standing))] if standing != "measured" else []
    return [element("rect", **box, class_=f"segment {group}"), *over]
