"""A declaration file, read with its positions.

The C parser builds a node tree that knows every line; values are made from it once, and messages look lines up
in it only when there is something to say. Stricter than YAML 1.1: keys are text as written (``on:`` stays
``on``), a key stands once, a value is never empty, and a scalar that YAML 1.1 and 1.2 read differently
(``no``, ``012``, ``22:22``) is a fault wherever it stands.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import yaml

from .problems import DeclarationError, Path, Problem, dotted

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_MAX_BYTES = 1 << 20
_MAX_DEPTH = 40
_MAX_NODES = 50_000  # anchors that hold anchors multiply: a small file can stand for billions of values
_SHOWN_CHARS = 60
_FREE_TEXT = frozenset({"says", "reason", "summary", "assumed", "description", "lesson"})
_FREE_DATA = frozenset({"flags", "hf_overrides"})


class _Loader(_Base):  # type: ignore[misc]
    """Makes values from nodes: keys are text as written, a repeated key is an error with both lines."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
        self.flatten_mapping(node)
        return {_key_text(key): self.construct_object(value, deep=True) for key, value in node.value}


def _key_text(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise yaml.constructor.ConstructorError(
            None, None, "a key that is itself a list or a mapping; keys are text", node.start_mark
        )
    return str(node.value)


_Loader.add_constructor(_TAG + "map", lambda loader, node: loader.construct_mapping(node, deep=True))


@dataclass
class Source:
    """One file: its text, its node tree, and below which keys the declaration stands (`prefix`)."""

    file: str
    text: str = ""
    root: yaml.Node | None = None
    prefix: Path = ()
    data: Any = None
    problems: list[Problem] = field(default_factory=list)

    def line(self, path: Path) -> int:
        """Line of the key at `path` inside the declaration, or of its nearest parent that is written."""
        key_node, _ = self._nodes(path)
        return int(key_node.start_mark.line) + 1 if key_node is not None else 1

    def value_line(self, path: Path) -> int:
        """Line of the value at `path`: of its key where the value is a block below it, of the item in a list."""
        _, value_node = self._nodes(path)
        if isinstance(value_node, yaml.CollectionNode) and not value_node.flow_style:
            return self.line(path)
        return int(value_node.start_mark.line) + 1 if value_node is not None else self.line(path)

    def written(self, path: Path) -> str | None:
        """The value at `path` as the operator wrote it, on one line and cut; None when it is not written."""
        node = self.node(path)
        return None if node is None else self._written(node)

    def node(self, path: Path) -> yaml.Node | None:
        """The value node at `path`; None when the path is not written in the file."""
        node = self.root
        for part in self.prefix + path:
            node = _child(node, part)[1]
            if node is None:
                return None
        return node

    def problem(self, path: Path, message: str, allowed: str = "", remedy: str = "", value: bool = True) -> Problem:
        """A Problem at `path`, with line and value looked up."""
        written = self.written(path) if value else None
        return Problem(self.file, self.value_line(path), dotted(self.prefix + path), written, message, allowed, remedy)

    def _written(self, node: yaml.Node) -> str:
        if isinstance(node, yaml.ScalarNode):
            text = self.text[node.start_mark.index : node.end_mark.index] or node.value or "(nothing)"
        else:
            text = self.text[node.start_mark.index : node.end_mark.index]
        text = " ".join(text.split())
        return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 3] + "..."

    def _nodes(self, path: Path) -> tuple[yaml.Node | None, yaml.Node | None]:
        """The nearest written key node and value node on the way to `path`."""
        key_node: yaml.Node | None = self.root
        node = self.root
        for part in self.prefix + path:
            key, value = _child(node, part)
            if value is None:
                return key_node, key_node
            key_node, node = key or value, value
        return key_node, node


def _child(node: yaml.Node | None, part: str | int) -> tuple[yaml.Node | None, yaml.Node | None]:
    """(key node, value node) of `part` below `node`; a list item has no key node."""
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return None, node.value[part]
    if isinstance(node, yaml.MappingNode):
        for key, value in reversed(node.value):  # merged keys stand first, so the written one is found first
            if isinstance(key, yaml.ScalarNode) and key.value == str(part):
                return key, value
    return None, None


def read_source(path: FilePath, shown: str, below: str = "") -> Source | None:
    """The file as a Source whose `data` is what stands under the key `below` (the whole file when empty).

    None when the file has no such key. Faults of the text end up in `problems`; raises DeclarationError only
    when there is nothing to go on with (unreadable, not YAML, no mapping).
    """
    source = Source(shown, _text(path, shown))
    loader = _Loader(source.text)
    try:
        source.root = loader.get_single_node()
        return _with_data(source, loader, below)
    except yaml.MarkedYAMLError as error:
        raise DeclarationError([_syntax_problem(source, error)]) from None
    except yaml.reader.ReaderError as error:
        raise DeclarationError([_character_problem(source, error)]) from None
    except yaml.YAMLError as error:
        raise DeclarationError([Problem(shown, None, "", None, f"is no YAML: {error}")]) from None
    except RecursionError:
        raise DeclarationError([Problem(shown, None, "", None, "is nested too deeply to be a declaration")]) from None
    finally:
        loader.dispose()


def _text(path: FilePath, shown: str) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DeclarationError([Problem(shown, None, "", None, f"cannot be read: {error.strerror}")]) from None
    if len(raw) > _MAX_BYTES:
        raise DeclarationError(
            [Problem(shown, None, "", None, f"has {len(raw)} bytes, more than a declaration can have", "1 MiB")]
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise DeclarationError(
            [Problem(shown, line, "", f"byte 0x{raw[error.start]:02x}", "is not UTF-8", remedy="save it as UTF-8")]
        ) from None
    _refuse_depth(text, shown)
    return text


def _refuse_depth(text: str, shown: str) -> None:
    """libyaml recurses in C: brackets nested without end would end the process instead of raising."""
    if text.count("[") + text.count("{") < 500 and max(map(_indent, text.splitlines()), default=0) < 500:
        return
    depth = deepest = 0
    for character in text:
        depth += (character in "[{") - (character in "]}")
        deepest = max(deepest, depth)
    if deepest > _MAX_DEPTH or max(map(_indent, text.splitlines()), default=0) >= 500:
        raise DeclarationError([Problem(shown, None, "", None, "is nested too deeply to be a declaration")])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" -?"))


def _with_data(source: Source, loader: Any, below: str) -> Source | None:
    if source.root is None:
        raise DeclarationError([Problem(source.file, 1, "", None, "is empty; a declaration is a mapping of keys")])
    node: yaml.Node | None = source.root
    if not isinstance(node, yaml.MappingNode):
        line = source.root.start_mark.line + 1
        raise DeclarationError([Problem(source.file, line, "", None, "is not a mapping of keys at its top")])
    if below:
        _, node = _child(node, below)
        if node is None:
            return None
        source.prefix = (below,)
    source.problems += _text_faults(source, node)
    if any("stands twice" in problem.message for problem in source.problems):
        raise DeclarationError(source.problems)
    try:
        source.data = loader.construct_object(node, deep=True)
    except yaml.MarkedYAMLError:
        raise
    except (ValueError, TypeError, OverflowError, ArithmeticError, AttributeError, LookupError) as error:
        raise DeclarationError(source.problems or [source.problem((), f"cannot be read as data: {error}")]) from None
    return source


def walk(node: yaml.Node, path: Path = (), open_nodes: tuple[int, ...] = ()) -> Iterator[tuple[Path, yaml.Node]]:
    """Every value node below `node` with its path, itself first. An anchor that holds itself ends the walk there."""
    if id(node) in open_nodes or len(open_nodes) > _MAX_DEPTH:
        return
    yield path, node
    inside = (*open_nodes, id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from walk(item, (*path, index), inside)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield from walk(value, (*path, key.value), inside)


def _text_faults(source: Source, top: yaml.Node) -> list[Problem]:
    """Faults that are seen in the text alone: repeated keys, empty values, scalars with two readings, templates."""
    faults: list[Problem] = []
    for count, (path, node) in enumerate(walk(top)):
        if count > _MAX_NODES:
            raise DeclarationError([Problem(source.file, None, "", None, "holds more values than a declaration can")])
        if isinstance(node, yaml.MappingNode):
            faults += _repeated_keys(source, path, node)
        elif isinstance(node, yaml.ScalarNode):
            message, remedy = _scalar_fault(path, node)
            if message:
                faults.append(
                    Problem(
                        source.file,
                        node.start_mark.line + 1,
                        dotted(source.prefix + path),
                        source._written(node),
                        message,
                        remedy=remedy,
                    )
                )
    return faults


def _repeated_keys(source: Source, path: Path, node: yaml.MappingNode) -> list[Problem]:
    first: dict[str, int] = {}
    faults = []
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.tag == _TAG + "merge":
            continue
        line = key.start_mark.line + 1
        if key.value in first:
            where = dotted((*source.prefix, *path, key.value))
            message = f"the key stands twice (first in line {first[key.value]}), and YAML would keep only the last"
            faults.append(Problem(source.file, line, where, None, message, remedy="remove one of the two"))
        first.setdefault(key.value, line)
    return faults


_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
"""Control characters, and halves of a surrogate pair, as escapes in double quotes can write them."""


def _scalar_fault(path: Path, node: yaml.ScalarNode) -> tuple[str, str]:
    """(message, remedy) for a scalar that is a fault whatever type is meant; empty when it is none."""
    names = {part for part in path if isinstance(part, str)}
    unprintable = _UNPRINTABLE.search(node.value)
    if unprintable:
        return f"holds the character U+{ord(unprintable.group(0)):04X}, which no file may hold", "remove it"
    if node.tag == _TAG + "null":
        if names & _FREE_DATA:
            return "", ""
        return "is no value", "give a value or remove the key"
    if node.tag == _TAG + "timestamp":
        return ("", "") if _is_date(node.value) else ("is no date", "write a date like 2026-09-30, or quote the text")
    if is_plain(node) and node.tag != _TAG + "str":
        how = reading(node.value, node.tag)
        if how and (not _harmless_zero(node) or names & _FREE_DATA):
            return f"has two readings: {how}", _unambiguous(node)
    if not names & _FREE_TEXT and ("{{" in node.value or "{%" in node.value):
        return "is a template, and declarations are data: nothing is templated in them", "write the value itself"
    if "environment" in names and "${" in node.value:
        return (
            "would reach the container as it stands: nothing is interpolated in environment",
            "write the value itself, or name the variable under secrets",
        )
    return "", ""


def is_plain(node: yaml.Node) -> bool:
    """Whether the node is a scalar without quotes (the C parser says "", the Python one None)."""
    return isinstance(node, yaml.ScalarNode) and not node.style


def _is_date(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text[:10])
    except ValueError:
        return False
    return True


def _harmless_zero(node: yaml.ScalarNode) -> bool:
    """``0.90`` is the number 0.9 to every reader: a fault only where text may be meant."""
    return bool(node.tag == _TAG + "float" and ":" not in node.value and "_" not in node.value)


def _unambiguous(node: yaml.ScalarNode) -> str:
    if node.tag == _TAG + "bool":
        truth = "true" if node.value.casefold() in ("yes", "on") else "false"
        return f'write {truth} for the truth value, or "{node.value}" in quotes for the text'
    return f'write the number in plain decimal, or "{node.value}" in quotes for the text'


def reading(text: str, tag: str) -> str:
    """How YAML 1.1 reads the plain scalar `text` of node tag `tag`, when that is not what it looks like; else ``""``.

    Rules: https://yaml.org/type/bool.html, int.html, float.html and timestamp.html.
    """
    kind = tag[len(_TAG) :]
    folded = text.casefold()
    if kind == "bool" and folded not in ("true", "false"):
        return f"YAML 1.1 reads {text} as {'true' if folded in ('yes', 'on') else 'false'}, YAML 1.2 as text"
    if kind in ("int", "float") and ":" in text:
        return f"YAML 1.1 reads {text} as a number in base 60"
    if kind in ("int", "float") and "_" in text:
        return f"YAML 1.1 drops the underscores of {text}, YAML 1.2 reads text"
    if kind == "int" and re.match(r"^[-+]?0[0-7]+$", text):
        return f"YAML 1.1 reads {text} as the octal number {int(text, 8)}, YAML 1.2 as {int(text)}"
    if kind == "int" and re.match(r"^[-+]?0b", text):
        return f"YAML 1.1 reads {text} as a binary number, YAML 1.2 as text"
    if kind == "float" and re.match(r"^[-+]?\d*\.\d*0$", text) and not text.endswith(".0"):
        return f"YAML reads {text} as the number {float(text):g} and drops the last zero"
    if kind == "timestamp":
        return f"YAML 1.1 reads {text} as a date"
    return ""


def _character_problem(source: Source, error: yaml.reader.ReaderError) -> Problem:
    line = source.text[: error.position].count("\n") + 1
    code = error.character if isinstance(error.character, int) else ord(str(error.character)[:1] or "\0")
    return Problem(
        source.file, line, "", None, f"is no YAML: character U+{code:04X} cannot stand in it", "", "remove it"
    )


def _syntax_problem(source: Source, error: yaml.MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark is not None else None
    words = error.problem or "is no YAML"
    written = source.text.splitlines()[line - 1 : line] if line else []
    if "\t" in words or (written and re.match(r"^\s*\t", written[0])):
        return Problem(source.file, line, "", None, "a tab in the indentation", "spaces", "indent with spaces")
    if written and "{{" in written[0]:
        return Problem(
            source.file,
            line,
            "",
            written[0].strip(),
            "is a template, and declarations are data: nothing is templated in them",
            remedy="write the value itself",
        )
    if "another document" in words:
        return Problem(
            source.file, line, "", None, "a second document begins here", "one document a file", "remove the ---"
        )
    if "recursive" in words:
        return Problem(source.file, line, "", None, "an anchor that holds itself", remedy="write the value out")
    return Problem(source.file, line, "", None, f"is no YAML: {words}", remedy=_syntax_remedy(words))


def _syntax_remedy(words: str) -> str:
    if "constructor for the tag" in words:
        return "remove the tag: declarations are plain data"
    if "mapping values are not allowed" in words:
        return "put text that holds ': ' in quotes, or mend the indentation"
    if "undefined alias" in words:
        return "put text that begins with * in quotes"
    if "cannot start any token" in words:
        return "put text that begins with such a character in quotes"
    return ""
