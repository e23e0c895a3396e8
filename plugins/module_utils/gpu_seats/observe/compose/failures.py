"""Classifies failure texts of Docker Engine and Compose: what is wrong, and whether a retry is right."""

from __future__ import annotations

import re
from typing import Any

from ...findings import Finding, finding
from ..named_groups import NamedGroups
from ..records import first_line, unique
from .cause import Cause
from .causes import CAUSES, GENERIC

_ENDPOINT = re.compile(r"on endpoint (?P<container>[\w][\w.-]*)")
_CONTAINER = re.compile(r"(?:^|\s)Container (?P<container>[\w][\w.-]*)\s+Error\b")
_FOR = re.compile(r"^\s*(?:ERROR: )?for (?P<container>[\w][\w.-]*)\s{1,4}\S")
_NEAR = re.compile(r"near \".*", re.DOTALL)
"""Compose quotes the rest of a broken env file, secrets and all."""
_MAX_LINE = 2000
"""More of a line is not looked at: no known text is so long."""


def classify(text: str) -> list[Finding]:
    """Findings for every known failure in `text`, in order; [] when it holds none."""
    lines = [line[:_MAX_LINE] for line in text.splitlines()]
    known = [_first(CAUSES, line) for line in lines]
    found: list[Finding] = []
    container = ""
    for number, line in enumerate(lines):
        container = _container_of(line) or container
        match = known[number]
        if match is None and not any(known[number + 1 : number + 3]) and not (number and known[number - 1]):
            match = _first(GENERIC, line)
        if match is not None:
            found.append(_finding(*match, line=line, container=container))
    return unique(found)


def first_cause(text: str) -> Finding | None:
    """The first known failure in `text`, None when there is none."""
    found = classify(text)
    return found[0] if found else None


def _first(causes: tuple[Cause, ...], line: str) -> tuple[Cause, re.Match[str]] | None:
    for cause in causes:
        match = cause.pattern.search(line)
        if match:
            return cause, match
    return None


def _container_of(line: str) -> str:
    for pattern in (_ENDPOINT, _CONTAINER, _FOR):
        match = pattern.search(line)
        if match:
            return match.group("container")
    return ""


def _finding(cause: Cause, match: re.Match[str], line: str, container: str) -> Finding:
    groups = {key: value.strip() for key, value in match.groupdict().items() if value}
    if "name" not in groups:
        groups["name"] = groups.get("other") or groups.get("third") or first_line(match.group(0), 120)
    message = re.sub(
        r"\s+", " ", cause.message.format_map(NamedGroups({"other": "", "line": first_line(line, 160), **groups}))
    ).strip()
    said = _NEAR.sub("near (not shown)", line) if cause.code == "compose.env_file_invalid" else line
    evidence: dict[str, Any] = {"text": first_line(said, 400), "retry": cause.retry}
    if "port" in groups:
        evidence["port"] = int(groups["port"])
    if groups.get("address"):
        evidence["address"] = groups["address"]
    if container:
        evidence["container"] = container
    return finding(cause.code, _subject(cause, groups, container), message, evidence)


def _subject(cause: Cause, groups: dict[str, str], container: str) -> str:
    if cause.subject == "port" and "port" in groups:
        return f"port:{groups['port']}"
    if cause.subject == "name":
        return f"container:{groups['name']}"
    return f"container:{container}" if container else "tool:compose"
