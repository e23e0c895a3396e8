"""Findings about checkpoints on disk."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {}
