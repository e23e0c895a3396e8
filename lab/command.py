"""External commands with a time limit, and the one error that the lab's verbs end with."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO


class LabError(Exception):
    """Something the lab needs is not to be had; the text names it and says what to do."""


def run(
    argv: Sequence[str],
    *,
    timeout_s: float = 60,
    check: bool = True,
    stdin: bytes | IO[bytes] | None = None,
    env: dict[str, str] | None = None,
    log: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command and return its output as text.

    `stdin` is bytes or an open file; without it the command reads nothing. With `log`, output goes to that file instead
    of to memory. Raises LabError when the program is missing, takes longer than `timeout_s`, or (with `check`) fails.
    """
    shown = shlex.join(argv)
    full_env = {**os.environ, **env} if env else None
    source: dict[str, object] = {"stdin": subprocess.DEVNULL}
    if isinstance(stdin, bytes):
        source = {"input": stdin}
    elif stdin is not None:
        source = {"stdin": stdin}
    try:
        if log is None:
            done = subprocess.run(argv, capture_output=True, timeout=timeout_s, env=full_env, check=False, **source)  # type: ignore[call-overload]
            out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        else:
            with log.open("wb") as sink:
                done = subprocess.run(  # type: ignore[call-overload]
                    argv, stdout=sink, stderr=subprocess.STDOUT, timeout=timeout_s, env=full_env, check=False, **source
                )
            out, err = "", log.read_text(errors="replace")
    except FileNotFoundError as error:
        raise LabError(f"program '{argv[0]}' is not installed (needed for: {shown})") from error
    except subprocess.TimeoutExpired as error:
        raise LabError(f"no answer within {timeout_s:.0f} s: {shown}") from error
    if check and done.returncode != 0:
        where = f" (whole output: {log})" if log else ""
        raise LabError(f"failed with rc {done.returncode}: {shown}{where}\n{last_lines(err or out)}")
    return subprocess.CompletedProcess(list(argv), done.returncode, out, err)


def last_lines(text: str, count: int = 15) -> str:
    """The last lines of a command's output, indented for a message."""
    return "\n".join(f"    {line}" for line in text.strip().splitlines()[-count:])


def as_root(argv: Sequence[str]) -> list[str]:
    """The command as root runs it: unchanged for root, through sudo for everybody else."""
    return list(argv) if os.geteuid() == 0 else ["sudo", *argv]
