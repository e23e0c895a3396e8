"""The command as a process: quick to start, quiet when its reader leaves, the same on every Python."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from small_project import Outcome

VERBS = ["lint", "plan", "render", "parse", "schema", "explain"]
HEAVY = {"pydantic", "yaml", "rich", "ansible", "docker", "httpx"}


def test_help_names_every_verb_and_the_exit_codes(gpu_seats: Callable[..., Outcome]) -> None:
    outcome = gpu_seats("--help")
    assert outcome.code == 0
    assert all(f"    {verb} " in outcome.out for verb in VERBS)
    assert "exit codes:" in outcome.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_json(verb: str, gpu_seats: Callable[..., Outcome]) -> None:
    outcome = gpu_seats(verb, "--help")
    assert outcome.code == 0
    assert "--json" in outcome.out


def test_a_wrong_verb_is_a_usage_error(gpu_seats: Callable[..., Outcome]) -> None:
    outcome = gpu_seats("deploy")
    assert outcome.code == 2
    assert "lint" in outcome.err


def test_help_loads_nothing_heavy() -> None:
    """Starting must cost less than a tenth of a second; what costs more is imported by the verb that needs it."""
    code = (
        "import sys\nfrom gpu_seats.cli.main import command_parser\ncommand_parser().format_help()\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert HEAVY.isdisjoint(ran.stdout.split())


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    # The script ends before it reads: writing meets a closed pipe, and with `pipefail` its code is seen.
    script = f"set -o pipefail; {sys.executable} -m gpu_seats.cli.main explain --markdown | true; echo $?"
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, timeout=30)
    assert ran.stderr == ""
    assert ran.stdout.strip() in ("0", "141")
