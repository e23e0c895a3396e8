"""The pipes of a running command, read without an end to memory."""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import subprocess
import time
from functools import partial
from typing import IO

MOST_BYTES = 16 * 2**20
"""Of either stream. No tool that is read prints as much; one that prints without an end must not fill the memory."""
_CHUNK_BYTES = 65536


class CommandPipes:
    """Feeds a command its input and keeps the first `MOST_BYTES` of what it prints; the rest is read and dropped."""

    def __init__(self, process: subprocess.Popen[bytes], given: bytes | None) -> None:
        self._process = process
        self._given = memoryview(given or b"")
        self._out, self._err = bytearray(), bytearray()
        self._selector = selectors.DefaultSelector()
        for stream, kept in ((process.stdout, self._out), (process.stderr, self._err)):
            if stream is not None:
                self._selector.register(stream, selectors.EVENT_READ, partial(self._take, stream, kept))
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            self._selector.register(process.stdin, selectors.EVENT_WRITE, partial(self._feed, process.stdin))

    @property
    def printed(self) -> tuple[bytes, bytes]:
        return bytes(self._out), bytes(self._err)

    def followed(self, limit_s: float) -> bool:
        """Serve the pipes until the command has ended and closed them; False when it has not within `limit_s`."""
        deadline = time.monotonic() + limit_s
        while self._selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _events in self._selector.select(left):
                key.data()
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return False
        return True

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._selector.close()

    def _feed(self, stream: IO[bytes]) -> None:
        try:
            self._given = self._given[os.write(stream.fileno(), self._given[: select.PIPE_BUF]) :]
        except BlockingIOError:
            return
        except OSError:  # it does not read its input, which is its own affair
            self._given = self._given[:0]
        if not self._given:
            self._done_with(stream)

    def _take(self, stream: IO[bytes], kept: bytearray) -> None:
        data = os.read(stream.fileno(), _CHUNK_BYTES)
        if not data:
            self._done_with(stream)
        kept += data[: max(0, MOST_BYTES - len(kept))]

    def _done_with(self, stream: IO[bytes]) -> None:
        self._selector.unregister(stream)
        with contextlib.suppress(OSError):
            stream.close()


__all__ = ["MOST_BYTES", "CommandPipes"]
