"""The whole picture: title, axis, rows with their branches, legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .bars import device_bar, load_bar, over_frame, text
from .markup import element, escaped
from .records import Device, PowerTree
from .row_texts import device_texts, left_column, lines_of, load_texts, swatch
from .scale import MARGIN, PLOT_LEFT, WIDTH, Scale, scale_of
from .style import pattern_definitions, style_sheet
from .text_width import text_width
from .tree import Row, rows_of
from .words import GROUP_WORDS, bare, in_watts, spoken, summary, title

_INDENT = 22.0
_DEEPEST = 110.0
"""Pixels of the left column that indentation takes at most."""
_NODE = 5.0
_ROW_GAP = 14.0


@dataclass(frozen=True)
class Placed:
    """A row on the sheet. node: middle of its knot in the tree."""

    row: Row
    markup: str
    node_x: float
    node_y: float
    bottom: float


def svg_of(tree: PowerTree, page_key: str = "") -> str:
    """The picture as one ``<svg>`` element.

    page_key: for a page that has the title and the style already; it sets the ids of several pictures apart.
    """
    scale = scale_of(tree)
    head, axis_top = ([], 24.0) if page_key else _head(tree)
    placed = _placed_rows(tree, scale, axis_top + 8)
    bottom = placed[-1].bottom if placed else axis_top + 8
    legend, height = _legend(bottom + 22)
    key = page_key or "power"
    drawn = [
        element("rect", x=0, y=0, width=WIDTH, height=height, class_="paper"),
        *head,
        *(_axis(scale, axis_top) if placed else []),
        *_branches(placed),
        *(one.markup for one in placed),
        *legend,
    ]
    return element(
        "svg",
        element("title", escaped(title(tree)), id=f"{key}-title"),
        element("desc", escaped(spoken(tree)), id=f"{key}-desc"),
        "" if page_key else element("style", style_sheet()),
        pattern_definitions(key),
        *(f"\n{one}" for one in drawn),
        "\n",
        xmlns="http://www.w3.org/2000/svg",
        class_=f"power-tree {key}",
        role="img",
        aria_labelledby=f"{key}-title {key}-desc",
        viewBox=f"0 0 {WIDTH:.0f} {height:.0f}",
        width=WIDTH,
        height=f"{height:.0f}",
    )


def _head(tree: PowerTree) -> tuple[list[str], float]:
    right = WIDTH - MARGIN
    drawn = [text(MARGIN, 34, title(tree), "title")]
    about, y = lines_of(tree.summary, MARGIN, 56, right, "quiet")
    said, y = lines_of(summary(tree), MARGIN, y + 4, right, "says")
    asked, y = lines_of(f"What if: {tree.question}" if tree.question else "", MARGIN, y + 2, right)
    return [*drawn, *about, *said, *asked], y + 10


def _axis(scale: Scale, y: float) -> list[str]:
    return [
        text(scale.x(watts), y, in_watts(watts) if watts == 0 else bare(watts), "small quiet", "middle")
        for watts in scale.ticks()
    ]


def _grid(scale: Scale, top: float, bottom: float) -> list[str]:
    """Lines of the axis behind one bar; they leave the words alone."""
    marks = [scale.x(watts) for watts in scale.ticks()]
    return [element("line", x1=x, y1=top, x2=x, y2=bottom, class_="grid") for x in marks]


def _placed_rows(tree: PowerTree, scale: Scale, top: float) -> list[Placed]:
    rows = rows_of(tree)
    deepest = max((row.depth for row in rows), default=0)
    indent = min(_INDENT, _DEEPEST / max(1, deepest))
    placed: list[Placed] = []
    for row in rows:
        placed.append(_placed(tree, row, MARGIN + _NODE + row.depth * indent, top, scale))
        top = placed[-1].bottom
    return placed


def _placed(tree: PowerTree, row: Row, node_x: float, top: float, scale: Scale) -> Placed:
    first_line = top + _ROW_GAP + 14
    if row.again:
        drawn, bottom = _again(row, node_x, first_line)
    else:
        left, left_end = left_column(row.subject, node_x + 14, first_line)
        if isinstance(row.subject, Device):
            bar, y = device_bar(row.subject, top + _ROW_GAP, scale)
            texts, right_end = device_texts(row.subject, y + 14)
        else:
            bar, y = load_bar(row.subject, top + _ROW_GAP, scale)
            texts, right_end = load_texts(row.subject, y + 14, scale)
        drawn = [*left, *_grid(scale, top, y), *bar, *texts]
        bottom = max(left_end, right_end) - 8
    rule = element("line", x1=MARGIN, y1=bottom, x2=WIDTH - MARGIN, y2=bottom, class_="grid")
    return Placed(row, element("g", *drawn, _node(row, node_x, first_line - 5), rule), node_x, first_line - 5, bottom)


def _again(row: Row, node_x: float, y: float) -> tuple[list[str], float]:
    """A load on a second feed: it counts there in full too, and its bar is drawn once."""
    drawn, end = lines_of(row.subject.name, node_x + 14, y, PLOT_LEFT - 14, "name")
    words = f"{in_watts(row.subject.watts)}, on this feed too; counts here in full, its bar stands above"
    said, right_end = lines_of(words, PLOT_LEFT, y, WIDTH - MARGIN, "quiet")
    return [*drawn, *said], max(end, right_end) - 4


def _node(row: Row, x: float, y: float) -> str:
    """A square for a device, a disc for a load."""
    if not isinstance(row.subject, Device):
        return element("circle", cx=x, cy=y, r=_NODE, class_="node")
    quiet = "" if row.subject.in_use else " quiet"
    return element("rect", x=x - _NODE, y=y - _NODE, width=2 * _NODE, height=2 * _NODE, class_=f"node{quiet}")


def _branches(placed: Sequence[Placed]) -> list[str]:
    drawn = []
    for one in placed:
        if one.row.above is not None:
            above = placed[one.row.above]
            path = f"M{above.node_x:.1f} {above.node_y:.1f} V{one.node_y:.1f} H{one.node_x:.1f}"
            drawn.append(element("path", d=path, class_="branch"))
    return drawn


def _legend(top: float) -> tuple[list[str], float]:
    """What the marks mean; and the height of the sheet."""
    drawn: list[str] = []
    x, y = MARGIN, top
    for marks, words in _legend_entries():
        width = 22 + text_width(words, 11) + 18
        if x > MARGIN and x + width > WIDTH:
            x, y = MARGIN, y + 20
        drawn.append(element("g", *marks, transform=f"translate({x:.1f} {y:.1f})"))
        drawn.append(text(x + 20, y, words, "small quiet"))
        x += width
    return drawn, y + 18


def _legend_entries() -> list[tuple[list[str], str]]:
    groups = [
        (swatch(group, "measured", 0, 0), GROUP_WORDS[group]) for group in ("cards", "machine", "router", "other")
    ]
    standings = [
        (swatch("cards", "measured", 0, 0), "plain: measured"),
        (swatch("cards", "derived", 0, 0), "striped: derived"),
        (swatch("cards", "estimate", 0, 0), "dotted: estimate"),
    ]
    marks = [
        ([element("line", x1=6, y1=-11, x2=6, y2=2, class_="limit")], "continuous limit"),
        ([element("line", x1=6, y1=-11, x2=6, y2=2, class_="limit absolute")], "absolute limit"),
        (
            [
                element("path", d="M0 -8 v8 m0 -4 H13 m0 -4 v8", class_="whisker"),
                element("circle", cx=6, cy=-4, r=2.5, class_="whisker"),
            ],
            "range of what is not measured",
        ),
        ([element("path", d="M6 0 l-5 -9 h10 z", class_="reading")], "read before"),
        ([element("path", d="M6 0 l-5 -9 h10 z", class_="reading now")], "measured now"),
        (over_frame(0, -10, 12, 11), "over the continuous limit"),
    ]
    return [*groups, *standings, *marks]
