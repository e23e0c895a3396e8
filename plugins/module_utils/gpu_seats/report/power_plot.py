"""A file of power samples as a picture: watts of each card, of all cards and of the machine, against each limit.

matplotlib is imported only when a picture is drawn. Where no sample was taken or a value is missing the line has a gap:
nothing is drawn between two points that nobody saw.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..observe.power_log import PowerLog, epoch_of

if TYPE_CHECKING:
    from ..plan.power.ladder import HostLimit

Point = tuple[float, float]
"""(seconds since the epoch, watts); watts NaN where a line is broken."""

NAN = float("nan")
_GAP_FACTOR = 3.0
_LEAST_GAP_S = 15.0
_DENSE = 2000
"""So many points make a thick line a band."""
_TICK_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
# of Okabe and Ito: told apart by the colour-blind too
_CARD_COLOURS = ("#56B4E9", "#009E73", "#CC79A7", "#E69F00", "#8C6BB1", "#B0BC3C", "#7F7F7F", "#A6761D")
_CARDS, _BMC, _LIMIT, _SHADE, _STOP = "#0072B2", "#111111", "#D55E00", "#EEF2F6", "#B00020"


@dataclass(frozen=True)
class LimitLine:
    """A limit in watts of the host: what a device leaves to it. is_continuous: for hours, else at any moment."""

    watts: float
    text: str
    is_continuous: bool


@dataclass(frozen=True)
class StepSpan:
    """The time that a step of a measurement took, with the cards that were loaded."""

    number: int
    cards: tuple[str, ...]
    begin: float
    end: float


@dataclass(frozen=True)
class PowerPlot:
    """Everything that is drawn. peak_text: the highest figure and where it was read.

    at_most: what a measurement counted with, readings raised by what the supplies may lose; empty where it is no other
    line than the BMC's.
    """

    host: str
    day: str
    peak_text: str
    cards: Mapping[str, list[Point]]
    cards_total: list[Point]
    bmc: list[Point]
    at_most: list[Point] = field(default_factory=list)
    limits: list[LimitLine] = field(default_factory=list)
    steps: list[StepSpan] = field(default_factory=list)
    stops: list[tuple[float, str]] = field(default_factory=list)

    @property
    def lines(self) -> list[list[Point]]:
        return [self.cards_total, self.bmc, self.at_most, *self.cards.values()]

    @property
    def title(self) -> str:
        return "   ".join(part for part in (self.host, self.day, self.peak_text) if part)

    @property
    def peak(self) -> float:
        """The highest watts that are drawn."""
        return max(
            (watts for line in self.lines for _, watts in line if watts == watts),
            default=0.0,
        )

    @property
    def highest(self) -> float:
        """The top of the picture: the peak, and the least limit, so that the distance between them is seen."""
        least = min((one.watts for one in self.limits if one.is_continuous), default=0.0)
        return max(1.12 * self.peak, 1.08 * least, 10.0)


def plot_of(
    log: PowerLog, limits: Sequence[HostLimit], host: str, card_names: Mapping[str, str] | None = None
) -> PowerPlot:
    """What is drawn of one file. card_names: UUID -> the card's number, where the file does not tell."""
    names = {**_names_in(log), **(card_names or {})}
    samples = [(at, one) for one in log.samples if (at := epoch_of(one.get("t"))) is not None]
    gap_s = _gap_s([at for at, _ in samples])
    by_card: dict[str, list[Point]] = {}
    for at, one in samples:
        for card in one.get("cards") or ():
            uuid = str(card["uuid"])
            by_card.setdefault(names.get(uuid, uuid[:12]), []).append((at, _number(card.get("draw_watts"))))
    total = _broken([(at, _number(one.get("cards_watts"))) for at, one in samples], gap_s)
    bmc = _broken([(at, _number(one.get("bmc_watts"))) for at, one in samples], gap_s)
    at_most = _broken([(at, _number(one.get("total_watts"))) for at, one in samples], gap_s)
    return PowerPlot(
        host=host,
        day=str(samples[0][1]["t"])[:10] if samples else "",
        peak_text=_peak_text(bmc, total),
        cards={name: _broken(by_card[name], gap_s) for name in sorted(by_card, key=lambda one: (len(one), one))},
        cards_total=total,
        bmc=bmc if any(watts == watts for _, watts in bmc) else [],
        at_most=at_most if _differs(at_most, bmc) else [],
        limits=_with_threshold(_limit_lines(limits), log),
        steps=_steps(log, samples),
        stops=[(at, str(one["message"])) for one in log.of("stop") if (at := epoch_of(one.get("t"))) is not None],
    )


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


def _names_in(log: PowerLog) -> dict[str, str]:
    """UUID -> card number, as the file's own first lines tell."""
    names: dict[str, str] = {}
    for run in log.of("run"):
        names |= {str(one["uuid"]): str(one["card"]) for one in run["plan"]["cards"]}
    for sampler in log.of("sampler"):
        names |= {str(uuid): str(card) for card, uuid in (sampler.get("cards") or {}).items()}
    return names


def _gap_s(times: Sequence[float]) -> float:
    """How far apart two samples are when one between them is missing."""
    steps = sorted(later - earlier for earlier, later in zip(times, times[1:]))
    return max(_LEAST_GAP_S, _GAP_FACTOR * steps[len(steps) // 2]) if steps else _LEAST_GAP_S


def _broken(points: Sequence[Point], gap_s: float) -> list[Point]:
    """The points with a break wherever the next one is too far away."""
    line: list[Point] = []
    for at, watts in points:
        if line and at - line[-1][0] > gap_s:
            line.append((line[-1][0], NAN))
        line.append((at, watts))
    return line


def _differs(line: Sequence[Point], other: Sequence[Point]) -> bool:
    """Whether `line` has watts anywhere that `other` has not."""
    known = {at: watts for at, watts in other if watts == watts}
    return any(watts == watts and abs(known.get(at, -1.0) - watts) > 0.5 for at, watts in line)


def _number(value: Any) -> float:
    return NAN if value is None else float(value)


def _peak_text(bmc: Sequence[Point], total: Sequence[Point]) -> str:
    for line, what in ((bmc, "at the BMC"), (total, "on the cards (no BMC)")):
        watts = [one for _, one in line if one == one]
        if watts:
            return f"peak {max(watts):.0f} W {what}"
    return "no watts were read"


def _limit_lines(limits: Sequence[HostLimit]) -> list[LimitLine]:
    """Devices that leave the same watts share a line."""
    lines: dict[tuple[int, bool], list[HostLimit]] = {}
    for one in limits:
        lines.setdefault((round(one.continuous_watts), True), []).append(one)
        if round(one.absolute_watts) != round(one.continuous_watts):
            lines.setdefault((round(one.absolute_watts), False), []).append(one)
    return [
        LimitLine(float(watts), _limit_text(watts, of, is_continuous), is_continuous)
        for (watts, is_continuous), of in sorted(lines.items())
    ]


def _with_threshold(lines: list[LimitLine], log: PowerLog) -> list[LimitLine]:
    """The threshold at which load was ended, where it was another than a device's limit."""
    run = log.last("run")
    watts = run["plan"]["limits"]["stop_at_watts"] if run is not None else None
    if watts is None or any(abs(one.watts - watts) < 1 for one in lines):
        return lines
    return [LimitLine(float(watts), f"{watts:.0f} W: the load is ended", True), *lines]


def _limit_text(watts: int, of: Sequence[HostLimit], is_continuous: bool) -> str:
    devices = ", ".join(one.device for one in of)
    others = max(one.others_watts for one in of)
    less = f", less up to {others:.0f} W of other loads" if others else ""
    return f"{watts} W: {devices} {'for hours' if is_continuous else 'at any moment'}{less}"


def _steps(log: PowerLog, samples: Sequence[tuple[float, Mapping[str, Any]]]) -> list[StepSpan]:
    """From a step's begin to its last sample; an attempt that was cut off is a span of its own."""
    spans = []
    begins = [(at, one) for one in log.of("step") if (at := epoch_of(one.get("t"))) is not None]
    # a step ends where the next one begins, and where a later run takes it up again
    ends = sorted(
        [at for at, _ in begins] + [at for one in log.of("run") if (at := epoch_of(one.get("t"))) is not None]
    )
    for begin, one in begins:
        until = next((at for at in ends if at > begin), float("inf"))
        inside = [at for at, taken in samples if begin <= at < until and taken.get("step") == one["number"]]
        if inside:
            spans.append(StepSpan(int(one["number"]), tuple(str(card) for card in one["cards"]), begin, inside[-1]))
    return spans


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
    """A line where load was ended before its time; why the last time stands beside the title."""
    for at, _ in plot.stops:
        axes.axvline(_moment(at), color=_STOP, linewidth=1.4, zorder=6)
    if plot.stops:
        at, message = plot.stops[-1]
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
    step = next(
        (one for one in _TICK_S if (last - first) / one <= 8), 86400 * max(1, round((last - first) / 8 / 86400))
    )
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


__all__ = ["LimitLine", "PowerPlot", "StepSpan", "plot_of", "write_plot"]
