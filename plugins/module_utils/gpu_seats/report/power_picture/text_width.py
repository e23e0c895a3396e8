"""How wide a text is at most, and lines that fit: an SVG does not wrap by itself.

The widths are those of DejaVu Sans, which is wider than the other fonts that browsers take for sans-serif; a text
placed by them has room in any of those.
"""

from __future__ import annotations

import re
import unicodedata

_EM = 1000
_WIDTHS = {
    280: "'ijlIJ",
    320: " \u00a0,.·",
    350: "/:;\\|f-",
    400: "()[]t!",
    410: "r",
    520: '"*_`–sz',
    590: "?cLFkvxyP",
    640: "TYaoeESbdghnpqu$0123456789{}",
    700: "KAVBRXZC",
    790: "UHNDG&OQ",
    860: "w#+<=>^~×M",
    1000: "%m@W…",
}
_WIDTH_OF = {character: width for width, characters in _WIDTHS.items() for character in characters}
_OTHER = 700
_FULL_WIDTH = 1000
_BOLD = 1.13
"""DejaVu Sans Bold against the regular one."""
_BREAK_AFTER = " -/_:"
_BLANKS = re.compile(r"[ \t\r\n]+")
"""Not the no-break space, which keeps a number and its unit together."""


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Pixels that `text` takes at a font of `size` pixels."""
    width = sum(_character_width(character) for character in text) * size / _EM
    return width * _BOLD if bold else width


def _character_width(character: str) -> int:
    known = _WIDTH_OF.get(character)
    if known is not None:
        return known
    if unicodedata.combining(character):
        return 0
    return _FULL_WIDTH if unicodedata.east_asian_width(character) in "WF" else _OTHER


def fitting_lines(text: str, room: float, size: float, bold: bool = False) -> list[str]:
    """`text` in lines of at most `room` pixels, broken after blanks and ``- / _ :`` where that is possible.

    Nothing is left out; runs of white space become one blank.
    """
    lines: list[str] = []
    line = ""
    for piece in _pieces(_BLANKS.sub(" ", text).strip(" ")):
        if line and text_width((line + piece).rstrip(" "), size, bold) > room:
            lines.append(line.rstrip(" "))
            line = ""
        while text_width(piece.rstrip(" "), size, bold) > room and len(piece) > 1:
            head = _head(piece, room, size, bold)
            lines.append(head)
            piece = piece[len(head) :]
        line += piece
    return [*lines, line.rstrip(" ")] if line.rstrip(" ") or not lines else lines


def _pieces(text: str) -> list[str]:
    pieces = [""]
    for character in text:
        pieces[-1] += character
        if character in _BREAK_AFTER:
            pieces.append("")
    return [piece for piece in pieces if piece]


def _head(piece: str, room: float, size: float, bold: bool) -> str:
    """As many first characters as fit, at least one."""
    count = 1
    while count < len(piece) and text_width(piece[: count + 1], size, bold) <= room:
        count += 1
    return piece[:count]
