"""Watt numbers that stand outside the declaration of power: copies that nobody changes when the cap does.

Caps and reasons stand in ``power`` of a host file, ratings and loads in ``circuits``, ``loads`` and ``feed_proposal``
of a site file, a card's own limits in ``power_limits``. A dated note says what was read on its day and may name watts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

import yaml

from ...declare.yaml_source import walk
from ...findings import Finding, finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ...declare.fleet import Fleet
    from ...declare.problems import Path as KeyPath
    from ...declare.project import Project
    from ...declare.yaml_source import Source

_MAX_BYTES = 1 << 20
_MOST_LINES = 20
"""A log of samples has thousands of lines; these say enough of it."""
_WATTS = re.compile(
    r"(?:(?<![\w./+])|(?<=\s\+)|(?<=^\+))(?:\d+(?:[.,]\d+)?\s?[/x×*-]\s?){0,3}"
    r"\d+(?:[.,]\d+)?(?:(?:\s|-|&nbsp;)?(?:[kK]?W|[Ww]atts?|kilowatts?)|(?<=\d{3})w|(?<=\d)kw)\b(?!-\d)",
    re.MULTILINE,
)
"""Also 4x275W, 4 x 275 W, 250/300 W. A small w means weeks and words too: it counts after three digits, like 275w."""
_COMMAND = re.compile(r"nvidia-smi[^\0]{0,300}?(?<![\w-])(?:-pl|--power-limit)[\s\"',=\[\]-]*\d+")
_OPTION = re.compile(
    r"(?<!\S)[\"']?--[\w-]*power-?(?:limit|cap)(?:-[\w-]*)?[\s\"',=]{1,4}\d+(?:\.\d+)?\b", re.IGNORECASE
)
_OF_TIME = r"(?:enable|timeout|interval|version|period|seconds|minutes|count|_m?s\b|delay|retries|level)"
_LIMIT_NAME = (
    r"(?:power[ ._-]?(?:limit|cap|budget)[sw]?|watts?|wattage|max[_-]?power|power[_-]w|(?<![a-z])tdp"
    r"|(?:gpu|nvidia)[_-]pl)"
)
_SETTING = re.compile(
    rf"(?<![\w.-])(?![\w.-]*{_OF_TIME})[\w.-]*{_LIMIT_NAME}(?:[_-][\w-]*)?[\"']?[ \t]*[:=][ \t]*"
    r"(?:[\"'\[]|\$\{\w+:?[-=]|\{\{\s*|\{\s*[\w\"']+\s*:\s*){0,2}\d+(?:\.\d+)?\b[\"']?",
    re.IGNORECASE,
)
"""A limit that is given a number: bare, as the default of a variable, in a template, first of a list or a mapping."""
_CALL = re.compile(r"SetPowerManagementLimit\([^()\n]{0,80}?\b\d{4,}\s*\)")
"""NVML counts in milliwatts."""
_DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")
_STARTS_BLOCK = re.compile(r"^\s*(?:[-*+#|>]|\d{1,3}[.)]\s)")
"""A heading, an item of a list, a row of a table: each is dated or not by itself."""
_HOME_OF_POWER = {
    "host": (("power",), ("gpus", "*", "power_limits"), ("bmc", "draw"), ("notes",)),
    "site": (("circuits",), ("loads",), ("feed_proposal",), ("notes",)),
    "stack": (("notes",), ("seats", "*", "notes"), ("services", "*", "notes")),
}
_ASSUMED_OF_POWER = re.compile(r"^(?:power|circuits|loads|feed_proposal|bmc\.draw)(?:\.|$)|\.power_limits(?:\.|$)")


def literal_watts_findings(fleet: Fleet, project: Project) -> list[Finding]:
    """One for each line of the stacks and of the inventory that has a watt number where none belongs."""
    found: list[Finding] = []
    declared = set()
    for subject, source in fleet.origins.items():
        declared.add((project.root / source.file).resolve())
        found += _in_text(source.file, source.text, _home_lines(subject.partition(":")[0], source))
    for path in _other_files(project):
        if path.resolve() not in declared:
            text = _text(path)
            found += _in_text(_shown(path, project), text, _dated_lines(path, text)) if text is not None else []
    return found


def _in_text(file: str, text: str, exempt: set[int]) -> Iterator[Finding]:
    """One finding a line, up to _MOST_LINES. A command that sets a limit is one wherever it stands, dated or not."""
    line_ends = [match.start() for match in re.finditer("\n", text)]
    by_line: dict[int, str] = {}
    for pattern in (_COMMAND, _OPTION, _SETTING, _CALL, _WATTS):
        for match in pattern.finditer(text):
            line = bisect_left(line_ends, match.end() - 1) + 1
            if pattern is _COMMAND or line not in exempt:
                by_line.setdefault(line, " ".join(match.group(0).split())[-60:])
    for line, said in sorted(by_line.items())[:_MOST_LINES]:
        message = f"{file}:{line}: {said} is a watt number outside the declaration of power"
        yield finding("power.literal_watts", f"file:{file}", message, {"file": file, "line": line, "written": said})
    if len(by_line) > _MOST_LINES:
        further = len(by_line) - _MOST_LINES
        message = f"{file}: {further} further lines have watt numbers outside the declaration of power"
        yield finding("power.literal_watts", f"file:{file}", message, {"file": file, "further_lines": further})


def _home_lines(kind: str, source: Source) -> set[int]:
    """Lines of a declaration in which watts belong, comments between them included."""
    extents: dict[KeyPath, tuple[int, int]] = {}
    top = source.node(())
    for path, node in walk(top) if top is not None else ():
        home = _home_of(kind, path)
        if home is None or not isinstance(node, yaml.ScalarNode):
            continue
        last = node.end_mark.line - (1 if node.end_mark.column == 0 else 0)
        first, end = extents.get(home, (source.line(home), 0))
        extents[home] = (first, max(end, last + 1, node.start_mark.line + 1))
    return {line for first, end in extents.values() for line in range(first, end + 1)}


def _home_of(kind: str, path: KeyPath) -> KeyPath | None:
    """The part of `path` below which watts belong."""
    if len(path) > 1 and path[0] == "assumed":
        return path[:2] if _ASSUMED_OF_POWER.search(str(path[1])) else None
    for home in _HOME_OF_POWER[kind]:
        if len(path) >= len(home) and all(key in ("*", part) for key, part in zip(home, path)):
            return path[: len(home)]
    return None


def _dated_lines(path: Path, text: str) -> set[int]:
    """Lines of prose that carry their day, to the end of their paragraph: they say what was, not what is to be."""
    if path.suffix not in (".md", ".txt"):
        return set()
    found: set[int] = set()
    block: list[int] = []
    is_dated = False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if not line.strip() or _STARTS_BLOCK.match(line):
            found |= set(block) if is_dated else set()
            block, is_dated = [], False
        block.append(number)
        is_dated = is_dated or _DATE.search(line) is not None
    return found


def _other_files(project: Project) -> Iterator[Path]:
    """Every file below the stacks and beside the declarations of the inventory; nothing hidden, and no link."""
    for directory in (*project.stacks_dirs, project.inventory):
        if not directory.is_dir():
            continue
        for path in sorted(directory.rglob("*")):
            below = path.relative_to(directory).parts
            if path.is_file() and not path.is_symlink() and not any(part.startswith(".") for part in below):
                yield path


def _text(path: Path) -> str | None:
    """The text of a file; None for what is no text, is large, or is a vault."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            return None
        raw = path.read_bytes()
    except OSError:
        return None
    if b"\0" in raw or raw.startswith(b"$ANSIBLE_VAULT"):
        return None
    return raw.decode("utf-8", "replace")


def _shown(path: Path, project: Project) -> str:
    resolved = path.resolve()
    return str(resolved.relative_to(project.root)) if resolved.is_relative_to(project.root) else str(resolved)
