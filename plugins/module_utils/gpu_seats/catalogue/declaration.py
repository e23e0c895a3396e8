"""Findings about what the operator wrote."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {}
