"""Lines that are shown while seats load: who, for how long, what is awaited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .terminal import PLAIN, Terminal, printable

EVERY_S = 5.0
"""A line at least this often, so that a long load never looks like a hang."""
AT_MOST_EVERY_S = 1.0


class Waiting(NamedTuple):
    """A seat that is not ready: what is awaited (``loading weights 5/9``) and where that was read."""

    seat: str
    awaited: str
    source: str = ""


def progress_line(waiting: Waiting, elapsed_s: float, seat_width: int = 0, terminal: Terminal = PLAIN) -> str:
    """``flash-next   12 s  loading weights 5/9 (engine log)``, cut to one terminal line."""
    source = f" ({waiting.source})" if waiting.source else ""
    awaited = " ".join(printable(waiting.awaited).split())
    line = f"{waiting.seat:<{seat_width}}  {int(elapsed_s):>3} s  {awaited}{source}"
    return line if len(line) <= terminal.width else line[: terminal.width - 3].rstrip() + "..."


class Pace:
    """Which of the waiting seats get a line now: those whose step changed, and all of them every few seconds."""

    def __init__(self, every_s: float = EVERY_S, at_most_every_s: float = AT_MOST_EVERY_S) -> None:
        self._every_s = every_s
        self._at_most_every_s = at_most_every_s
        self._shown: dict[str, tuple[float, str]] = {}

    def due(self, waiting: Sequence[Waiting], elapsed_s: Mapping[str, float]) -> list[str]:
        """Lines to print now, for seats that `elapsed_s` (seconds by seat) has a time for."""
        width = max((len(one.seat) for one in waiting), default=0)
        lines = []
        for one in waiting:
            now_s = elapsed_s.get(one.seat, 0.0)
            if self._is_due(one, now_s):
                self._shown[one.seat] = (now_s, one.awaited)
                lines.append(progress_line(one, now_s, width))
        return lines

    def _is_due(self, waiting: Waiting, now_s: float) -> bool:
        if waiting.seat not in self._shown:
            return True
        shown_s, awaited = self._shown[waiting.seat]
        since_s = now_s - shown_s
        return since_s >= self._every_s or (awaited != waiting.awaited and since_s >= self._at_most_every_s)
