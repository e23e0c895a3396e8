"""Say what a finding code means and what to do.

Without a code it lists all of them; --markdown prints the page docs/findings.md.
"""

from __future__ import annotations

import argparse

from ..report.terminal import Terminal, wrapped
from .answer import Answer, CommandError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("code", nargs="?", metavar="CODE", help="a finding code, like port.unpublished")
    parser.add_argument("--markdown", action="store_true", help="the whole reference as Markdown")


def run(chosen: argparse.Namespace, terminal: Terminal) -> Answer:
    from ..catalogue import CATALOGUE
    from ..declare.problems import did_you_mean
    from ..report.findings_markdown import findings_markdown

    document = {code: kind._asdict() for code, kind in sorted(CATALOGUE.items())}
    if chosen.markdown:
        return Answer(findings_markdown(CATALOGUE), document)
    if chosen.code is None:
        return Answer(_listing(document, terminal), document)
    area = {code: kind for code, kind in document.items() if code.startswith(f"{chosen.code}.")}
    if area:
        return Answer(_listing(area, terminal), area)
    if chosen.code not in CATALOGUE:
        near = did_you_mean(chosen.code, CATALOGUE)
        raise CommandError(f"{chosen.code!r} is not a finding code; {near or 'gpu-seats explain lists all of them'}")
    return Answer(_entry(chosen.code, document[chosen.code], terminal), {chosen.code: document[chosen.code]})


def _listing(document: dict[str, dict[str, str]], terminal: Terminal) -> str:
    from ..report.styled import STYLE_OF_SEVERITY, Cell, Column, table_text

    rows = [
        (Cell(code), Cell(kind["severity"], STYLE_OF_SEVERITY[kind["severity"]]), Cell(kind["meaning"]))
        for code, kind in document.items()
    ]
    return table_text((Column("code"), Column("severity"), Column("meaning")), rows, terminal)


def _entry(code: str, kind: dict[str, str], terminal: Terminal) -> str:
    width = terminal.width
    lines = [f"{code}  {kind['severity']}", *wrapped(kind["meaning"], width, "  ", "  ")]
    lines += wrapped(kind["remedy"], width, "  do: ", "      ")
    return "\n".join(lines) + "\n"
