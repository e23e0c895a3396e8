"""Findings and seats in the Prometheus text format 0.0.4, for the textfile collector of node_exporter.

Format: https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Optional

from ..findings import SEVERITIES, Finding
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
        _series("gpu_seats_seat_up", {"host": host, "seat": row.seat, "state": row.state}): int(row.ok)
        for row in rows
        if row.ok is not None
    }
    here = {
        _series("gpu_seats_finding", {"code": f.code, "host": host, "severity": f.severity, "subject": f.subject}): 1
        for f in found
    }
    counts = {
        _series("gpu_seats_findings", {"host": host, "severity": severity}): sum(f.severity == severity for f in found)
        for severity in SEVERITIES
    }
    text = _family("gpu_seats_seat_up", "Whether the seat passed every check of the last verification.", up)
    text += _family("gpu_seats_finding", "One thing that is not as declared; 1 while it is so.", here)
    text += _family("gpu_seats_findings", "How many things are not as declared.", counts)
    if checked_at_s is not None:
        name = "gpu_seats_checked_timestamp_seconds"
        text += _family(name, "When this was looked at.", {_series(name, {"host": host}): checked_at_s})
    return text


def _family(name: str, help_text: str, samples: Mapping[str, float]) -> str:
    lines = [f"# HELP {name} {help_text}", f"# TYPE {name} gauge"]
    lines += [f"{series} {value!r}" for series, value in samples.items()]
    return "\n".join(lines) + "\n"


def _series(name: str, labels: Mapping[str, str]) -> str:
    return name + "{" + ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
