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

from ..report.terminal import Terminal, printable
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

    if chosen.list or chosen.tool is None:
        if not chosen.list:
            raise CommandError(f"parse what? name a tool: {', '.join(TOOLS)}")
        return _listing(terminal)
    if chosen.tool not in TOOLS:
        near = did_you_mean(chosen.tool, TOOLS)
        raise CommandError(f"{chosen.tool!r} is no tool that is read here; {near or ', '.join(TOOLS)}")
    observation = TOOLS[chosen.tool].parse(_text_of(chosen.file), chosen.rc)
    document = observation.as_dict()
    text = "".join(f"{line}\n" for record in document["records"] for line in _record_lines(record))
    text += findings_text(observation.findings, terminal)
    failed = any(found.fails for found in observation.findings)
    return Answer(text or "nothing read\n", document, FINDINGS if failed else FINE)


def _text_of(name: str) -> str:
    """The input with every byte kept readable: a damaged file is the parser's to judge, not a crash."""
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror or error}") from None
    return data.decode("utf-8", errors="replace")


def _record_lines(record: Mapping[str, Any]) -> Iterator[str]:
    """The record's kind, then a line a field; what is unknown is said with its reason."""
    unknown = record.get("unknown") or {}
    yield str(record.get("record", "record"))
    for key, value in record.items():
        if key in ("record", "unknown"):
            continue
        if value is None:
            yield f"  {key}: unknown ({unknown.get(key, 'no reason given')})"
        else:
            yield f"  {key}: {_shown(value)}"


def _shown(value: Any) -> str:
    import json

    if isinstance(value, (dict, list, tuple, bool)):
        return printable(json.dumps(value, ensure_ascii=False, default=str))
    return printable(str(value))
