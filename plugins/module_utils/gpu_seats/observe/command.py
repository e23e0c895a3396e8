"""Runs a tool with a time limit; how it ended is data, never an exception.

Tools run in the C locale, without a terminal, in a process group of their own that is ended as a whole: a tool that
hangs in the driver must not take the run with it (a wedged one is left to the kernel, never waited for).
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..findings import Finding, finding
from .command_pipes import CommandPipes

_KILL_GRACE_S = 2.0


@dataclass(frozen=True)
class CommandResult:
    """How a command ended. rc: None if it did not end in time (`timed_out`) or could not be started (`missing`)."""

    argv: tuple[str, ...]
    rc: int | None
    stdout: str
    stderr: str
    elapsed_s: float = 0.0
    timed_out: bool = False
    missing: bool = False

    @property
    def ok(self) -> bool:
        return self.rc == 0

    @property
    def text(self) -> str:
        """stdout, and below it stderr: some tools print their errors on either."""
        return "\n".join(part for part in (self.stdout.rstrip("\n"), self.stderr.rstrip("\n")) if part)


Run = Callable[[Sequence[str], float], CommandResult]
"""What code that asks tools is given: `run` on a host. Arguments of the command, and its limit in seconds."""


def run(
    argv: Sequence[str],
    limit_s: float,
    environment: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
    given: bytes | None = None,
) -> CommandResult:
    """Run `argv`. environment: added to the caller's. pass_fds: descriptors the child keeps open (a lock).

    given: what the child reads on its standard input; without it there is nothing to read.
    """
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C", **(environment or {})},
            pass_fds=tuple(pass_fds),
            start_new_session=True,
        )
    except OSError as error:
        return CommandResult(tuple(argv), None, "", f"{argv[0]}: {error.strerror or error}", missing=True)
    pipes = CommandPipes(process, given)
    timed_out = True
    try:
        timed_out = not pipes.followed(limit_s)
    finally:
        if timed_out:
            _end(process, pipes)
        pipes.close()
    out, err = pipes.printed
    return CommandResult(
        tuple(argv),
        None if timed_out else process.returncode,
        out.decode("utf-8", "replace"),
        err.decode("utf-8", "replace"),
        time.monotonic() - began,
        timed_out,
    )


def _end(process: subprocess.Popen[bytes], pipes: CommandPipes) -> None:
    """End the whole group; what it prints until then is read. A process that the kernel does not let go of is left."""
    for what in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, what)
        if pipes.followed(_KILL_GRACE_S):
            return


def command_findings(result: CommandResult, subject: str) -> list[Finding]:
    """A tool that hung or is not installed; nothing for one that ended, whatever its exit code."""
    tool = Path(result.argv[0]).name
    said = {"command": " ".join(result.argv), "text": result.stderr.strip()[-400:]}
    if result.timed_out:
        return [finding("command.hung", subject, f"{tool} gave no answer within {result.elapsed_s:.0f} s", said)]
    if result.missing:
        why = result.stderr.strip().rpartition(": ")[2]
        absent = why in ("", os.strerror(errno.ENOENT))
        text = f"{tool} is not installed here" if absent else f"{tool} can't be started: {why}"
        return [finding("command.missing", subject, text, said)]
    return []
