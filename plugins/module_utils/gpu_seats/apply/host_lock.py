"""One run at a time on a host.

The lock is an flock on a file, so a killed run frees it by dying. Children that were started with `pass_fds` hold it
too: a Compose call that outlives its killed run keeps the next run out until it is done.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Any

LOCK_PATH = "/run/lock/gpu-seats.lock"
_POLL_S = 0.2


class LockHeldError(Exception):
    """Another run holds the lock. holder: what it wrote about itself (pid, since, doing); empty if unreadable."""

    def __init__(self, path: str, holder: dict[str, Any], waited_s: float) -> None:
        self.path = path
        self.holder = holder
        who = (
            "process {} since {} ({})".format(holder["pid"], holder["since"], holder["doing"])
            if holder
            else "a process"
        )
        super().__init__(f"{who} holds {path}; waited {waited_s:.0f} s")


class HostLock:
    """Context manager. Raises LockHeldError if it is not free within `wait_s`, OSError if there can be no such file."""

    def __init__(self, doing: str, path: str = LOCK_PATH, wait_s: float = 60.0) -> None:
        self.path = path
        self.doing = doing
        self.wait_s = wait_s
        self._descriptor = -1

    @property
    def descriptor(self) -> int:
        """For `pass_fds` of a child that must not outlive the lock."""
        return self._descriptor

    def __enter__(self) -> HostLock:
        Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        # who can only read a file can lock it too, and what follows a link here could be sent to any file
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self.path, flags, 0o600)
        began = time.monotonic()
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                waited = time.monotonic() - began
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES) or waited >= self.wait_s:
                    holder = _holder(descriptor)
                    os.close(descriptor)
                    if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                        raise
                    raise LockHeldError(self.path, holder, waited) from error
                time.sleep(_POLL_S)
        self._descriptor = descriptor
        about = {
            "pid": os.getpid(),
            "since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "doing": self.doing,
        }
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(about).encode("utf-8"), 0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
        # closing frees it only once no child has the descriptor any more: that is wanted
        os.close(self._descriptor)
        self._descriptor = -1


def _holder(descriptor: int) -> dict[str, Any]:
    try:
        about = json.loads(os.pread(descriptor, 4096, 0))
    except (OSError, ValueError):
        return {}
    if isinstance(about, dict) and {"pid", "since", "doing"} <= set(about):
        return about
    return {}


__all__ = ["LOCK_PATH", "HostLock", "LockHeldError"]
