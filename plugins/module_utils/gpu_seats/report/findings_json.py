"""Findings as JSON, for other programs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ..findings import SEVERITIES, Finding
from .finding_list import distinct


def findings_document(findings: Iterable[Finding]) -> dict[str, Any]:
    """``{"ok": bool, "counts": {severity: n}, "findings": [...]}``; ok is false with any critical or error."""
    found = distinct(findings)
    return {
        "ok": not any(f.fails for f in found),
        "counts": {severity: sum(f.severity == severity for f in found) for severity in SEVERITIES},
        "findings": [f.as_dict() for f in found],
    }


def json_text(document: Any) -> str:
    """Indented JSON with a final newline. Values that JSON has no form for (dates, paths) become text."""
    return json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n"
