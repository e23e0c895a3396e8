"""Findings about Docker Engine and Compose."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {}
