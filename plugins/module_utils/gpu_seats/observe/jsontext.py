"""Reads JSON as tools print it: with warnings before it, errors after it, or cut in the middle."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from ..findings import Finding, finding
from .records import first_line

_START = re.compile(r"^[ \t]*[\[{]|^[ \t]*null[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class JsonText:
    """value: what could be read (None and `found` False when nothing). before, after: other text around it.

    problem: why reading stopped early, empty when the text was whole.
    """

    value: Any
    found: bool
    before: str = ""
    after: str = ""
    problem: str = ""


def read_json(text: str) -> JsonText:
    """The JSON value in `text`. Of a list that is cut, the whole elements before the cut are given."""
    start = _START.search(text)
    if start is None:
        return JsonText(None, False, before=text)
    before, body = text[: start.start()], text[start.start() :].lstrip()
    try:
        value, end = json.JSONDecoder().raw_decode(body)
    except RecursionError:
        return JsonText(None, False, before, body, "nested too deeply")
    except ValueError as error:
        whole = _whole_elements(body)
        return JsonText(whole or None, bool(whole), before, "", str(error))
    return JsonText(value, True, before, body[end:])


def _whole_elements(body: str) -> list[Any]:
    """The elements of a list before the place where it is cut."""
    decoder, position = json.JSONDecoder(), 1
    elements: list[Any] = []
    if not body.startswith("["):
        return []
    while True:
        while position < len(body) and body[position] in " \t\n,":
            position += 1
        try:
            value, position = decoder.raw_decode(body, position)
        except (ValueError, RecursionError):
            return elements
        elements.append(value)


def truncated(tool: str, text: str, problem: str) -> Finding:
    """The finding for JSON or XML that stops early."""
    return finding(
        "parse.truncated",
        f"tool:{tool}",
        f"the output of {tool} stops early or is damaged: {problem}",
        {"first_line": first_line(text), "last_line": first_line("\n".join(reversed(text.splitlines())))},
    )


def as_mapping(value: Any) -> dict[str, Any]:
    """`value` where it is an object, else an empty one: engines print null, [] and leave keys out."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """`value` where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str | None:
    """`value` where it is text that says something, else None."""
    return value if isinstance(value, str) and value else None


def as_int(value: Any) -> int | None:
    """Whole numbers, also written as text or as a float without a fraction; booleans are not numbers."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and re.match(r"^\s*-?\d{1,30}\s*$", value):
        return int(value)
    return None
