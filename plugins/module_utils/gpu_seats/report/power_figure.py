"""Draws a `PowerPlot` as PNG and SVG. matplotlib is imported only when that is done."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .power_plot import Point, PowerPlot

_DENSE = 2000
"""So many points make a thick line a band."""
_TICK_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
# of Okabe and Ito: told apart by the colour-blind too
_CARD_COLOURS = ("#56B4E9", "#009E73", "#CC79A7", "#E69F00", "#8C6BB1", "#B0BC3C", "#7F7F7F", "#A6761D")
_CARDS, _BMC, _LIMIT, _SHADE, _STOP = "#0072B2", "#111111", "#D55E00", "#EEF2F6", "#B00020"


def write_plot(plot: PowerPlot, folder: Path, name: str) -> list[Path]:
    """`name`.png and `name`.svg in `folder`, which is made where it is not."""
    import matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    # words stay words in the SVG, and the same samples give the same bytes
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "gpu-seats", "font.family": "DejaVu Sans"}):
        figure = _figure(plot)
        for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            path = folder / f"{name}.{ending}"
            figure.savefig(path, dpi=130, metadata=metadata)
            written.append(path)
    return written


def _figure(plot: PowerPlot) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.0, 6.6), facecolor="white")
    axes: Any = figure.add_axes((0.07, 0.17, 0.90, 0.70))
    thick, thin = (2.4, 1.3) if len(plot.cards_total) < _DENSE else (1.2, 0.8)
    for number, (name, line) in enumerate(plot.cards.items()):
        colour = _CARD_COLOURS[number % len(_CARD_COLOURS)]
        axes.plot(*_columns(line), color=colour, linewidth=thin, label=f"card {name}", zorder=3)
    axes.plot(*_columns(plot.cards_total), color=_CARDS, linewidth=thick, label="all cards", zorder=4)
    if plot.bmc:
        marker = "." if sum(watts == watts for _, watts in plot.bmc) < 60 else ""
        axes.plot(
            *_columns(plot.bmc), color=_BMC, linewidth=thick, marker=marker, label="whole machine (BMC)", zorder=5
        )
    if plot.at_most:
        words = "at most, with supply loss"
        axes.plot(
            *_columns(plot.at_most), color=_BMC, linewidth=0.45 * thick, linestyle=(0, (1, 1.5)), label=words, zorder=4
        )
    axes.set_ylim(0, plot.highest)
    _draw_steps(axes, plot)
    _draw_limits(axes, plot)
    _draw_stops(figure, axes, plot)
    _dress(figure, axes, plot)
    return figure


def _draw_steps(axes: Any, plot: PowerPlot) -> None:
    left, right = (_moment_limit(value) for value in axes.get_xlim())
    for place, step in enumerate(plot.steps):
        begin, end = _moment(step.begin), _moment(step.end)
        if place % 2 == 0:
            axes.axvspan(begin, end, color=_SHADE, zorder=0, linewidth=0)
        loaded = f"card{'s' if len(step.cards) > 1 else ''} {', '.join(step.cards)}" if step.cards else "idle"
        middle = _moment((step.begin + step.end) / 2)
        share = (step.end - step.begin) / (right - left)  # a short step has no room for words
        text = f"step {step.number}\n{loaded}" if share > 0.085 else f"step {step.number}" if share > 0.04 else ""
        axes.text(
            middle,
            1.01,
            text,
            transform=axes.get_xaxis_transform(),
            ha="center",
            va="bottom",
            fontsize=8.5,
            color="#445",
        )


def _draw_limits(axes: Any, plot: PowerPlot) -> None:
    """Each limit with its words on the line; lines too close for two texts have theirs above and below."""
    shown = [one for one in plot.limits if one.watts <= plot.highest]
    last, room = -1e9, 0.045 * plot.highest
    for one in shown:
        style = "--" if one.is_continuous else ":"
        axes.axhline(one.watts, color=_LIMIT, linestyle=style, linewidth=1.6, zorder=2)
        is_close = one.watts - last < room
        axes.text(
            0.995 if is_close else 0.005,
            one.watts,
            one.text,
            transform=axes.get_yaxis_transform(),
            ha="right" if is_close else "left",
            va="bottom",
            fontsize=9,
            color=_LIMIT,
            zorder=6,
        )
        last = one.watts


def _draw_stops(figure: Any, axes: Any, plot: PowerPlot) -> None:
    """A line where load was ended before its time; beside the title, why the last run was."""
    for stop in plot.stops:
        is_last = stop == plot.last_stop
        style = "-" if is_last else (0, (4, 3))
        axes.axvline(_moment(stop[0]), color=_STOP, linewidth=1.4 if is_last else 1.0, linestyle=style, zorder=6)
        if not is_last:
            axes.text(
                _moment(stop[0]),
                0.62,  # below the words of the limits
                f"ended {_moment(stop[0]):%H:%M:%S}, resumed",
                transform=axes.get_xaxis_transform(),
                rotation=90,
                ha="right",
                va="top",
                fontsize=8,
                color=_STOP,
                zorder=6,
            )
    if plot.last_stop is not None:
        at, message = plot.last_stop
        words = f"load ended at {_moment(at):%H:%M:%S}: {message if len(message) <= 110 else message[:107] + '...'}"
        lines = textwrap.wrap(words, 72)
        figure.text(0.97, 0.955, "\n".join(lines), fontsize=9, color=_STOP, ha="right", va="center")


def _dress(figure: Any, axes: Any, plot: PowerPlot) -> None:
    figure.text(0.07, 0.955, plot.title, fontsize=14, fontweight="bold", va="center")
    out = [one for one in plot.limits if one.watts > plot.highest]
    if out:
        words = "above the picture: " + "; ".join(one.text for one in out)
        figure.text(0.97, 0.02, words, fontsize=8, color=_LIMIT, ha="right", va="bottom")
    ticks = _ticks([at for line in plot.lines for at, _ in line])
    axes.set_xticks([_moment(at) for at in ticks], [_tick_text(at, ticks) for at in ticks])
    axes.margins(x=0.01)
    axes.set_ylabel("watts")
    axes.set_xlabel("time (UTC)")
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.8, zorder=0)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    columns = len(axes.get_legend_handles_labels()[0])
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.11), ncol=min(columns, 8), frameon=False, fontsize=9.5)


def _ticks(times: Sequence[float]) -> list[float]:
    """Round times within `times`, at most nine."""
    if not times:
        return []
    first, last = min(times), max(times)
    days = math.ceil((last - first) / 8 / 86400)
    step = next((one for one in _TICK_S if (last - first) / one <= 8), 86400 * days)
    at = first - first % step + (step if first % step else 0)
    ticks = []
    while at <= last:
        ticks.append(at)
        at += step
    return ticks


def _tick_text(at: float, ticks: Sequence[float]) -> str:
    """The time; with the day where there is more than one, with seconds where they tell ticks apart."""
    moment = _moment(at)
    if ticks[-1] - ticks[0] >= 86400:
        return f"{moment:%m-%d %H:%M}"
    return f"{moment:%H:%M}" if all(one % 60 == 0 for one in ticks) else f"{moment:%H:%M:%S}"


def _columns(line: Sequence[Point]) -> tuple[list[datetime], list[float]]:
    return [_moment(at) for at, _ in line], [watts for _, watts in line]


def _moment_limit(value: float) -> float:
    """A limit of the time axis, which counts in days, in seconds since the epoch."""
    return float(value) * 86400.0


def _moment(at: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=at)


__all__ = ["write_plot"]
