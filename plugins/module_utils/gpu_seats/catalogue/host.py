"""Findings about the host under the seats."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {}
