"""Findings about cards and their driver."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {}
