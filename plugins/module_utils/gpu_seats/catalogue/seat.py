"""Findings about seats, from container to completion."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {}
