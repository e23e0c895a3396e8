"""What the catalogue says of one finding code."""

from __future__ import annotations

from typing import NamedTuple


class FindingKind(NamedTuple):
    """severity: default severity. meaning: why it matters, one or two sentences. remedy: what to do next."""

    severity: str
    meaning: str
    remedy: str
