"""Findings as text: severity, code and subject on one line, then message and remedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..catalogue import CATALOGUE
from ..findings import SEVERITIES, Finding, by_severity
from .styled import STYLE_OF_SEVERITY, Cell, lines_text
from .terminal import Terminal, wrapped

_INDENT = " " * 10
_FOLD_FROM = 4
"""This many findings of one code are told together: a host that was just emptied would else fill screens."""
_SPOKEN = ("answer", "text", "log", "stderr", "processes")
_SPOKEN_LINES = 3
_SPOKEN_CHARACTERS = 240
_IMPLIED_BY = {
    "port.container_down": ("seat.container_missing", "seat.container_ended", "seat.restart_loop"),
    "power.cap_lost": ("power.cap_not_held",),
}
"""Findings that another one about the same seat explains already."""


def distinct(findings: Iterable[Finding]) -> list[Finding]:
    """Most severe first, each only once, and none that another one about the same seat explains."""
    seen: set[tuple[str, str, str]] = set()
    chosen = []
    for found in by_severity(findings):
        key = (found.code, found.subject, found.message)
        if key not in seen:
            seen.add(key)
            chosen.append(found)
    told = {(found.code, found.subject) for found in chosen}
    return [found for found in chosen if not _is_implied(found, told)]


def _is_implied(found: Finding, told: set[tuple[str, str]]) -> bool:
    return any((code, found.subject) in told for code in _IMPLIED_BY.get(found.code, ()))


def count_text(findings: Sequence[Finding]) -> str:
    """``2 errors, 1 warning``; ``no findings`` where there are none."""
    counts = [(sum(f.severity == severity for f in findings), severity) for severity in SEVERITIES]
    return ", ".join(_counted(number, severity) for number, severity in counts if number) or "no findings"


def _counted(number: int, severity: str) -> str:
    plural = "" if number == 1 or severity in ("critical", "info") else "s"
    return f"{number} {severity}{plural}"


def findings_text(findings: Iterable[Finding], terminal: Terminal) -> str:
    """All findings below each other, most severe first; an empty text where there are none."""
    lines: list[Sequence[Cell]] = []
    for group in _groups(distinct(findings)):
        lines += _folded(group, terminal) if len(group) >= _FOLD_FROM else _each(group, terminal)
    return lines_text(lines, terminal)


def _groups(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings of the same severity and code together, in the order of each group's first."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for found in findings:
        groups.setdefault((found.severity, found.code), []).append(found)
    return list(groups.values())


def _each(group: Iterable[Finding], terminal: Terminal) -> list[Sequence[Cell]]:
    lines: list[Sequence[Cell]] = []
    for found in group:
        lines += _heading(found, f"{found.subject}  {found.code}", terminal)
        lines += [(Cell(line),) for line in wrapped(found.message, terminal.width, _INDENT, _INDENT)]
        lines += _evidence(found, terminal)
        lines += _remedy(found.remedy, terminal)
    return lines


def _evidence(found: Finding, terminal: Terminal) -> list[Sequence[Cell]]:
    """What a tool, a log or a seat said itself, shortened; all of it is in the JSON."""
    lines: list[Sequence[Cell]] = []
    for key in _SPOKEN:
        value = found.evidence.get(key)
        told = value if isinstance(value, list) else str(value or "").strip().splitlines()
        said = [str(line) for line in told if str(line).strip() and str(line).strip() not in found.message]
        for line in said[:_SPOKEN_LINES]:
            short = line if len(line) <= _SPOKEN_CHARACTERS else line[:_SPOKEN_CHARACTERS] + " ..."
            lines += [(Cell(one),) for one in wrapped(short, terminal.width, _INDENT + "saw: ", _INDENT + "     ")]
    return lines


def _folded(group: Sequence[Finding], terminal: Terminal) -> list[Sequence[Cell]]:
    """One heading, one line a finding, one remedy, in which SEAT stands for each of the seats."""
    lines = _heading(group[0], f"{len(group)} times {group[0].code}", terminal)
    for found in group:
        text = f"{found.subject}: {found.message}"
        lines += [(Cell(line),) for line in wrapped(text, terminal.width, _INDENT, _INDENT + "    ")]
    remedies = {found.remedy for found in group}
    return lines + _remedy(remedies.pop() if len(remedies) == 1 else CATALOGUE[group[0].code].remedy, terminal)


def _heading(found: Finding, text: str, terminal: Terminal) -> list[Sequence[Cell]]:
    severity = f"{found.severity:<{len(_INDENT)}}"
    head, *more = wrapped(text, terminal.width, severity, _INDENT)
    first = (Cell(severity, STYLE_OF_SEVERITY[found.severity]), Cell(head[len(severity) :]))
    return [first, *((Cell(line),) for line in more)]


def _remedy(remedy: str, terminal: Terminal) -> list[Sequence[Cell]]:
    if not remedy:
        return []
    return [(Cell(line),) for line in wrapped(remedy, terminal.width, _INDENT + "do: ", _INDENT + "    ")]
