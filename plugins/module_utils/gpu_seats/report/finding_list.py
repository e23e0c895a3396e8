"""Findings as text: severity, code and subject on one line, then message and remedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..findings import SEVERITIES, Finding, by_severity
from .styled import STYLE_OF_SEVERITY, Cell, lines_text
from .terminal import Terminal, wrapped

_INDENT = " " * 10


def distinct(findings: Iterable[Finding]) -> list[Finding]:
    """Most severe first, and each only once: two steps that see the same thing say it in the same words."""
    seen: set[tuple[str, str, str]] = set()
    chosen = []
    for found in by_severity(findings):
        key = (found.code, found.subject, found.message)
        if key not in seen:
            seen.add(key)
            chosen.append(found)
    return chosen


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
    for found in distinct(findings):
        severity = f"{found.severity:<{len(_INDENT)}}"
        head, *more = wrapped(f"{found.subject}  {found.code}", terminal.width, severity, _INDENT)
        lines.append((Cell(severity, STYLE_OF_SEVERITY[found.severity]), Cell(head[len(severity) :])))
        lines += [(Cell(line),) for line in more]
        lines += [(Cell(line),) for line in wrapped(found.message, terminal.width, _INDENT, _INDENT)]
        if found.remedy:
            hanging = _INDENT + "    "
            lines += [(Cell(line),) for line in wrapped(found.remedy, terminal.width, _INDENT + "do: ", hanging)]
    return lines_text(lines, terminal)
