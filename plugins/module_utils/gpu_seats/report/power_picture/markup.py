"""Elements of SVG and HTML as text: every value escaped, attributes in the order given."""

from __future__ import annotations

import html
import re

# Characters that XML 1.0 cannot hold, escaped or not, and marks that turn the direction of the text around them.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")


def escaped(text: object) -> str:
    """`text` as it can stand between tags and in a quoted attribute."""
    return html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", str(text)), quote=True)


def number(value: float) -> str:
    """A coordinate with at most one decimal: ``12``, ``12.5``."""
    rounded = f"{value:.1f}"
    whole, _, rest = rounded.partition(".")
    return ("0" if whole == "-0" else whole) if rest == "0" else rounded


def element(tag: str, /, *children: str, **attributes: object) -> str:
    """``<tag name="value">children</tag>``: children are markup already, attribute values are escaped here.

    ``class_`` and ``aria_label`` stand for ``class`` and ``aria-label``; None leaves an attribute out.
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    inner = "".join(children)
    return f"<{tag}{written}>{inner}</{tag}>" if inner else f"<{tag}{written}/>"


def _value(value: object) -> str:
    return number(value) if isinstance(value, (int, float)) else escaped(value)
