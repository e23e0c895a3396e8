"""Findings about published ports and listeners."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {}
