"""Picture of a site's power tree, from the record that `plan.power` makes of it (`SitePower.as_dict`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .page import html_of
from .reading import proposal_of, tree_of
from .sheet import svg_of

__all__ = ["power_html", "power_svg"]


def power_svg(power: Mapping[str, Any]) -> str:
    """The tree as one SVG file. The same record gives the same text."""
    return svg_of(tree_of(power)) + "\n"


def power_html(power: Mapping[str, Any]) -> str:
    """The tree, the proposed feed where there is one, and every figure in tables: one file that fetches nothing."""
    return html_of(tree_of(power), proposal_of(power))
