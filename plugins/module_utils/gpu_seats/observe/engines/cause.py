"""One known text of an engine's log: a code, an expression with named groups, a message that uses them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ...findings import Finding, finding
from ..named_groups import NamedGroups


class LogCause(NamedTuple):
    """numbers: groups that are read as numbers (thousands commas taken out). fails: the engine stops at it."""

    code: str
    pattern: re.Pattern[str]
    message: str
    numbers: tuple[str, ...] = ()
    fails: bool = True


def cause(code: str, pattern: str, message: str, numbers: tuple[str, ...] = (), fails: bool = True) -> LogCause:
    return LogCause(code, re.compile(pattern, re.IGNORECASE), message, numbers, fails)


_UNSAID = re.compile(r"\s*\([^()?]*\?\)|(?::| and sees)? \?(?=$|[:,])")
"""Where a message names what this line of the log did not say, at its end or in brackets."""


def number_of(text: str) -> float | int | None:
    """``"196,608"`` -> 196608, ``"23.25"`` -> 23.25, None for other text."""
    plain = text.replace(",", "").strip()
    if re.match(r"^-?\d{1,18}$", plain):
        return int(plain)
    return float(plain) if re.match(r"^-?\d{1,18}\.\d{1,18}$", plain) else None


def cause_finding(
    one: LogCause, match: re.Match[str], subject: str, line_number: int, line: str, severity: str = ""
) -> Finding:
    """The finding of a matched cause: its groups are evidence, numbers as numbers.

    Groups ``file``, ``file2``, ``file3`` are one fact that different wordings print: each is evidence as ``file``.
    """
    groups: dict[str, Any] = {}
    for key, value in match.groupdict().items():
        if value:
            groups.setdefault(key.rstrip("23456789"), value.strip())
    message = _UNSAID.sub("", one.message.format_map(NamedGroups(groups)))
    for name in one.numbers:
        if name in groups:
            groups[name] = number_of(groups[name])
    evidence = {**groups, "line": line_number, "text": line.strip()[:400]}
    return finding(one.code, subject, message, evidence, severity=severity)
