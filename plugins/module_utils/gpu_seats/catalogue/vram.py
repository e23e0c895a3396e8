"""Findings about what seats claim: VRAM, host RAM."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {}
