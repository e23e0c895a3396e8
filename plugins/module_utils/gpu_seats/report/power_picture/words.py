"""The sentences of the picture and of the page: what colour and length show is said here as well."""

from __future__ import annotations

from collections.abc import Iterable

from .records import GROUPS, Device, Load, Part, PowerTree, summed, weakest_standing

_NBSP = "\N{NO-BREAK SPACE}"
VERDICT_WORDS = {
    "ok": "within its limits",
    "over_possible": "may go over: only the high end does",
    "over_continuous": "over its continuous limit",
    "over_absolute": "over its absolute limit",
    "unknown": "load not known",
}
GROUP_WORDS = {
    "cards": "cards",
    "machine": "machine",
    "router": "router",
    "other": "other loads",
    "loss": "supply loss",
}
KIND_WORDS = {"breaker": "breaker", "inlet": "inlet", "ups": "UPS", "pdu": "PDU"}
NOT_IN_USE = "not in use"


def bare(watts: float | None) -> str:
    """``1,625``, at most one decimal; a question mark where nobody knows."""
    if watts is None:
        return "?"
    text = f"{watts:,.1f}"
    return text.removesuffix(".0")


def in_watts(watts: float | None) -> str:
    """``1,625 W`` that does not break before the unit."""
    return f"{bare(watts)}{_NBSP}W"


def percent(part: float | None, whole: float | None) -> str:
    """``85 %``; a question mark where one of the two is not known."""
    return f"{100 * part / whole:.0f}{_NBSP}%" if part is not None and whole else "?"


def span(low: float | None, high: float | None) -> str:
    """``1,500 to 1,650 W``; one figure where both ends are the same."""
    return in_watts(high) if low == high else f"{bare(low)} to {in_watts(high)}"


def standing_words(standing: str) -> str:
    return standing or "standing not told"


def verdict_words(device: Device) -> str:
    if not device.in_use:
        return NOT_IN_USE
    return VERDICT_WORDS.get(device.verdict, device.verdict)


def kind_words(device: Device) -> str:
    """``breaker, 20 A x 120 V``."""
    kind = KIND_WORDS.get(device.kind, device.kind)
    return f"{kind}, {device.rating}" if device.rating else kind


def headline(device: Device) -> str:
    """``1,625 of 1,920 W continuous (85 %), 295 W left``."""
    if not device.in_use:
        below = ", ".join(device.loads)
        return f"{NOT_IN_USE}, carries nothing now" + (f"; would feed {below}" if below else "")
    limit = device.continuous_watts
    if device.watts is None:
        return f"load not known; its continuous limit is {in_watts(limit)}"
    if limit is None:
        return f"{in_watts(device.watts)}; its limit is not known"
    kind = "" if limit == device.absolute_watts else " continuous"
    return f"{bare(device.watts)} of {in_watts(limit)}{kind} ({percent(device.watts, limit)}), {_left(limit - device.watts)}"


def high_end(device: Device, range_reason: str) -> str:
    """``up to 1,800 W (94 %) if ...``; empty where nothing is uncertain."""
    if not device.in_use or device.watts is None or device.high_watts is None or device.high_watts <= device.watts:
        return ""
    share = percent(device.high_watts, device.continuous_watts)
    return f"up to {in_watts(device.high_watts)} ({share}) {range_reason or 'at the high end of what is not measured'}"


def whole_headline(device: Device, range_reason: str) -> str:
    """Both in one sentence."""
    return ", ".join(one for one in (headline(device), high_end(device, range_reason)) if one)


def _left(watts: float) -> str:
    return f"{in_watts(watts)} left" if watts >= 0 else f"{in_watts(-watts)} over"


def load_headline(load: Load) -> str:
    """``1,500 W, 1,500 to 1,650 W``."""
    if load.watts is None:
        return "load not known"
    if load.low_watts == load.high_watts or load.high_watts is None:
        return in_watts(load.watts)
    return f"{in_watts(load.watts)}, range {span(load.low_watts, load.high_watts)}"


def readings_words(load: Load) -> str:
    """``measured: cards 77 W, BMC 390 W (2026-09-19)``."""
    told = [f"{reading.source} {in_watts(reading.watts)}" for reading in load.readings]
    days = sorted({reading.on for reading in load.readings if reading.on})
    return f"measured: {', '.join(told)}" + (f" ({', '.join(days)})" if days else "")


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
    """The one sentence to take away: which device gives first and how far it is from that."""
    device = tree.first_to_give
    if device is None:
        return "No device of this tree is in use." if tree.devices else "No circuit is declared."
    return f"First to give: {device.name}, {whole_headline(device, tree.range_reason)}."


def spoken(tree: PowerTree) -> str:
    """The whole picture as sentences, for who cannot see it."""
    devices = [f"{device.name} ({kind_words(device)}): {_spoken_device(device, tree)}." for device in tree.devices]
    loads = [f"{load.name} ({load.role}): {load_headline(load)}." for load in tree.loads]
    return " ".join([summary(tree), *devices, *loads])


def _spoken_device(device: Device, tree: PowerTree) -> str:
    text = whole_headline(device, tree.range_reason)
    return text if not device.in_use else f"{text}; {verdict_words(device)}"
