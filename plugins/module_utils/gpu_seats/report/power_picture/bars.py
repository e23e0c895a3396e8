"""One bar: segments of what is drawn, the range, the limits, what was measured."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from .markup import element, escaped, number
from .records import Device, Load, Part
from .scale import MARGIN, PLOT_LEFT, WIDTH, Scale
from .text_width import text_width
from .words import GROUP_WORDS, bare, grouped, in_watts, measured_words

LANE = 17.0
"""Height above a bar for the labels of its marks, and below it for the range."""
_DEVICE_BAR = 24.0
_LOAD_BAR = 16.0
_SMALL = 11.0
_GAP = 6.0


def text(x: float, y: float, content: str, class_: str = "", anchor: str | None = None) -> str:
    """One line of text; `y` is its base line."""
    return element("text", escaped(content), x=x, y=y, class_=class_ or None, text_anchor=anchor)


def device_bar(device: Device, top: float, scale: Scale) -> tuple[list[str], float]:
    """Markup, and where it ends."""
    bar_top = top + LANE
    bottom = bar_top + _DEVICE_BAR
    quiet = "" if device.in_use else " quiet"
    drawn = []
    if device.absolute_watts is not None:
        width = scale.x(device.absolute_watts) - PLOT_LEFT
        drawn.append(element("rect", x=PLOT_LEFT, y=bar_top, width=width, height=_DEVICE_BAR, class_=f"track{quiet}"))
    if device.in_use:
        marks = [scale.x(watts) for watts in (device.continuous_watts, device.absolute_watts) if watts is not None]
        drawn += _segments(grouped(device.parts), bar_top, _DEVICE_BAR, scale, marks)
        drawn += _over(device, bar_top, scale)
    drawn += _limits(device, bar_top, quiet, scale)
    if not device.in_use:
        return drawn, bottom + _GAP
    whisker, end = _whisker(device.low_watts, device.watts, device.high_watts, bottom, scale)
    return [*drawn, *whisker], end


def load_bar(load: Load, top: float, scale: Scale) -> tuple[list[str], float]:
    """Markup, and where it ends."""
    bar_top = top + (LANE if load.readings or load.measured else _GAP)
    bottom = bar_top + _LOAD_BAR
    whisker, end = _whisker(load.low_watts, load.watts, load.high_watts, bottom, scale)
    drawn = [*_segments(load.parts, bar_top, _LOAD_BAR, scale), *_readings(load, bar_top, scale), *whisker]
    return drawn, end


def _segments(parts: Sequence[Part], top: float, height: float, scale: Scale, marks: Sequence[float] = ()) -> list[str]:
    """One after the other, named where there is room between `marks`."""
    drawn = []
    below = 0.0
    for part in parts:
        if part.watts is None or part.watts <= 0:
            continue
        left, right = scale.x(below), scale.x(below + part.watts)
        below += part.watts
        box = {"x": left, "y": top, "width": right - left, "height": height}
        drawn.append(element("rect", **box, class_=f"segment {part.group}"))
        if part.standing != "measured":
            drawn.append(element("rect", **box, class_=stripes_of(part.standing)))
        room_left, room_right = _widest_room(left, right, marks)
        label = GROUP_WORDS[part.group]
        if text_width(label, _SMALL, bold=True) + 2 * _GAP <= room_right - room_left:
            middle = (room_left + room_right) / 2
            drawn.append(text(middle, top + height / 2 + 3.5, label, f"on-{part.group}", "middle"))
    return drawn


def _widest_room(left: float, right: float, marks: Sequence[float]) -> tuple[float, float]:
    """The widest stretch of a segment that no mark crosses."""
    ends = [left, *sorted(mark for mark in marks if left < mark < right), right]
    return max(itertools.pairwise(ends), key=lambda room: room[1] - room[0])


def stripes_of(standing: str) -> str:
    """Class of the pattern over a segment: what is not told counts as an estimate."""
    return "derived" if standing == "derived" else "estimate"


def _over(device: Device, top: float, scale: Scale) -> list[str]:
    """A frame and a band around what is over the continuous limit."""
    limit = device.continuous_watts
    if limit is None or device.watts is None or device.watts <= limit:
        return []
    left, right = scale.x(limit), scale.x(device.watts)
    return over_frame(left, top, right - left, _DEVICE_BAR)


def over_frame(left: float, top: float, width: float, height: float) -> list[str]:
    """Frame with a band at its foot: it is seen on paper as well."""
    band = height / 5
    return [
        element("rect", x=left, y=top + height - band, width=width, height=band, class_="over-band"),
        element("rect", x=left, y=top, width=width, height=height, class_="over"),
    ]


def _limits(device: Device, top: float, quiet: str, scale: Scale) -> list[str]:
    absolute, continuous = device.absolute_watts, device.continuous_watts
    if absolute is None:
        return []
    drawn = [_limit_mark(scale.x(absolute), top, f"limit absolute{quiet}")]
    label = f"absolute {in_watts(absolute)}"
    if continuous is None or continuous == absolute:
        label = f"limit {in_watts(absolute)}"
    else:
        x = scale.x(continuous)
        drawn.append(_limit_mark(x, top, f"limit{quiet}"))
        beside = f"continuous {in_watts(continuous)}"
        if x - PLOT_LEFT >= text_width(beside, _SMALL):
            drawn.append(text(x, top - 5, beside, "small quiet", "end"))
        else:
            label = f"continuous {bare(continuous)}, {label}"
    drawn.append(text(scale.x(absolute), top - 5, label, "small quiet"))
    return drawn


def _limit_mark(x: float, top: float, class_: str) -> str:
    return element("line", x1=x, y1=top - 3, x2=x, y2=top + _DEVICE_BAR + 3, class_=class_)


def _whisker(
    low: float | None, middle: float | None, high: float | None, top: float, scale: Scale
) -> tuple[list[str], float]:
    """The range as a line with ends, below the bar; nothing where there is no range."""
    if low is None or high is None or low == high:
        return [], top + _GAP
    left, right, y = scale.x(low), scale.x(high), top + LANE / 2
    drawn = [element("path", d=f"M{number(left)} {number(y - 4)} v8 m0 -4 H{number(right)} m0 -4 v8", class_="whisker")]
    if middle is not None:
        drawn.append(element("circle", cx=scale.x(middle), cy=y, r=2.5, class_="whisker"))
    return drawn, top + LANE


def _readings(load: Load, top: float, scale: Scale) -> list[str]:
    """A mark each above the bar, filled for what is measured now, with their words where there is room for them."""
    drawn = [
        element("path", d=f"M{number(scale.x(reading.watts))} {number(top)} l-5 -9 h10 z", class_=class_)
        for class_, readings in (("reading", load.readings), ("reading now", load.measured))
        for reading in readings
    ]
    left = measured_place(load, scale)
    if left is not None:
        drawn.append(text(left, top - 3, measured_words(load), "small"))
    return drawn


def measured_place(load: Load, scale: Scale) -> float | None:
    """Where the words of what is measured begin above the bar, right of the marks if possible; None: no room."""
    if not load.measured:
        return None
    need = text_width(measured_words(load), _SMALL) + 3 * _GAP
    marks = sorted(scale.x(reading.watts) for reading in (*load.readings, *load.measured))
    rooms = [(right - left, left) for left, right in itertools.pairwise([PLOT_LEFT, *marks, WIDTH - MARGIN])]
    return next((left + 2 * _GAP for room, left in reversed(rooms) if room >= need), None)
