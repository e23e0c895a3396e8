"""Run one parser over one saved output and print what it reads: records and findings.

Reads FILE, or standard input. Lines like `# $ command` and `# rc=N` are notes: they are not the tool's text, but the
exit code is used. This is how a parsing fault is reported: gpu-seats parse TOOL FILE --json
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..report.terminal import Terminal, printable, wrapped
from .answer import FINDINGS, FINE, Answer, CommandError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tool", nargs="?", metavar="TOOL", help="whose output it is; --list names all")
    parser.add_argument("file", nargs="?", metavar="FILE", default="-", help="the saved output (default: stdin)")
    parser.add_argument("--rc", type=int, metavar="N", help="exit code of the tool, where the file has no note of it")
    parser.add_argument("--list", action="store_true", help="list the tools")


def run(chosen: argparse.Namespace, terminal: Terminal) -> Answer:
    from ..declare.problems import did_you_mean
    from ..observe.tools import TOOLS
    from ..report.finding_list import findings_text

    if chosen.list:
        return _listing(terminal)
    if chosen.tool is None:
        raise CommandError(f"parse what? name a tool: {', '.join(TOOLS)}")
    if chosen.tool not in TOOLS:
        near = did_you_mean(chosen.tool, TOOLS)
        raise CommandError(f"{chosen.tool!r} is no tool that is read here; {near or ', '.join(TOOLS)}")
    observation = TOOLS[chosen.tool].parse(_input(chosen.file), chosen.rc)
    document = observation.as_dict()
    text = "".join(f"{line}\n" for record in document["records"] for line in _record_lines(record, terminal.width))
    text += "".join(f"note: {printable(note)}\n" for note in document["notes"])
    listed = findings_text(observation.findings, terminal)
    text += f"\n{listed}" if text and listed else listed
    failed = any(found.fails for found in observation.findings)
    return Answer(text or "nothing read\n", document, FINDINGS if failed else FINE)


def _listing(terminal: Terminal) -> Answer:
    from ..observe.tools import TOOLS
    from ..report.styled import Cell, Column, table_text

    document = {name: tool.summary for name, tool in TOOLS.items()}
    rows = [(Cell(name), Cell(summary)) for name, summary in document.items()]
    return Answer(table_text((Column("tool"), Column("what may be given to it")), rows, terminal), document)


def _input(name: str) -> bytes:
    """The bytes as they are: a damaged file is the parser's to judge."""
    if name == "-":
        if sys.stdin.isatty():
            sys.stderr.write("gpu-seats: reading from the terminal; end with Ctrl-D\n")
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror or error}") from None


def _record_lines(record: Mapping[str, Any], width: int) -> Iterator[str]:
    """The record's kind, a line a field, then the fields without a value, together by their reason."""
    reasons = record.get("unknown") or {}
    missing: dict[str, list[str]] = {}
    yield str(record.get("record", "record"))
    for key, value in record.items():
        if key in ("record", "unknown") or value in ([], {}, ()):
            continue
        if value is None:
            missing.setdefault(str(reasons.get(key, "no reason given")), []).append(key)
        elif isinstance(value, (list, tuple)) and any(isinstance(item, dict) for item in value):
            yield f"  {key}:"
            for item in value:
                yield from wrapped(_shown(item), width, "    - ", "      ")
        else:
            yield from wrapped(f"{key}: {_shown(value)}", width, "  ", "    ")
    for reason, keys in missing.items():
        yield from wrapped(f"unknown ({reason}): {', '.join(keys)}", width, "  ", "    ")


def _shown(value: Any) -> str:
    """``a=1 b=2`` for a mapping, ``x, y`` for a list, ``yes`` or ``no``, ``-`` for nothing."""
    if isinstance(value, Mapping):
        return " ".join(f"{key}={_shown(item)}" for key, item in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(_shown(item) for item in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "-" if value is None else str(value)
