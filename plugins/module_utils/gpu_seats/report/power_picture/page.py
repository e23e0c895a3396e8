"""The page around the picture: the same figures as tables, with where each comes from. One file, no scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .markup import element, escaped
from .records import Device, Found, Load, Part, PowerTree, Reading
from .sheet import svg_of
from .style import page_style, style_sheet
from .words import (
    bare,
    kind_words,
    percent,
    span,
    standing_words,
    summary,
    title,
    verdict_words,
)

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_DASH = "\N{EN DASH}"


def html_of(tree: PowerTree, proposal: PowerTree | None = None) -> str:
    """The whole document. proposal: the feed as it should be, drawn below."""
    head = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", escaped(title(tree))),
        element("style", page_style(), style_sheet()),
    ]
    body = [
        *_top(tree),
        *_section("Devices", _device_table(tree.devices)),
        *_section("Figures", _figure_table(tree.loads)),
        *_section("Not measured", _unmeasured(tree)),
        *_section("Findings", _finding_list(tree.findings)),
        *(_proposed(proposal) if proposal else []),
    ]
    page = element(
        "html",
        element("head", *(f"\n{one}" for one in head), "\n"),
        "\n",
        element("body", element("main", *(f"\n{one}" for one in body), "\n"), class_="power-tree"),
        lang="en",
    )
    return f"<!DOCTYPE html>\n{page}\n"


def _top(tree: PowerTree) -> list[str]:
    lines = [element("p", escaped(tree.summary), class_="quiet")] if tree.summary else []
    lines.append(element("p", element("strong", escaped(summary(tree)))))
    lines += [element("p", escaped(f"What if: {tree.question}"))] if tree.question else []
    return [element("h1", escaped(title(tree))), *lines, _picture(tree, "power")]


def _picture(tree: PowerTree, key: str) -> str:
    return element("div", svg_of(tree, page_key=key), class_="picture")


def _proposed(tree: PowerTree) -> list[str]:
    said = element("p", escaped(f"{tree.summary} {summary(tree)}"))
    findings = _finding_list(tree.findings)
    return [element("section", element("h2", "Proposed feed"), said, findings), _picture(tree, "proposal")]


def _unmeasured(tree: PowerTree) -> str:
    items = [element("li", element("strong", escaped(load)), f": {escaped(told)}") for load, told in tree.unmeasured]
    return element("ul", *items) if items else ""


def _section(heading: str, content: str) -> list[str]:
    return [element("section", element("h2", heading), content)] if content else []


def _table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are texts; a column whose heading ends with ``, W`` or ``, %`` holds numbers."""
    numbers = [heading.endswith((", W", ", %")) for heading in columns]
    head = [
        element("th", escaped(heading), scope="col", class_="number" if right else None)
        for heading, right in zip(columns, numbers, strict=True)
    ]
    body = [
        element(
            "tr",
            element("th", escaped(row[0]), scope="row"),
            *(
                element("td", escaped(cell), class_="number" if right else None)
                for cell, right in zip(row[1:], numbers[1:], strict=True)
            ),
        )
        for row in rows
    ]
    if not body:
        return ""
    table = element(
        "table",
        element("caption", escaped(caption)),
        element("thead", element("tr", *head)),
        element("tbody", *(f"\n{row}" for row in body)),
    )
    return element("div", table, class_="table")


def _device_table(devices: Iterable[Device]) -> str:
    columns = ("device", "kind", "load, W", "range, W", "continuous, W", "absolute, W", "share, %", "left, W", "state")
    return _table("What each protective device carries at worst", columns, map(_device_row, devices))


def _device_row(device: Device) -> tuple[str, ...]:
    limits = (bare(device.continuous_watts), bare(device.absolute_watts))
    state = verdict_words(device) + (", first to give" if device.gives_first else "")
    if not device.in_use:
        return (device.name, kind_words(device), _DASH, _DASH, *limits, _DASH, _DASH, state)
    left = None if device.continuous_watts is None or device.watts is None else device.continuous_watts - device.watts
    share = percent(device.watts, device.continuous_watts).removesuffix("%").strip()
    return (
        device.name,
        kind_words(device),
        bare(device.watts),
        _ends(device.low_watts, device.high_watts),
        *limits,
        share,
        bare(left),
        state,
    )


def _ends(low: float | None, high: float | None) -> str:
    return span(low, high).removesuffix("W").strip()


def _figure_table(loads: Iterable[Load]) -> str:
    rows: list[tuple[str, ...]] = []
    for load in loads:
        rows += [_figure_row(load, part) for part in load.parts]
        rows += [(load.name, what, "?", "?", "not known", "") for what in load.unknown]
        rows += [_reading_row(load, reading, "read") for reading in load.readings]
        rows += [_reading_row(load, reading, "measured now") for reading in load.measured]
    columns = ("load", "figure", "watts, W", "range, W", "standing", "where it comes from")
    return _table("Every figure that is added up, and what was read beside it", columns, rows)


def _reading_row(load: Load, reading: Reading, standing: str) -> tuple[str, ...]:
    return (load.name, f"{reading.source}, not added", bare(reading.watts), _DASH, standing, reading.on)


def _figure_row(load: Load, part: Part) -> tuple[str, ...]:
    ends = _ends(part.low_watts, part.high_watts)
    return (load.name, part.name.removesuffix(":"), bare(part.watts), ends, standing_words(part.standing), part.how)


def _finding_list(findings: Iterable[Found]) -> str:
    items = [
        element(
            "li",
            element("strong", escaped(f"{one.severity}: {one.subject}")),
            f" {element('code', escaped(one.code))}",
            element("p", escaped(one.message)),
            element("p", escaped(f"Do: {one.remedy}"), class_="quiet") if one.remedy else "",
        )
        for one in findings
    ]
    return element("ul", *items) if items else ""
