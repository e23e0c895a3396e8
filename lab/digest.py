"""Content keys: what a cached thing was made from, as a short text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

_IGNORED = {"__pycache__", ".mypy_cache", ".ruff_cache"}


def text_key(*parts: str) -> str:
    """Twelve hex digits over texts, in order."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def tree_key(roots: Iterable[Path]) -> str:
    """Twelve hex digits over files and folders: relative names, executable bits and bytes."""
    seen = hashlib.sha256()
    for root in roots:
        for path in files_below(root):
            seen.update(f"{path.relative_to(root.parent)}\0{path.stat().st_mode & 0o111:o}\0".encode())
            seen.update(path.read_bytes())
    return seen.hexdigest()[:12]


def files_below(root: Path) -> list[Path]:
    """A file itself, or every file below a folder, sorted, without caches of Python tools."""
    if root.is_file():
        return [root]
    return sorted(p for p in root.rglob("*") if p.is_file() and not _IGNORED.intersection(p.parts))
