"""The tree of a site's protective devices as text: rating, worst case and headroom of each, and what hangs below it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Optional

from .power_verdicts import VERDICT_WORDS
from .styled import Cell, Column, lines_text, table_text
from .terminal import PLAIN, Terminal, wrapped

_STYLE_OF_VERDICT = {
    "over_absolute": "bold red",
    "over_continuous": "red",
    "over_possible": "yellow",
    "unknown": "yellow",
}
_WORDS = {**VERDICT_WORDS, "ok": "ok"}
"""The picture's words; a line of text has no room for more than ok."""
_DEEPEST = 6
"""Levels that are indented further than the one above."""
_COMPARED = (
    Column("device"),
    Column("before", right=True),
    Column("share", right=True),
    Column("after", right=True),
    Column("share", right=True),
    Column("left", right=True),
    Column("verdict"),
)
_PROPOSED = (
    Column("device"),
    Column("feeds"),
    Column("worst case", right=True),
    Column("for hours", right=True),
    Column("share", right=True),
)


class _Line(NamedTuple):
    """text: wrapped behind `first`, then behind `rest`."""

    first: str
    rest: str
    text: str
    style: str = ""


def power_tree_text(power: Mapping[str, Any], terminal: Terminal = PLAIN) -> str:
    """`SitePower.as_dict` for people, without its findings."""
    parts = [_heading(power, terminal)]
    if power["devices"]:
        parts.append(_written(_tree_lines(power), terminal))
    else:
        parts.append(f"Site {power['site']} declares no circuits: nothing can be held against a limit.\n")
    parts += [
        _first_text(power, terminal),
        _fate_text(power, terminal),
        _proposal_text(power, terminal),
        _unmeasured_text(power, terminal),
    ]
    return "\n".join(part for part in parts if part)


def comparison_text(before: Mapping[str, Any], after: Mapping[str, Any], terminal: Terminal = PLAIN) -> str:
    """Each device as declared and as asked, in one line."""
    declared = {device["name"]: device for device in before["devices"]}
    rows = [_compared(declared.get(device["name"]), device) for device in after["devices"]]
    lead = "\n".join(wrapped(f"what if {after['what_if']}", terminal.width, "", "  "))
    return f"{lead}\n" + table_text(_COMPARED, rows, terminal)


def _compared(before: Optional[Mapping[str, Any]], after: Mapping[str, Any]) -> tuple[Cell, ...]:
    style = _STYLE_OF_VERDICT.get(after["verdict"], "")
    words = _WORDS[after["verdict"]] if after["in_use"] else "not in use"
    return (
        Cell(after["name"]),
        *_use(before),
        *_use(after),
        Cell(_watts(after["headroom_watts"]) if after["in_use"] else "-", style),
        Cell(words, style),
    )


def _use(device: Optional[Mapping[str, Any]]) -> tuple[Cell, Cell]:
    if device is None or not device["in_use"]:
        return Cell("-"), Cell("-")
    return Cell(_watts(device["nominal_watts"])), Cell(_share(device["share_of_continuous"]))


def _heading(power: Mapping[str, Any], terminal: Terminal) -> str:
    lines = wrapped(f"{power['site']}  {power['summary']}", terminal.width, "", "  ")
    return "".join(f"{line}\n" for line in lines)


def _tree_lines(power: Mapping[str, Any]) -> list[_Line]:
    below: dict[str, list[Mapping[str, Any]]] = {device["name"]: [] for device in power["devices"]}
    for device in power["devices"]:
        for parent in below.keys() & set(device["parents"]):
            below[parent].append(device)
    loads = {load["name"]: load for load in power["loads"]}
    roots = [device for device in power["devices"] if below.keys().isdisjoint(device["parents"])]
    lines: list[_Line] = []
    drawn: set[str] = set()
    for device in (*roots, *power["devices"]):
        if device["name"] not in drawn:
            lines += _lines_below(device, below, loads, drawn)
    return [*lines, *_loose_lines(power)]


def _lines_below(
    top: Mapping[str, Any],
    below: Mapping[str, list[Mapping[str, Any]]],
    loads: Mapping[str, Mapping[str, Any]],
    drawn: set[str],
) -> list[_Line]:
    """`top` and all below it, by a list of what is still to do: a chain may be of any length."""
    lines: list[_Line] = []
    pending: list[tuple[Mapping[str, Any], str, str]] = [(top, "", "")]
    while pending:
        device, first, rest = pending.pop()
        if device["name"] in drawn:
            lines.append(_Line(first, rest + "   ", f"{device['name']}  as above"))
            continue
        drawn.add(device["name"])
        further = below[device["name"]]
        plugged = [loads[name] for name in device["plugged"]]
        lines += _device_lines(device, first, rest + ("│  " if further or plugged else "   "))
        for number, load in enumerate(plugged, 1):
            is_last = number == len(plugged) and not further
            lines += _load_lines(load, _branch(rest, is_last), _beside(rest, is_last), load["name"] in device["bypass"])
        for number, one in reversed(list(enumerate(further, 1))):
            is_last = number == len(further)
            pending.append((one, _branch(rest, is_last), _beside(rest, is_last)))
    return lines


def _device_lines(device: Mapping[str, Any], first: str, stem: str) -> list[_Line]:
    """What the device is, and what it carries."""
    unsure = f" ({device['standing']})" if device["standing"] in ("estimate", "assumed") else ""
    state = "" if device["in_use"] else "; not in use"
    title = f"{device['name']}  {device['kind']}, {device['rating_text']}{unsure}{state}"
    lines = [_Line(first, stem, title, "" if device["in_use"] else "dim")]
    if device["in_use"]:
        lines.append(_Line(stem, stem, _budget_text(device), _STYLE_OF_VERDICT.get(device["verdict"], "")))
    return lines


def _branch(rest: str, is_last: bool) -> str:
    return rest + ("└─ " if is_last else "├─ ")


def _beside(rest: str, is_last: bool) -> str:
    """What leads the lines below; from some depth on it grows no more, so that words still have room."""
    return (rest + ("   " if is_last else "│  "))[: 3 * _DEEPEST]


def _budget_text(device: Mapping[str, Any]) -> str:
    if device["continuous_watts"] is None:
        return f"worst case {_watts(device['nominal_watts'])}, no rating to hold it against"
    at_least, at_most = ("at least ", "at most ") if device["unknown_loads"] else ("", "")
    left = device["headroom_watts"]
    room = f"{at_most}{_watts(left)} left" if left >= 0 else f"{at_least}{_watts(-left)} too much"
    text = (
        f"worst case {at_least}{_watts(device['nominal_watts'])}, {_share(device['share_of_continuous'])} of "
        f"{_watts(device['continuous_watts'])}, {room}: {_WORDS[device['verdict']]}"
    )
    if device["high_watts"] > device["low_watts"]:
        low, high = _share(device["low_share_of_continuous"]), _share(device["high_share_of_continuous"])
        text += f"; range {_range(device)}, {low.removesuffix(' %')} to {high}"
    return text


def _load_lines(load: Mapping[str, Any], first: str, rest: str, bypasses: bool) -> list[_Line]:
    role = {"router": ", router", "bmc": ", BMC", "switch": ", switch"}.get(load["role"], "")
    surge = ", on a surge-only outlet" if bypasses else ""
    single = len(load["terms"]) == 1 and not load["unknown"]
    spread = f", {_range(load)}" if single and load["high_watts"] > load["low_watts"] else ""
    lines = [_Line(first, rest, f"{load['name']}  {_load_watts(load)}, {load['standing']}{spread}{role}{surge}")]
    width = max((len(_term_watts(term)) for term in load["terms"]), default=0)
    for term in load["terms"] if not single else ():
        text = f"{_term_watts(term):>{width}}  {_named(term)}, {term['standing']}"
        lines.append(_Line(f"{rest}  ", f"{rest}  {' ' * (width + 2)}", text))
    lines += [_Line(f"{rest}  ", f"{rest}    ", f"not declared: {what}", "yellow") for what in load["unknown"]]
    return lines


def _load_watts(load: Mapping[str, Any]) -> str:
    """What is known of it is its least; where nothing is, that is not 0 W."""
    if not load["unknown"]:
        return _watts(load["watts"])
    return f"at least {_watts(load['watts'])}" if load["watts"] else "?"


def _term_watts(term: Mapping[str, Any]) -> str:
    """The figure, or its range where it counts with nothing."""
    return _watts(term["watts"]) if term["watts"] or not term["high_watts"] else _range(term)


def _named(term: Mapping[str, Any]) -> str:
    product = f", {term['product']}" if term.get("product") else ""
    spread = f" ({_range(term)})" if term["watts"] and term["high_watts"] > term["low_watts"] else ""
    return f"{term['name']}{product}{spread}"


def _loose_lines(power: Mapping[str, Any]) -> list[_Line]:
    hung = {name for device in power["devices"] for name in device["loads"]}
    loose = [load for load in power["loads"] if load["name"] not in hung]
    lines = [_Line("", "  ", "on no device in use:", "red")] if loose else []
    for load in loose:
        lines += _load_lines(load, "  ", "  ", bypasses=False)
    return lines


def _first_text(power: Mapping[str, Any], terminal: Terminal) -> str:
    first = power["first_to_give"]
    if first is None:
        return ""
    lines = wrapped(f"First to give: {first['device']}, at {first['why']}.", terminal.width, "", "  ")
    return "".join(f"{line}\n" for line in lines)


def _fate_text(power: Mapping[str, Any], terminal: Terminal) -> str:
    """What each device takes along; a device whose loads all go on is left out."""
    lines: list[str] = []
    for fate in power["shared_fate"]:
        if not fate["goes_dark"] and not fate["on_battery"]:
            continue
        ways = [way["text"] for way in fate["ways_in"]]
        text = f"when {fate['device']} opens: "
        dark = fate["goes_dark"]
        text += f"{', '.join(dark) or 'nothing'} {'go' if len(dark) > 1 else 'goes'} dark"
        text += f", and with them {' and '.join(ways)}" if ways else ""
        kept = fate["on_battery"]
        text += f"; {', '.join(kept)} {'go' if len(kept) > 1 else 'goes'} on from the battery of a UPS" if kept else ""
        lines += wrapped(text, terminal.width, "  ", "    ")
    return "".join(f"{line}\n" for line in ["Shared fate:", *lines]) if lines else ""


def _proposal_text(power: Mapping[str, Any], terminal: Terminal) -> str:
    proposal = power["proposal"]
    if proposal is None:
        return ""
    separates = "separates the way in from the load" if proposal["separates"] else "does not separate the way in either"
    same = f"without {', '.join(proposal['left_out'])}" if proposal["left_out"] else "with the same loads"
    heading = "\n".join(wrapped(f"Proposed feed, which {separates}, {same}:", terminal.width))
    rows = [
        (
            Cell(device["name"]),
            Cell(", ".join((*device["feeds"], *device["bypass"]))),
            Cell(_watts(device["nominal_watts"]), _STYLE_OF_VERDICT.get(device["verdict"], "")),
            Cell(_watts(device["continuous_watts"])),
            Cell(_share(device["share_of_continuous"]), _STYLE_OF_VERDICT.get(device["verdict"], "")),
        )
        for device in proposal["devices"]
        if device["in_use"]
    ]
    return f"{heading}\n" + table_text(_PROPOSED, rows, terminal)


def _unmeasured_text(power: Mapping[str, Any], terminal: Terminal) -> str:
    lines = [
        line
        for one in power["unmeasured"]
        for line in wrapped(f"{one['load']}: {one['text']}", terminal.width, "  ", "    ")
    ]
    return "".join(f"{line}\n" for line in ["Not measured:", *lines]) if lines else ""


def _written(lines: Iterable[_Line], terminal: Terminal) -> str:
    shown = [(one, line.style) for line in lines for one in wrapped(line.text, terminal.width, line.first, line.rest)]
    return lines_text([(Cell(text, style),) for text, style in shown], terminal)


def _watts(watts: Optional[float]) -> str:
    """With one decimal where it is broken, so that the figures of a load add up."""
    if watts is None:
        return "?"
    return f"{round(watts, 1):.10g} W" if abs(watts) < 1e5 else f"{watts:,.0f} W"


def _share(share: Optional[float]) -> str:
    return "?" if share is None else f"{100 * share:.0f} %"


def _range(figure: Mapping[str, Any]) -> str:
    return f"{figure['low_watts']:.0f} to {figure['high_watts']:.0f} W"
