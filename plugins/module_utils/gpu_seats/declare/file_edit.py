"""Values set in a declaration file that a person wrote: everything else in it stays as it is, byte by byte.

Places are found in the node tree, and only the lines of what is set are written anew.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import yaml

WIDTH = 120
_PLAIN = re.compile(r"^[A-Za-z0-9(][^\n#]*$")

KeyPath = tuple[str, ...]
Value = Union[str, "Written", Mapping[str, Any], Sequence[Any]]


@dataclass(frozen=True)
class Written:
    """A scalar or a flow value as it is to stand in the file."""

    text: str


def with_value(text: str, path: KeyPath, value: Value) -> str:
    """`text` with `value` at `path`; its parent must be there. Raises KeyError where it is not."""
    parent = _node(text, path[:-1])
    if parent.flow_style:
        whole = {**_as_written(text, parent), path[-1]: value}
        return with_value(text, path[:-1], whole)
    lines = text.splitlines(keepends=True)
    key = next((key for key, _ in parent.value if key.value == path[-1]), None)
    if key is not None:
        start, column = key.start_mark.line, key.start_mark.column
        end = _block_end(lines, start, column)
    else:
        last = parent.value[-1][0]
        column = last.start_mark.column
        start = end = _block_end(lines, last.start_mark.line, column)
    lines[start:end] = _item_lines(path[-1], value, column)
    return "".join(_with_newline(lines))


def with_item(text: str, path: KeyPath, value: Value) -> str:
    """`text` with `value` added at the end of the list at `path`, which is made where there is none."""
    parent = _node(text, path[:-1])
    known = next(((key, node) for key, node in parent.value if key.value == path[-1]), None)
    if known is None:
        return with_value(text, path, [value])
    key, node = known
    if node.flow_style or not node.value:
        items = [Written(_slice(text, item)) for item in node.value]
        return with_value(text, path, [*items, value])
    lines = text.splitlines(keepends=True)
    end = _block_end(lines, key.start_mark.line, key.start_mark.column)
    dash = node.start_mark.column
    lines = _with_newline(lines)
    lines[end:end] = _list_item_lines(value, dash)
    return "".join(lines)


def _node(text: str, path: KeyPath) -> yaml.MappingNode:
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    for part in path:
        found = None
        if isinstance(node, yaml.MappingNode):
            found = next((value for key, value in node.value if key.value == part), None)
        if found is None:
            raise KeyError(".".join(path))
        node = found
    if not isinstance(node, yaml.MappingNode):
        raise KeyError(".".join(path))
    return node


def _block_end(lines: list[str], start: int, column: int) -> int:
    """The line after the last one that belongs to the key at `start`: deeper ones, and items at the key's own column.

    Comments and empty lines behind it belong to what follows.
    """
    end = start + 1
    for number in range(start + 1, len(lines)):
        stripped = lines[number].strip()
        if not stripped or stripped.startswith("#"):
            continue
        indent = len(lines[number]) - len(lines[number].lstrip(" "))
        if indent < column or (indent == column and not stripped.startswith("- ")):
            break
        end = number + 1
    return end


def _as_written(text: str, node: yaml.MappingNode) -> dict[str, Any]:
    return {key.value: Written(_slice(text, value)) for key, value in node.value}


def _slice(text: str, node: yaml.Node) -> str:
    return " ".join(text[node.start_mark.index : node.end_mark.index].split())


def _with_newline(lines: list[str]) -> list[str]:
    """Every line ended, so that what follows the last one does not join it."""
    return [line if line.endswith("\n") else line + "\n" for line in lines]


def _item_lines(key: str, value: Value, column: int) -> list[str]:
    """``key: value`` at `column`."""
    lead = " " * column
    if isinstance(value, Mapping) and value:
        below = [line for name, one in value.items() for line in _item_lines(name, one, column + 2)]
        return [f"{lead}{key}:\n", *below]
    if isinstance(value, Sequence) and not isinstance(value, str):
        flow = f"{lead}{key}: {_flow(value)}\n" if all(isinstance(one, Written) for one in value) else ""
        if flow and len(flow) <= WIDTH + 1:
            return [flow]
        return [f"{lead}{key}:\n", *(line for one in value for line in _list_item_lines(one, column + 2))]
    return _scalar_lines(f"{lead}{key}:", value, column)


def _list_item_lines(value: Value, column: int) -> list[str]:
    lead = " " * column
    if isinstance(value, Mapping) and value:
        lines = [line for name, one in value.items() for line in _item_lines(name, one, column + 2)]
        return [f"{lead}- {lines[0][column + 2 :]}", *lines[1:]]
    return _scalar_lines(f"{lead}-", value, column)


def _scalar_lines(lead: str, value: Any, column: int) -> list[str]:
    if isinstance(value, Written):
        return [f"{lead} {value.text}\n"]
    text = " ".join(str(value).split())
    line = f"{lead} {text}"
    if len(line) <= WIDTH and _is_plain(text):
        return [line + "\n"]
    if len(line) + 2 <= WIDTH and '"' not in text and "\\" not in text:
        return [f'{lead} "{text}"\n']
    indent = " " * (column + 2)
    folded = textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return [f"{lead} >-\n", *(one + "\n" for one in folded)]


def _is_plain(text: str) -> bool:
    """Whether YAML reads `text` as this text without quotes."""
    if not _PLAIN.match(text) or ": " in text or text.endswith(":"):
        return False
    try:
        return bool(yaml.safe_load(f"a: {text}") == {"a": text})
    except yaml.YAMLError:
        return False


def _flow(items: Sequence[Any]) -> str:
    return "[" + ", ".join(item.text for item in items) + "]"


__all__ = ["KeyPath", "Written", "with_item", "with_value"]
