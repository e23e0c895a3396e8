"""One record for everything that is not as declared, and the registry of all codes.

A code is registered once in `catalogue.CATALOGUE` with its severity, meaning and remedy; ``docs/findings.md``
and ``gpu-seats explain`` are made from it. `finding` refuses a code that is not registered, so that no
undocumented code can reach an operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

SEVERITIES = ("critical", "error", "warning", "info")
"""Most severe first. `critical` and `error` make a verdict fail, `warning` and `info` do not."""


_SEAT = re.compile(r"(?:^|/)seat:([^/]+)")


@dataclass(frozen=True)
class Finding:
    """One thing that is not as declared.

    subject: what it is about, as ``kind:name`` parts joined by ``/`` (``host:fv-ml1/gpu:2``, ``seat:flash-next``).
    message: what was found, with the values. evidence: short facts (tool text, file and line), never secrets.
    remedy: the next thing an operator does.
    """

    code: str
    severity: str
    subject: str
    message: str
    evidence: dict[str, Any] = field(default_factory=dict)
    remedy: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def fails(self) -> bool:
        return self.severity in ("critical", "error")


def finding(
    code: str,
    subject: str,
    message: str,
    evidence: dict[str, Any] | None = None,
    remedy: str = "",
    severity: str = "",
) -> Finding:
    """A Finding whose severity and remedy default to what the catalogue says of `code`.

    Raises KeyError for a code that is not in the catalogue, ValueError for an unknown severity.
    """
    # the catalogue is a lot of text, and most runs on a target find nothing
    from .catalogue import CATALOGUE

    kind = CATALOGUE[code]
    chosen = severity or kind.severity
    if chosen not in SEVERITIES:
        raise ValueError("severity {!r} is not one of {}".format(chosen, ", ".join(SEVERITIES)))
    return Finding(code, chosen, subject, message, dict(evidence or {}), remedy or _named(kind.remedy, subject))


def _named(remedy: str, subject: str) -> str:
    """The catalogue's remedy with SEAT replaced by the seat that the finding is about, so that it can be copied."""
    match = _SEAT.search(subject)
    return remedy.replace("SEAT", match.group(1)) if match else remedy


def finding_from_dict(data: dict[str, Any]) -> Finding:
    """The Finding that `as_dict` was made from (modules hand findings over as dictionaries)."""
    return Finding(
        code=data["code"],
        severity=data["severity"],
        subject=data["subject"],
        message=data["message"],
        evidence=dict(data.get("evidence") or {}),
        remedy=data.get("remedy") or "",
    )


def by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """Most severe first, then by subject and code, so that two runs print the same order."""
    return sorted(findings, key=lambda f: (SEVERITIES.index(f.severity), f.subject, f.code))


__all__ = ["SEVERITIES", "Finding", "by_severity", "finding", "finding_from_dict"]
