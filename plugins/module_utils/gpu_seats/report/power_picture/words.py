"""The sentences of the picture and of the page: what colour and length show is said here as well."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..power_verdicts import VERDICT_WORDS
from .records import GROUPS, Device, Load, Part, PowerTree, Reading, summed, weakest_standing

_NBSP = "\N{NO-BREAK SPACE}"
GROUP_WORDS = {
    "cards": "cards",
    "machine": "machine",
    "router": "router",
    "other": "other loads",
    "loss": "supply loss",
}
KIND_WORDS = {"breaker": "breaker", "inlet": "inlet", "ups": "UPS", "pdu": "PDU"}
NOT_IN_USE = "not in use"
_WHOLE_FROM_WATTS = 100


def bare(watts: float | None) -> str:
    """``1,625``; one decimal below 100 W where there is one; a question mark where nobody knows."""
    if watts is None:
        return "?"
    return f"{watts:,.0f}" if abs(watts) >= _WHOLE_FROM_WATTS else f"{watts:,.1f}".removesuffix(".0")


def in_watts(watts: float | None) -> str:
    """``1,625 W`` that does not break before the unit."""
    return f"{bare(watts)}{_NBSP}W"


def percent(part: float | None, whole: float | None) -> str:
    """``85 %``; a question mark where one of the two is not known."""
    return f"{100 * part / whole:.0f}{_NBSP}%" if part is not None and whole else "?"


def span(low: float | None, high: float | None) -> str:
    """``1,500 to 1,650 W``; one figure where both ends are the same."""
    return in_watts(high) if low == high else f"{bare(low)} to {in_watts(high)}"


def listed(names: Sequence[str], last: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    head = ", ".join(names[:-1])
    return f"{head} {last} {names[-1]}" if head else "".join(names)


def standing_words(standing: str) -> str:
    return standing or "standing not told"


def verdict_words(device: Device) -> str:
    if not device.in_use:
        return NOT_IN_USE
    return VERDICT_WORDS.get(device.verdict, device.verdict)


def kind_words(device: Device) -> str:
    """``UPS: 1500 VA x 0.6 = 900 W (assumed)``."""
    rated = ": ".join(one for one in (KIND_WORDS.get(device.kind, device.kind), device.rating) if one)
    return f"{rated} ({device.standing})" if device.standing else rated


def headline(device: Device) -> str:
    """``1,625 of 1,920 W continuous (85 %), 295 W left``."""
    if not device.in_use:
        return f"{NOT_IN_USE}, carries nothing now" + (f"; would feed {listed(device.feeds)}" if device.feeds else "")
    limit = device.continuous_watts
    if device.watts is None:
        return f"load not known; its continuous limit is {in_watts(limit)}"
    at_least = "at least " if device.unknown_loads else ""
    if limit is None:
        return f"{at_least}{in_watts(device.watts)}; its limit is not known"
    kind = "" if limit == device.absolute_watts else " continuous"
    left = "at most " if device.unknown_loads and device.watts <= limit else ""
    share = percent(device.watts, limit)
    return f"{at_least}{bare(device.watts)} of {in_watts(limit)}{kind} ({share}), {left}{_left(limit - device.watts)}"


def high_end(device: Device) -> str:
    """``up to 1,800 W (94 %) if ...``; empty where nothing is uncertain."""
    if not device.in_use or device.watts is None or device.high_watts is None or device.high_watts <= device.watts:
        return ""
    share = f" ({percent(device.high_watts, device.continuous_watts)})" if device.continuous_watts else ""
    return f"up to {in_watts(device.high_watts)}{share} {device.range_reason}".rstrip()


def _left(watts: float) -> str:
    return f"{in_watts(watts)} left" if watts >= 0 else f"{in_watts(-watts)} over"


def load_headline(load: Load) -> str:
    """``1,500 W, range 1,500 to 1,650 W``."""
    if load.watts is None:
        return "load not known"
    text = f"at least {in_watts(load.watts)}" if load.unknown else in_watts(load.watts)
    return text if load.low_watts == load.high_watts else f"{text}, range {span(load.low_watts, load.high_watts)}"


def measured_words(load: Load) -> str:
    """``measured: cards 1,080 W, BMC 1,470 W (2026-09-30 12:00)``; empty where nothing was."""
    if not load.measured:
        return ""
    told = ", ".join(f"{reading.source} {in_watts(reading.watts)}" for reading in load.measured)
    when = next((reading.on for reading in load.measured if reading.on), "")
    return f"measured: {told}" + (f" ({when})" if when else "")


def reading_words(reading: Reading) -> str:
    """``read on 2026-09-19: 461 W, ipmitool dcmi power reading``."""
    return f"read{f' on {reading.on}' if reading.on else ''}: {in_watts(reading.watts)}, {reading.source}"


def part_words(part: Part) -> str:
    """``4 cards at 275 W: 1,100 W, derived``; with its range where it has one."""
    if part.watts is None:
        return f"{part.name} not known"
    value = in_watts(part.watts)
    if part.low_watts != part.high_watts:
        ends = span(part.low_watts, part.high_watts)
        value = f"{value} ({ends})" if part.watts else ends
    return f"{part.name} {value}, {standing_words(part.standing)}"


def grouped(parts: Iterable[Part]) -> list[Part]:
    """One part a group, in the order of GROUPS: the sums that a device's bar is made of."""
    found = list(parts)
    sums = []
    for group in GROUPS:
        members = [part for part in found if part.group == group]
        if members:
            sums.append(
                Part(
                    load="",
                    group=group,
                    name=GROUP_WORDS[group],
                    watts=summed([part.watts for part in members]),
                    low_watts=summed([part.low_watts for part in members]),
                    high_watts=summed([part.high_watts for part in members]),
                    standing=weakest_standing(members),
                )
            )
    return sums


def title(tree: PowerTree) -> str:
    return f"Power tree of {tree.site}"


def summary(tree: PowerTree) -> str:
    """What to take away: whether everything holds, which device gives first and how far it is from that."""
    if not tree.in_use:
        return "No device of this tree is in use." if tree.devices else "No circuit is declared."
    wrong = [f"{device.name} is {verdict_words(device)}" for device in tree.in_use if device.verdict != "ok"]
    state = "; ".join(wrong) or "All devices are within limits"
    first = tree.first_to_give
    if first is None:
        return f"{state}."
    high = high_end(first).removesuffix(first.range_reason).rstrip()
    return f"{state}. First to give: {first.name}, {headline(first)}{f', {high}' if high else ''}."


def spoken(tree: PowerTree) -> str:
    """The whole picture as sentences, for who cannot see it."""
    devices = [f"{device.name} ({kind_words(device)}): {_spoken_device(device)}." for device in tree.devices]
    loads = [f"{load.name} ({load.role}): {load_headline(load)}." for load in tree.loads]
    return " ".join([summary(tree), *devices, *loads])


def _spoken_device(device: Device) -> str:
    return ", ".join(one for one in (headline(device), high_end(device)) if one)
