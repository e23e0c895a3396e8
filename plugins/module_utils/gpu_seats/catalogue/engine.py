"""Findings about what engines print: vLLM and llama.cpp."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {}
