"""Load that never outlives its watcher.

The watcher forks a keeper before it has any thread; the keeper starts the loads and holds one end of a socket. When
the watcher is gone, however it went, the socket ends and the keeper kills every load. A load whose keeper is killed is
killed by the kernel (PR_SET_PDEATHSIG), and what a load started itself comes back to the keeper as its subreaper.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_TERM_S = 1.5
"""What a load has to end by itself (a container's client hands the signal on); then it is killed."""
_STOP_LIMIT_S = 10.0
_POLL_S = 0.2
_KEPT_BYTES = 2000
_MOST_READS = 64
_MESSAGE_BYTES = 65536
_NOT_OURS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class LoadEnd:
    """A load that ended by itself. text: the last of what it printed."""

    name: str
    rc: int
    text: str


class KeeperGoneError(Exception):
    """The keeper does not answer; its loads die with it."""


class LoadKeeper:
    """The watcher's side. Make it before the process has threads; nothing is loaded until `start`."""

    def __init__(self, tasks: Mapping[str, Callable[[Any], int]] | None = None) -> None:
        """tasks: Python functions that a load may run instead of a command, by name."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        libc = ctypes.CDLL(None, use_errno=True)
        watcher = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                ours.close()
                _Keeper(theirs, libc, dict(tasks or {}), watcher).run()
                code = 0
            finally:
                os._exit(code)
        theirs.close()
        self._socket = ours
        self._ended: list[LoadEnd] = []

    def start(self, name: str, argv: Sequence[str], limit_s: float) -> None:
        """Run a command as a load. Raises KeeperGoneError, OSError if it cannot be started."""
        self._start({"name": name, "argv": list(argv), "limit_s": limit_s})

    def start_task(self, name: str, task: str, argument: Any, limit_s: float) -> None:
        """Run one of the Python functions as a load."""
        self._start({"name": name, "task": task, "argument": argument, "limit_s": limit_s})

    def ended(self) -> list[LoadEnd]:
        """Loads that have ended by themselves since the last call. Raises KeeperGoneError."""
        while True:
            message = self._receive(0.0)
            if message is None:
                break
            self._note(message)
        ended, self._ended = self._ended, []
        return ended

    def stop_all(self) -> bool:
        """End every load and wait for it; False if that could not be confirmed (the keeper is then killed too)."""
        try:
            self._send({"do": "stop"})
            until = time.monotonic() + _STOP_LIMIT_S
            while time.monotonic() < until:
                message = self._receive(until - time.monotonic())
                if message is not None and message["is"] == "stopped":
                    return bool(message["gone"])
                if message is not None:
                    self._note(message)
        except KeeperGoneError:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        return False

    def close(self) -> None:
        """End every load and the keeper."""
        self._socket.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)

    def _start(self, order: Mapping[str, Any]) -> None:
        self._send({"do": "start", **order})
        until = time.monotonic() + _STOP_LIMIT_S
        while time.monotonic() < until:
            message = self._receive(until - time.monotonic())
            if message is None:
                continue
            if message["is"] == "started":
                return
            if message["is"] == "refused":
                raise OSError(int(message["errno"]), str(message["why"]))
            self._note(message)
        raise KeeperGoneError(f"the load {order['name']} was not started within {_STOP_LIMIT_S:.0f} s")

    def _note(self, message: Mapping[str, Any]) -> None:
        if message["is"] == "ended":
            self._ended.append(LoadEnd(str(message["name"]), int(message["rc"]), str(message["text"])))

    def _send(self, order: Mapping[str, Any]) -> None:
        try:
            self._socket.send(json.dumps(order).encode("utf-8"))
        except OSError as error:
            raise KeeperGoneError("the process that keeps the loads is gone") from error

    def _receive(self, limit_s: float) -> dict[str, Any] | None:
        self._socket.settimeout(max(limit_s, 0.001))
        try:
            packet = self._socket.recv(_MESSAGE_BYTES)
        except socket.timeout:
            return None
        except OSError as error:
            raise KeeperGoneError(str(error)) from error
        if not packet:
            raise KeeperGoneError("the process that keeps the loads is gone")
        message = json.loads(packet)
        return message if isinstance(message, dict) else None


@dataclass
class _Kept:
    name: str
    pid: int
    output: int
    until: float
    text: bytes = b""
    is_talking: bool = True


class _Keeper:
    """The forked side: one thread, nothing but orders, children and their output."""

    def __init__(
        self, orders: socket.socket, libc: ctypes.CDLL, tasks: Mapping[str, Callable[[Any], int]], watcher: int
    ) -> None:
        self._orders = orders
        self._libc = libc
        self._tasks = tasks
        self._watcher = watcher
        self._kept: dict[int, _Kept] = {}

    def run(self) -> None:
        """Until the watcher is gone or closes; every load is then ended."""
        # whoever ends a whole group or unit means the watcher too, and that one ends the loads in order
        for number in _NOT_OURS:
            signal.signal(number, signal.SIG_IGN)
        self._libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        try:
            while self._is_watched():
                with selectors.DefaultSelector() as ready:
                    ready.register(self._orders, selectors.EVENT_READ)
                    for kept in self._kept.values():
                        if kept.is_talking:
                            ready.register(kept.output, selectors.EVENT_READ)
                    keys = [key.fileobj for key, _ in ready.select(_POLL_S)]
                for kept in self._kept.values():
                    if kept.output in keys:
                        _drain(kept)
                if self._orders in keys and not self._obey():
                    break
                self._reap()
        finally:
            self._end_all()

    def _is_watched(self) -> bool:
        return os.getppid() == self._watcher

    def _obey(self) -> bool:
        packet = self._orders.recv(_MESSAGE_BYTES)
        if not packet:
            return False
        order = json.loads(packet)
        if order["do"] == "stop":
            gone = self._end_all()
            self._tell({"is": "stopped", "gone": gone})
        else:
            self._start(order)
        return True

    def _start(self, order: Mapping[str, Any]) -> None:
        output, theirs = os.pipe()
        failure, failing = os.pipe()  # closed by a successful exec
        pid = os.fork()
        if pid == 0:
            self._become(order, theirs, failing)
        os.close(theirs)
        os.close(failing)
        with os.fdopen(failure, "rb") as told:
            refused = told.read()
        if refused:
            os.waitpid(pid, 0)
            os.close(output)
            number, _, why = refused.decode("utf-8", "replace").partition(" ")
            self._tell({"is": "refused", "errno": int(number), "why": why})
            return
        os.set_blocking(output, False)
        self._kept[pid] = _Kept(str(order["name"]), pid, output, time.monotonic() + float(order["limit_s"]))
        self._tell({"is": "started", "pid": pid})

    def _become(self, order: Mapping[str, Any], output: int, failing: int) -> None:
        """The child: bound to the keeper's life, in a group of its own, then the load itself. Does not return."""
        code = 127
        try:
            keeper = os.getppid()
            self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != keeper:
                os._exit(1)  # it died before the kernel knew
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
            self._orders.close()
            for number in _NOT_OURS:
                signal.signal(number, signal.SIG_DFL)
            if "task" in order:
                os.close(failing)
                code = self._tasks[order["task"]](order["argument"])
            else:
                os.execvp(order["argv"][0], order["argv"])
        except OSError as error:
            with contextlib.suppress(OSError):
                os.write(failing, f"{error.errno or 0} {error.strerror or error}".encode())
        finally:
            os._exit(code)

    def _reap(self) -> None:
        """Tell of loads that ended, end those that are over their time."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            kept = self._kept.pop(pid, None)
            if kept is not None:
                _drain(kept)
                os.close(kept.output)
                text = kept.text.decode("utf-8", "replace").strip()
                self._tell({"is": "ended", "name": kept.name, "rc": _code(status), "text": text})
        now = time.monotonic()
        for kept in self._kept.values():
            if now > kept.until:
                _signal_group(kept.pid, signal.SIGKILL)

    def _end_all(self) -> bool:
        """SIGTERM, a moment, SIGKILL, then whatever came back to us as orphans; True when nothing is left."""
        for kept in self._kept.values():
            _signal_group(kept.pid, signal.SIGTERM)
        until = time.monotonic() + _TERM_S
        while _children() and time.monotonic() < until:
            self._wait_any()
            time.sleep(0.02)
        until = time.monotonic() + _TERM_S
        while time.monotonic() < until:
            for kept in self._kept.values():
                _signal_group(kept.pid, signal.SIGKILL)
            for pid in _children():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            self._wait_any()
            if not _children():
                break
            time.sleep(0.02)
        for kept in self._kept.values():
            os.close(kept.output)
        self._kept.clear()
        return not _children()

    def _wait_any(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    def _tell(self, message: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self._orders.send(json.dumps(message).encode("utf-8"))


def _drain(kept: _Kept) -> None:
    """Take what the load printed, so that it never waits for a reader; only the last of it is kept."""
    with contextlib.suppress(BlockingIOError):
        for _ in range(_MOST_READS):
            part = os.read(kept.output, 65536)
            if not part:
                kept.is_talking = False
                break
            kept.text = (kept.text + part)[-_KEPT_BYTES:]


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _children() -> list[int]:
    """Processes whose parent we are: the loads, and what a load left behind when it ended."""
    mine, found = os.getpid(), []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == mine:
                found.append(int(entry.name))
    return found


def _code(status: int) -> int:
    """Exit code as a shell tells it: 128 + signal where a signal ended it."""
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


__all__ = ["KeeperGoneError", "LoadEnd", "LoadKeeper"]
