"""Findings and seats in the Prometheus text format (`metrics_text`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

from ..findings import SEVERITIES, Finding
from ..metrics_text import FINDING_HELP, family, series
from .finding_list import distinct
from .seat_table import SeatRow


def prometheus_text(
    host: str, rows: Iterable[SeatRow], findings: Iterable[Finding], checked_at_s: Optional[float] = None
) -> str:
    """One series a finding, one a verified seat. checked_at_s: Unix time, so that a rule can see old results.

    A seat that was not verified has no series: it is neither up nor down.
    """
    found = distinct(findings)
    up = {
        series("gpu_seats_seat_up", {"host": host, "seat": row.seat, "state": row.state}): int(row.ok)
        for row in rows
        if row.ok is not None
    }
    here = {
        series("gpu_seats_finding", {"code": f.code, "host": host, "severity": f.severity, "subject": f.subject}): 1
        for f in found
    }
    counts = {
        series("gpu_seats_findings", {"host": host, "severity": severity}): sum(f.severity == severity for f in found)
        for severity in SEVERITIES
    }
    text = family("gpu_seats_seat_up", "Whether the seat passed every check of the last verification.", up)
    text += family("gpu_seats_finding", FINDING_HELP, here)
    text += family("gpu_seats_findings", "How many things are not as declared.", counts)
    if checked_at_s is not None:
        name = "gpu_seats_checked_timestamp_seconds"
        text += family(name, "When this was looked at.", {series(name, {"host": host}): checked_at_s})
    return text
