"""Colours and fonts for light, dark and print; patterns that say the standing without colour."""

from __future__ import annotations

from string import Template

from .markup import element

LIGHT = {
    "surface": "#ffffff",
    "ink": "#1b1f24",
    "muted": "#55606c",
    "line": "#d3d9e0",
    "track": "#f1f3f6",
    "cards": "#1d4f8f",
    "on_cards": "#ffffff",
    "machine": "#6ba3d6",
    "on_machine": "#10161d",
    "router": "#f0c46c",
    "on_router": "#10161d",
    "other": "#eef1f4",
    "on_other": "#10161d",
    "critical": "#a8071a",
    "on_critical": "#ffffff",
    "caution": "#7a4b00",
}
DARK = {
    "surface": "#14181d",
    "ink": "#e8ecf1",
    "muted": "#a3aebb",
    "line": "#343d48",
    "track": "#1f262e",
    "cards": "#3574c2",
    "on_cards": "#ffffff",
    "machine": "#a9cdf0",
    "on_machine": "#10161d",
    "router": "#e9b95f",
    "on_router": "#10161d",
    "other": "#8b95a1",
    "on_other": "#10161d",
    "critical": "#ff9a94",
    "on_critical": "#2a0608",
    "caution": "#f0c36a",
}
FONT = "'DejaVu Sans', Verdana, 'Segoe UI', system-ui, sans-serif"

_RULES = """
.power-tree { font-family: ${font}; background: ${surface}; color: ${ink}; print-color-adjust: exact; }
.power-tree text { fill: ${ink}; font-size: 12px; }
.power-tree text.title { font-size: 20px; font-weight: 700; }
.power-tree text.summary { font-size: 14px; }
.power-tree text.name { font-size: 14px; font-weight: 700; }
.power-tree text.says { font-size: 13px; font-weight: 700; }
.power-tree text.small { font-size: 11px; }
.power-tree text.quiet { fill: ${muted}; }
.power-tree text.warns { fill: ${caution}; }
.power-tree text.alarm { fill: ${critical}; }
.power-tree text.in-pill { font-size: 11px; font-weight: 700; fill: ${surface}; }
.power-tree text.in-pill.alarm { fill: ${on_critical}; }
.power-tree text.in-pill.open { fill: ${ink}; }
.power-tree text.in-pill.open.quiet { fill: ${muted}; }
.power-tree .pill { fill: ${ink}; }
.power-tree .pill.alarm { fill: ${critical}; }
.power-tree .pill.open { fill: none; stroke: ${ink}; }
.power-tree .pill.open.quiet { stroke: ${muted}; stroke-dasharray: 3 2; }
.power-tree .paper { fill: ${surface}; }
.power-tree .grid { stroke: ${line}; }
.power-tree .branch { stroke: ${muted}; fill: none; stroke-width: 1.5; }
.power-tree .node { fill: ${ink}; stroke: ${ink}; stroke-width: 1.5; }
.power-tree .node.quiet { fill: ${surface}; stroke: ${muted}; }
.power-tree .first { fill: ${ink}; }
.power-tree .track { fill: ${track}; stroke: ${line}; }
.power-tree .track.quiet { fill: none; stroke: ${muted}; stroke-dasharray: 4 3; }
.power-tree .limit { stroke: ${ink}; stroke-width: 2; }
.power-tree .limit.absolute { stroke-width: 5; }
.power-tree .limit.quiet { stroke: ${muted}; }
.power-tree .segment { stroke: ${ink}; }
.power-tree .stripe { stroke: ${surface}; stroke-width: 1.4; opacity: 0.45; }
.power-tree .dot { fill: ${surface}; opacity: 0.6; }
.power-tree .over { fill: none; stroke: ${critical}; stroke-width: 2.5; }
.power-tree .over-band { fill: ${critical}; }
.power-tree .whisker { stroke: ${ink}; stroke-width: 1.5; fill: ${ink}; }
.power-tree .reading { fill: ${surface}; stroke: ${ink}; stroke-width: 1.5; }
.power-tree .reading.now { fill: ${ink}; }
"""


_GROUP_RULES = """
.power-tree .GROUP { fill: ${GROUP}; }
.power-tree text.on-GROUP { font-size: 11px; font-weight: 700; fill: ${on_GROUP}; }
.power-tree text.on-GROUP { stroke: ${GROUP}; stroke-width: 3px; paint-order: stroke; }
"""
"""The outline of a text keeps it legible on stripes."""

_STRIPES = "\n".join(
    f".{key} .{standing} {{ fill: url(#{key}-{standing}); }}"
    for key in ("power", "proposal")
    for standing in ("derived", "estimate")
)


def _rules(palette: dict[str, str]) -> str:
    # Colours stand in the rules themselves: what shows an SVG outside a browser knows no CSS variables.
    groups = "".join(_GROUP_RULES.replace("GROUP", group) for group in ("cards", "machine", "router", "other"))
    return Template(_RULES + groups).substitute(palette, font=FONT).strip()


def style_sheet() -> str:
    """CSS of the picture. Dark where the reader asks for it on a screen; paper is always light."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{\n{_rules(DARK)}\n}}"
    return f"{_rules(LIGHT)}\n{_STRIPES}\n{dark}\n"


_PAGE_RULES = """
body { margin: 0; font-size: 14px; line-height: 1.45; }
main { max-width: 1000px; margin: 0 auto; padding-bottom: 32px; }
h1 { font-size: 22px; margin: 0; padding: 20px 16px 0; }
h2 { font-size: 16px; margin: 24px 0 4px; }
main > p { margin: 6px 16px; }
section { padding: 0 16px; }
.picture svg { display: block; max-width: 100%; height: auto; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 12px; }
caption { text-align: left; padding-bottom: 6px; color: ${muted}; }
th, td { text-align: left; vertical-align: top; padding: 4px 10px 4px 0; border-bottom: 1px solid ${line}; }
tbody th { min-width: 7.5em; overflow-wrap: anywhere; }
thead th { color: ${muted}; font-weight: 400; border-bottom-color: ${muted}; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
ul { padding: 0; margin: 0; list-style: none; }
li { padding: 8px 0; border-bottom: 1px solid ${line}; overflow-wrap: anywhere; }
li p { margin: 2px 0 0; }
.quiet { color: ${muted}; }
code { font-family: 'DejaVu Sans Mono', monospace; font-size: 12px; color: ${muted}; }
@page { margin: 12mm; }
@media print { tr, li, svg { break-inside: avoid; } }
"""


def page_style() -> str:
    """CSS of the page around it; the picture brings its own."""
    light, dark = (Template(_PAGE_RULES).substitute(palette).strip() for palette in (LIGHT, DARK))
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def pattern_definitions(key: str) -> str:
    """Stripes for derived figures, dots for estimates. key: sets the ids of several pictures of one page apart."""
    stripe = element("path", d="M-2 2 L2 -2 M0 10 L10 0 M8 12 L12 8", class_="stripe")
    dots = [element("circle", cx=x, cy=y, r=1.3, class_="dot") for x, y in ((2, 2), (5.5, 5.5))]
    return element(
        "defs",
        element("pattern", stripe, id=f"{key}-derived", width=10, height=10, patternUnits="userSpaceOnUse"),
        element("pattern", *dots, id=f"{key}-estimate", width=7, height=7, patternUnits="userSpaceOnUse"),
    )
