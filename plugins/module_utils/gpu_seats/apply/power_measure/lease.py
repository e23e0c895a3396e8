"""Whether anybody still looks: a file that every look renews, and the word that it carries."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

HOLD = "hold"
ASKING = "asking"
GO_ON = "go on"


class Lease:
    """Read by the watcher, renewed by looks. Ages count by the clock that files are stamped with."""

    def __init__(self, path: Path, wall: Callable[[], float] = time.time) -> None:
        self.path = path
        self._wall = wall

    def renew(self, word: str = "") -> None:
        """Say that somebody looks; an empty word keeps the one that stands there."""
        text = word or self.word()
        self.path.write_text(text, encoding="utf-8")

    def word(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8").strip()
        except OSError:
            return ""

    def age_s(self) -> float | None:
        """Seconds since the last look; None without a lease."""
        try:
            return max(0.0, self._wall() - self.path.stat().st_mtime)
        except OSError:
            return None


__all__ = ["ASKING", "GO_ON", "HOLD", "Lease"]
