"""What a measurement found, from its file: figures of each step, the machine under load, what the BMC reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...findings import Finding, finding
from ...observe.power_log import PowerLog, epoch_of
from .figures import watts_text

FULL_SHARE = 0.85
"""Cards that draw less of their caps leave the machine below its worst (fans, CPU)."""
_AC_SHARE = 0.03
_DC_SHARES = (0.05, 0.14)
"""What supplies lose, with the error of a clamp meter on either side."""
_NEAR_S = 20.0


@dataclass(frozen=True)
class Spread:
    """Watts over a step; count of samples that had a value."""

    average: float
    minimum: float
    maximum: float
    count: int


@dataclass(frozen=True)
class StepFigures:
    """One measured step. bmc, machine None: the BMC gave no watts. by_card: average of each card by its number."""

    number: int
    cards: tuple[str, ...]
    at: str
    samples: int
    cards_watts: Spread | None
    bmc: Spread | None
    machine: Spread | None
    by_card: Mapping[str, float]


@dataclass(frozen=True)
class Clamp:
    """A clamp meter's reading. around: ``host``, a device of the site, or empty where nobody said."""

    watts: float
    around: str = ""
    at: str = ""

    def as_record(self) -> dict[str, Any]:
        """As it stands in a file of samples, which dates it where it has no time yet."""
        return {"kind": "clamp", "watts": self.watts, "around": self.around, **({"t": self.at} if self.at else {})}


@dataclass(frozen=True)
class Measurement:
    """A file's measured steps. began: when its first run did. caps: by card. is_complete: no planned step lacks."""

    host: str
    key: str
    began: str
    steps: list[StepFigures]
    caps: Mapping[str, float]
    is_complete: bool
    load_text: str
    sources: tuple[str, ...]
    clamp: Clamp | None
    top_samples: Sequence[Mapping[str, Any]] = field(default_factory=list)
    peak_watts: float | None = None
    """The highest that the BMC said at any sample, also of a step that was not measured to its end."""

    @property
    def top(self) -> StepFigures | None:
        return self.steps[-1] if self.steps else None

    @property
    def idle(self) -> StepFigures | None:
        return next((step for step in self.steps if not step.cards), None)

    @property
    def weak(self) -> dict[str, float]:
        """Loaded cards that stayed well below their caps at the top, with their average."""
        if self.top is None:
            return {}
        return {
            card: watts
            for card, watts in self.top.by_card.items()
            if card in self.top.cards and watts < FULL_SHARE * self.caps[card]
        }

    @property
    def is_whole(self) -> bool:
        """Every card was loaded at the top, close to its cap, and the BMC answered: the machine at its worst."""
        top = self.top
        if not self.is_complete:
            return False
        return top is not None and set(top.cards) == set(self.caps) and not self.weak and top.machine is not None


def measurement_of(log: PowerLog) -> Measurement | None:
    """None where the file holds no run."""
    run = log.last("run")
    if run is None:
        return None
    plan = run["plan"]
    names = {str(one["uuid"]): str(one["card"]) for one in plan["cards"]}
    ends = {int(one["number"]): one for one in log.of("step_end")}
    steps = [_step(ends[number], names) for number in sorted(ends)]
    top = steps[-1].number if steps else None
    held = [one for one in log.samples if top is not None and _is_between(one, ends[top])]
    clamp = log.last("clamp")
    return Measurement(
        str(run["host"]),
        str(run["key"]),
        str(log.of("run")[0]["t"]),
        steps,
        {names[str(one["uuid"])]: float(one["cap_watts"]) for one in plan["cards"]},
        {int(one["number"]) for one in plan["steps"]} <= ends.keys(),
        load_words(plan["load"]),
        tuple(dict.fromkeys(str(one["bmc_source"]) for one in held if one.get("bmc_source"))),
        Clamp(float(clamp["watts"]), str(clamp.get("around") or ""), str(clamp["t"])) if clamp else None,
        held,
        max((float(one["bmc_watts"]) for one in log.samples if one.get("bmc_watts") is not None), default=None),
    )


def _is_between(sample: Mapping[str, Any], end: Mapping[str, Any]) -> bool:
    """Whether the sample is one of those that the step's end sums up; an attempt that was cut off is not."""
    return sample.get("step") == end["number"] and str(end["from"]) <= str(sample["t"]) <= str(end["until"])


def _step(end: Mapping[str, Any], names: Mapping[str, str]) -> StepFigures:
    return StepFigures(
        int(end["number"]),
        tuple(str(card) for card in end["cards"]),
        str(end["t"]),
        int(end["samples"]),
        _spread(end.get("cards_watts")),
        _spread(end.get("bmc_watts")),
        _spread(end.get("machine_watts")),
        {names[uuid]: float(one["average"]) for uuid, one in end["by_card"].items() if uuid in names and one},
    )


def _spread(data: Mapping[str, Any] | None) -> Spread | None:
    if data is None:
        return None
    return Spread(float(data["average"]), float(data["minimum"]), float(data["maximum"]), int(data["count"]))


def load_words(load: Mapping[str, Any]) -> str:
    """What loaded the cards, from the plan in a file."""
    if load.get("command"):
        return " ".join(load["command"])
    return "requests to " + ", ".join(str(one["seat"]) for one in load.get("seats") or ())


@dataclass(frozen=True)
class SupplyReading:
    """What the BMC's figure is. reads: ac, dc or unknown. words: the arithmetic."""

    reads: str
    words: str


def supply_reading(measured: Measurement, others: Mapping[str, tuple[float, float]]) -> SupplyReading | None:
    """The clamp meter against the BMC at the same time; None without either.

    others: device above the host -> least and most of what its other loads take: a clamp around the device counts
    them too.
    """
    clamp, bmc = measured.clamp, _bmc_near(measured)
    if clamp is None or bmc is None:
        return None
    places = {"host": (0.0, 0.0), **others}
    chosen = {clamp.around: places[clamp.around]} if clamp.around in places else places
    found = {place: _class(clamp.watts, bmc, *span) for place, span in chosen.items()}
    words = "; ".join(
        f"clamp {_text(clamp.watts)} around {_place(place, measured.host)}{_less(chosen[place])}"
        f" against BMC {_text(bmc)}: {_percent(clamp.watts, bmc, *chosen[place])}"
        for place in found
    )
    verdicts = set(found.values())
    if verdicts == {"ac"} or verdicts == {"dc"}:
        return SupplyReading(verdicts.pop(), words)
    return SupplyReading("unknown", words)


def _bmc_near(measured: Measurement) -> float | None:
    """The BMC's average around the time when the clamp was read; of the whole top where that is not told."""
    clamp, top = measured.clamp, measured.top
    at = epoch_of(clamp.at) if clamp is not None else None
    near = [
        float(one["bmc_watts"])
        for one in measured.top_samples
        if one.get("bmc_watts") is not None and at is not None and abs((epoch_of(one["t"]) or 0.0) - at) <= _NEAR_S
    ]
    if near:
        return sum(near) / len(near)
    return top.bmc.average if top is not None and top.bmc is not None else None


def _shares(clamp: float, bmc: float, least: float, most: float) -> tuple[float, float]:
    """How much more the host takes than the BMC says, at least and at most."""
    return (clamp - most) / bmc - 1, (clamp - least) / bmc - 1


def _class(clamp: float, bmc: float, least: float, most: float) -> str:
    low, high = _shares(clamp, bmc, least, most)
    low = max(low, -_AC_SHARE)  # a supply takes no less than it gives: loads that would mean it are not there
    if -_AC_SHARE <= low <= high <= _AC_SHARE:
        return "ac"
    if _DC_SHARES[0] <= low <= high <= _DC_SHARES[1]:
        return "dc"
    return "unknown"


def _percent(clamp: float, bmc: float, least: float, most: float) -> str:
    low, high = (f"{100 * share:+.1f} %" for share in _shares(clamp, bmc, least, most))
    return high if low == high else f"{low} to {high}"


def _less(span: tuple[float, float]) -> str:
    least, most = span
    if most == 0:
        return ""
    return (
        f" less {least:.0f} to {most:.0f} W of other loads" if least != most else f" less {most:.0f} W of other loads"
    )


def _place(place: str, host: str) -> str:
    return f"the cords of {host}" if place == "host" else place


def _text(watts: float) -> str:
    return watts_text(round(watts))


def measurement_findings(measured: Measurement, torn_lines: int, supply: SupplyReading | None) -> list[Finding]:
    """What keeps the measurement from being more than it is."""
    host, found = f"host:{measured.host}", []
    top = measured.top
    if top is not None and measured.weak:
        cards = ", ".join(
            f"{card}: {watts:.0f} of {measured.caps[card]:.0f} W" for card, watts in measured.weak.items()
        )
        message = f"loaded cards stayed below {100 * FULL_SHARE:.0f} % of their caps ({cards})"
        found.append(finding("power.load_weak", host, message, {"cards": dict(measured.weak)}))
    if top is not None and top.bmc is None:
        why = next((str(one["bmc_why"]) for one in measured.top_samples if one.get("bmc_why")), "none was asked")
        message = f"the BMC gave no watts at the highest step ({why})"
        found.append(finding("power.measured_without_bmc", host, message, {"reason": why}))
    if torn_lines:
        message = f"{torn_lines} lines of the file do not prove themselves and were passed over"
        found.append(finding("power.log_torn", host, message, {"lines": torn_lines}))
    if supply is not None and supply.reads == "unknown":
        found.append(finding("power.clamp_unclear", host, supply.words))
    return found


__all__ = [
    "FULL_SHARE",
    "Clamp",
    "Measurement",
    "Spread",
    "StepFigures",
    "SupplyReading",
    "load_words",
    "measurement_findings",
    "measurement_of",
    "supply_reading",
]
