"""What is drawn of a file of power samples: watts of each card, of all cards and of the machine, against each limit.

`power_figure` draws it. Where no sample was taken or a value is missing the line has a gap:
nothing is drawn between two points that nobody saw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..observe.power_log import PowerLog, epoch_of

if TYPE_CHECKING:
    from ..plan.power.ladder import HostLimit

Point = tuple[float, float]
"""(seconds since the epoch, watts); watts NaN where a line is broken."""

NAN = float("nan")
_GAP_FACTOR = 3.0
_LEAST_GAP_S = 15.0


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
    line than the BMC's. stops: where load was ended before its time. last_stop: the one that no later run went on from.
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
    last_stop: tuple[float, str] | None = None

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
    stops = [(at, str(one["message"])) for one in log.of("stop") if (at := epoch_of(one.get("t"))) is not None]
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
        stops=stops,
        last_stop=stops[-1] if stops and not _was_resumed(log) else None,
    )


def _was_resumed(log: PowerLog) -> bool:
    """Whether a run began after the last stop."""
    return next((one["kind"] == "run" for one in reversed(log.records) if one.get("kind") in ("run", "stop")), False)


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


__all__ = ["LimitLine", "Point", "PowerPlot", "StepSpan", "plot_of"]
