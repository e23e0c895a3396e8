"""A mapping as YAML text that Compose (YAML 1.2-like) and Ansible (YAML 1.1) read alike.

Every text value is quoted, so that ``no``, ``1.10``, ``012``, ``22:22`` and dates stay text. Keys are plain where
no reader can take them for anything else. With all texts quoted the format has few rules, so it is written here:
the same bytes from every controller, whatever YAML library it has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_READ_AS_OTHER = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_ONE_LINE_ASCII = re.compile(r"[\x20-\x7e]*")
_SPECIAL = re.compile('["\\\\\x00-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]')
_NAMED_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


def yaml_text(mapping: dict[str, Any]) -> str:
    """`mapping` as YAML, keys in its own order, one item a line.

    Values: text, whole numbers, booleans, None, and mappings and lists of them. Raises TypeError for others.
    """
    return "".join(_mapping_lines(mapping, "")) if mapping else "{}\n"


def _mapping_lines(mapping: dict[str, Any], indent: str) -> Iterator[str]:
    for key, value in mapping.items():
        yield from _item_lines(f"{indent}{_key(key)}:", value, indent)


def _item_lines(lead: str, value: Any, indent: str) -> Iterator[str]:
    """`lead` (a key with its colon) and its value, on the same line or below."""
    if isinstance(value, dict) and value:
        yield f"{lead}\n"
        yield from _mapping_lines(value, indent + "  ")
    elif isinstance(value, list) and value:
        yield f"{lead}\n"
        yield from _list_lines(value, indent + "  ")
    else:
        yield f"{lead} {_scalar(value)}\n"


def _list_lines(items: list[Any], indent: str) -> Iterator[str]:
    for item in items:
        if isinstance(item, (dict, list)) and item:
            below = indent + "  "
            lines = _mapping_lines(item, below) if isinstance(item, dict) else _list_lines(item, below)
            yield f"{indent}- {next(lines)[len(below) :]}"
            yield from lines
        else:
            yield f"{indent}- {_scalar(item)}\n"


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) and key.lower() not in _READ_AS_OTHER else _quoted(key)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if value in ({}, []):
        return "{}" if isinstance(value, dict) else "[]"
    raise TypeError(f"{value!r} has no YAML form here: write it as text")


def _quoted(text: str) -> str:
    """Single quotes where they save escapes (JSON), else double quotes."""
    if '"' in text and "'" not in text and _ONE_LINE_ASCII.fullmatch(text):
        return f"'{text}'"
    return '"' + _SPECIAL.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    return _NAMED_ESCAPES.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def compose_escaped(value: Any) -> Any:
    """`value` with every ``$`` of a text doubled: Compose's interpolation then gives the text back.

    The only place where this is done; keys are not interpolated and stay as they are.
    """
    if isinstance(value, str):
        return value.replace("$", "$$")
    if isinstance(value, dict):
        return {key: compose_escaped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [compose_escaped(item) for item in value]
    return value


def compose_yaml(compose: dict[str, Any], made_from: str) -> str:
    """The text of ``compose.yaml`` for a Compose mapping; `made_from` names the declaration."""
    header = f"# Made by gpu-seats from {made_from}; edits here are overwritten by the next deploy.\n"
    return header + yaml_text(compose_escaped(compose))
