"""Commands with a time limit whose children keep the host's lock.

A run that is killed leaves its `docker compose` child behind; the child inherits the lock, so the next run waits for
it instead of working against it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

_KILL_GRACE_S = 5.0


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


def run_held(argv: Sequence[str], limit_s: float, lock_descriptor: int = -1) -> CommandResult:
    """Run `argv` in its own process group, without a terminal and in the C locale; it is killed after `limit_s`."""
    began = time.monotonic()
    held = (lock_descriptor,) if lock_descriptor >= 0 else ()
    environment = {**os.environ, "LC_ALL": "C", "COMPOSE_ANSI": "never", "DOCKER_CLI_HINTS": "false"}
    for name in ("COMPOSE_FILE", "COMPOSE_PROFILES", "COMPOSE_PROJECT_NAME", "COMPOSE_ENV_FILES"):
        environment.pop(name, None)
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            pass_fds=held,
            start_new_session=True,
        )
    except OSError as error:
        return CommandResult(tuple(argv), None, "", f"{argv[0]}: {error.strerror or error}", missing=True)
    timed_out = False
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        timed_out = True
        out, err = _killed(process)
    except BaseException:
        _killed(process)
        raise
    return CommandResult(
        tuple(argv),
        None if timed_out else process.returncode,
        out.decode("utf-8", "replace"),
        err.decode("utf-8", "replace"),
        time.monotonic() - began,
        timed_out,
    )


def _killed(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """End the whole group; what it had printed. A process the kernel does not let go of is left, never waited for."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        return process.communicate(timeout=_KILL_GRACE_S)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        try:
            return process.communicate(timeout=_KILL_GRACE_S)
        except subprocess.TimeoutExpired as wedged:
            return wedged.stdout or b"", wedged.stderr or b""


__all__ = ["CommandResult", "run_held"]
