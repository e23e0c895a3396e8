"""The findings of one host's run as files on the controller."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..apply.atomic_files import WantedFile, file_change, write_file
from ..findings import Finding
from ..report.finding_list import count_text
from ..report.findings_json import findings_document, json_text
from ..report.prometheus import prometheus_text
from ..report.seat_table import SeatRow
from .closing_table import joined_findings, rows_of


@dataclass(frozen=True)
class HostReport:
    """rows and findings of one host; ok: no finding of severity error or critical, and no seat failed."""

    host: str
    rows: list[SeatRow]
    findings: list[Finding]

    @property
    def ok(self) -> bool:
        return not any(one.fails for one in self.findings) and not any(row.ok is False for row in self.rows)

    @property
    def summary(self) -> str:
        return f"{self.host}: {count_text(self.findings) if self.findings else 'no findings'}"


def host_report(host: str, results: Mapping[str, Mapping[str, Any]]) -> HostReport:
    """results: task results by the task's name (seat_plan, seat_ready, published_ports)."""
    return HostReport(host, rows_of(results), joined_findings(results))


def written_reports(report: HostReport, targets: Mapping[str, str]) -> list[str]:
    """Writes the files that `targets` names by format (json, prometheus; empty: not written); those that changed.

    One file a host: ``{host}`` in a name is replaced by the host's name.
    """
    texts = {"json": lambda: json_text(_document(report)), "prometheus": lambda: _prometheus(report)}
    changed = []
    for form, name in targets.items():
        path = name.replace("{host}", report.host)
        if path and write_file(file_change(WantedFile(str(Path(path).resolve()), texts[form]()))):
            changed.append(path)
    return changed


def _document(report: HostReport) -> dict[str, Any]:
    return {"host": report.host, "seats": [row.as_dict() for row in report.rows], **findings_document(report.findings)}


def _prometheus(report: HostReport) -> str:
    return prometheus_text(report.host, report.rows, report.findings, time.time())
