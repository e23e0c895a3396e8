"""Steps of a long command: announced, streamed, timed, and counted where a test runner says how much it ran."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
BIN = PROJECT / ".venv" / "bin"

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_CLOSING = re.compile(r"^=*\s*(?P<counts>\d+ (?:passed|failed|error|skipped|xfailed|deselected).*) in [\d.]+s\b")
_AROUND = " \t\r\n│"  # blanks, and the border that molecule may draw before a command's lines


@dataclass(frozen=True)
class Counts:
    """What test runners reported."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def closing_line(self) -> str:
        """`12 passed, 0 failed`, and the skipped where there are some."""
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def counts_in(line: str) -> Counts:
    """Counts of pytest's closing line, also in molecule's border; nothing for any other line."""
    match = _CLOSING.match(_ANSI.sub("", line).strip(_AROUND))
    if not match:
        return Counts()
    found = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", match["counts"])}
    failed = found.get("failed", 0) + found.get("error", 0) + found.get("errors", 0)
    return Counts(found.get("passed", 0) + found.get("xfailed", 0), failed, found.get("skipped", 0))


def banner(text: str) -> None:
    """A line that separates steps."""
    print(f"\n--- {text}", flush=True)


def tool_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The caller's environment with `.venv/bin` first on PATH for tools that start tools; colour only on a terminal."""
    colour = {} if sys.stdout.isatty() else {"NO_COLOR": "1", "ANSIBLE_NOCOLOR": "1"}
    return {**os.environ, **colour, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}", **(extra or {})}


class TimeLimit:
    """Ends a process that runs past its limit; `fired` says that it did."""

    def __init__(self, process: subprocess.Popen[str], limit_s: float) -> None:
        self.fired = False
        self._process = process
        self._timer = threading.Timer(limit_s, self._end)

    def _end(self) -> None:
        self.fired = True
        self._process.kill()

    def __enter__(self) -> TimeLimit:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def run_step(
    name: str, argv: Sequence[str], *, limit_s: float, extra_env: Mapping[str, str] | None = None
) -> tuple[int, Counts]:
    """Run a command with its output shown as it comes.

    Returns its rc (124 past `limit_s`) and what its test runner counted.
    """
    banner(f"{name}: {shlex.join(str(a) for a in argv)}")
    begun = time.monotonic()
    total = Counts()
    process = subprocess.Popen(
        argv, cwd=PROJECT, env=tool_environment(extra_env), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    assert process.stdout is not None
    late = TimeLimit(process, limit_s)
    with process, late:
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            total += counts_in(line)
    elapsed = time.monotonic() - begun
    rc = 124 if late.fired else process.returncode
    verdict = "ok" if rc == 0 else f"FAILED (no end within {limit_s:.0f} s)" if rc == 124 else f"FAILED (rc {rc})"
    print(f"--- {name}: {verdict}, {elapsed:.1f} s", flush=True)
    return rc, total
