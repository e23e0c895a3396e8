"""A file that only grows, whose every line is on the disk before the next one is made."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...observe.power_log import log_line
from ..atomic_files import make_directory, sync_directory

WRITE_LIMIT_S = 10.0
"""A suspended pool takes writes and never ends them; the watcher must not wait with it."""


class LogFileError(Exception):
    """The file takes no line: which file and why. What was written before stands."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} takes no line: {why}")
        self.path = path
        self.why = why


class LogFile:
    """Open for appending; `append` returns once the line is on the disk. Not for two threads at once."""

    def __init__(self, path: Path, limit_s: float = WRITE_LIMIT_S, mode: int = 0o644) -> None:
        self.path = path
        self.limit_s = limit_s
        self._descriptor = -1
        self._is_torn = False
        self._within_limit(lambda: self._open(mode))

    def append(self, record: Mapping[str, Any]) -> None:
        """Raises LogFileError if the line is not on the disk within the limit, ValueError for what is no record."""
        line = log_line(record)
        self._within_limit(lambda: self._write(line))

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _open(self, mode: int) -> None:
        make_directory(self.path.parent, 0o755)
        is_new = not self.path.exists()
        self._descriptor = os.open(str(self.path), os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, mode)
        size = os.fstat(self._descriptor).st_size
        # a run that was cut off may have left part of a line
        self._is_torn = bool(size) and os.pread(self._descriptor, 1, size - 1) != b"\n"
        if is_new:
            sync_directory(self.path.parent)

    def _write(self, line: bytes) -> None:
        # a newline first keeps what was torn from swallowing this line
        whole = b"\n" + line if self._is_torn else line
        written = os.write(self._descriptor, whole)
        self._is_torn = written != len(whole)
        if self._is_torn:
            raise OSError(errno.ENOSPC, f"only {written} of {len(whole)} bytes were taken")
        os.fsync(self._descriptor)

    def _within_limit(self, work: Callable[[], None]) -> None:
        """Run `work` in a thread of its own: a write that hangs in the kernel cannot be ended, only left."""
        failed: list[OSError] = []

        def attempt() -> None:
            try:
                work()
            except OSError as error:
                failed.append(error)

        thread = threading.Thread(target=attempt, daemon=True, name="power-log")
        thread.start()
        thread.join(self.limit_s)
        if thread.is_alive():
            raise LogFileError(self.path, f"the disk did not take it within {self.limit_s:.0f} s")
        if failed:
            raise LogFileError(self.path, failed[0].strerror or str(failed[0]))


__all__ = ["WRITE_LIMIT_S", "LogFile", "LogFileError"]
