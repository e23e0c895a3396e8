"""The output of ``docker compose up`` (and pull, down, start, docker run): progress, warnings, failures."""

from __future__ import annotations

from ...findings import finding
from ..records import Parsed, first_line, unrecognised
from .failures import classify
from .progress import take_progress
from .warnings import take_warnings

_FAILING = "container", "network", "volume", "image"


def parse_compose_up(text: str, rc: int | None = None, command: str | None = None) -> Parsed:
    """Events as records; warnings and classified failures as findings.

    A failure text counts even with exit code 0; a code other than 0 without a known text is a finding of its own.
    """
    warnings, lines = take_warnings(text)
    parsed, rest = take_progress("\n".join(lines))
    failures = classify("\n".join([*_error_lines(lines), *rest]))
    parsed.findings.extend([*warnings, *failures])
    leftover = "\n".join(rest).strip()
    if rc not in (None, 0) and not failures:
        said = "was interrupted (130)" if rc == 130 else f"ended with {rc} and no text that is known"
        message = f"compose {said}: {first_line(leftover, 100) or 'nothing printed'}"
        parsed.findings.append(finding("compose.failed", "tool:compose", message, {"rc": rc, "text": leftover[:400]}))
    elif leftover and not failures and not parsed.records and not parsed.findings and not parsed.notes:
        parsed.findings.append(unrecognised("compose-up", text, rc))
    if not text.strip() and rc in (None, 0):
        parsed.notes.append("compose printed nothing")
    return parsed


def _error_lines(lines: list[str]) -> list[str]:
    """Progress lines that end in an error: they name the container that a later line does not."""
    return [line for line in lines if " Error" in line and "Container " in line]
