"""The command as a process: quick to start, quiet when its reader leaves, the same on every Python."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from small_project import Outcome

VERBS = ["lint", "plan", "power", "power-plot", "render", "parse", "schema", "explain"]
HEAVY = {"pydantic", "yaml", "rich", "ansible", "docker", "httpx"}


def test_help_names_every_verb_and_the_exit_codes(gpu_seats: Callable[..., Outcome]) -> None:
    outcome = gpu_seats("--help")
    assert outcome.code == 0
    assert all(f"    {verb}\n" in outcome.out or f"    {verb} " in outcome.out for verb in VERBS)
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


@pytest.mark.parametrize(
    ("redirect", "told"),
    [("> /dev/full", "No space left on device"), (">&-", "standard output is closed")],
)
@pytest.mark.parametrize("form", ["", "--json"])
def test_an_answer_that_cannot_be_written_is_told_in_one_line(redirect: str, told: str, form: str) -> None:
    script = f"{sys.executable} -m gpu_seats.cli.main explain {form} {redirect}; echo $? >&2"
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, timeout=30)
    assert ran.stderr == f"gpu-seats: the answer cannot be written: {told}\n2\n"


def test_a_terminal_without_the_letters_still_gets_the_text(tmp_path: Path) -> None:
    (tmp_path / "sensors.txt").write_text("Lüfter Power | 275 Watts | ok\n", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "gpu_seats.cli.main", "parse", "ipmitool-sensor", str(tmp_path / "sensors.txt")],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert "name: L?fter Power" in ran.stdout and ran.stderr == ""
