"""Plays against the lab host: how long each took, what it changed, how many modules it ran."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
BIN = PROJECT / ".venv" / "bin"
LIMIT_S = 900
_RECAP = re.compile(r"^fv-ml1\s+: .*\bchanged=(\d+)\b.*\bfailed=(\d+)", re.MULTILINE)
_MODULE_RUN = re.compile(r"^Using module file ", re.MULTILINE)


class PlayRun(NamedTuple):
    """One run: wall time in seconds, changed tasks, modules that ran on the host (counted in verbose runs only)."""

    seconds: float
    changed: int
    module_runs: int


class PlayFailedError(Exception):
    """The play did not end well; the message carries the end of its output."""


def run_play(play: Path, variables: Mapping[str, Any], verbose: bool = False) -> PlayRun:
    """Runs a playbook against the lab inventory with the project's own settings. Raises PlayFailedError."""
    command = [str(BIN / "ansible-playbook"), str(play), "-e", json.dumps(variables)]
    environment = {**os.environ, "ANSIBLE_NOCOLOR": "1", "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    begun = time.monotonic()
    ran = subprocess.run(
        [*command, *(["-vvv"] if verbose else [])],
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LIMIT_S,
        check=False,
    )
    seconds = time.monotonic() - begun
    recap = _RECAP.search(ran.stdout)
    if ran.returncode != 0 or recap is None:
        raise PlayFailedError(f"{play.name}: rc {ran.returncode}\n{(ran.stdout + ran.stderr)[-3000:]}")
    return PlayRun(seconds, int(recap.group(1)), len(_MODULE_RUN.findall(ran.stdout)))


def on_lab_host(script: str) -> str:
    """Runs a shell script on the lab host over its own ssh configuration; returns what it printed."""
    command = ["ssh", "-F", str(PROJECT / ".lab" / "ssh_config"), "fv-ml1", "bash -euo pipefail -s"]
    ran = subprocess.run(command, input=script, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    return ran.stdout
