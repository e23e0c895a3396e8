"""Samples that go on for days: one file a day, old ones removed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...observe.power_log import time_text
from .log_file import LogFile

PREFIX = "samples-"


class DayFiles:
    """One open file: `out`, or today's in `folder`. head: what the first line of every run says of its source."""

    def __init__(
        self,
        out: Path | None,
        folder: Path | None,
        keep_days: int,
        head: Mapping[str, Any],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._out = out
        self._folder = folder
        self._keep_days = keep_days
        self._head = dict(head)
        self._now = now
        self._file: LogFile | None = None

    def append(self, record: Mapping[str, Any]) -> None:
        """Raises LogFileError."""
        self._current().append(record)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _current(self) -> LogFile:
        path = self._out or self._day_path(self._now())
        if self._file is None or self._file.path != path:
            self.close()
            self._file = LogFile(path)
            self._file.append({"kind": "sampler", "t": time_text(self._now()), **self._head})
            self._remove_old()
        return self._file

    def _day_path(self, at: float) -> Path:
        assert self._folder is not None
        return self._folder / f"{PREFIX}{time_text(at)[:10]}.jsonl"

    def _remove_old(self) -> None:
        """Days that are over by more than `keep_days`; a file that cannot be removed stays."""
        if self._folder is None:
            return
        oldest = self._day_path(self._now() - self._keep_days * 86400).name
        for path in self._folder.glob(f"{PREFIX}*.jsonl"):
            if path.name < oldest:
                with contextlib.suppress(OSError):
                    path.unlink()


__all__ = ["PREFIX", "DayFiles"]
