"""Findings for other programs: complete, and with a verdict of their own."""

import datetime
import json
from pathlib import Path

from gpu_seats.findings import Finding, finding_from_dict
from gpu_seats.report.findings_json import findings_document, json_text

FOUND = Finding("seat.refused", "critical", "seat:a", "müde", {"rc": 3}, "do this")


def test_a_finding_survives_the_way_through_json() -> None:
    back = json.loads(json_text(findings_document([FOUND])))
    assert [finding_from_dict(data) for data in back["findings"]] == [FOUND]


def test_only_critical_and_error_make_it_not_ok() -> None:
    soft = [Finding("a.b", severity, "x:y", severity) for severity in ("warning", "info")]
    assert findings_document(soft)["ok"] is True
    assert findings_document([*soft, FOUND])["ok"] is False
    assert findings_document([*soft, FOUND])["counts"] == {"critical": 1, "error": 0, "warning": 1, "info": 1}


def test_values_without_a_json_form_become_text() -> None:
    assert json.loads(json_text({"on": datetime.date(2026, 9, 13), "at": Path("/x")})) == {
        "on": "2026-09-13",
        "at": "/x",
    }
