"""A small project on disk, and the command run inside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from small_project import HOST, SITE, STACK, Outcome, write

from gpu_seats.cli.main import main


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that lints clean; the current directory is inside it."""
    production = tmp_path / "inventories" / "production"
    write(production / "host_vars" / "box1.yml", {"gpu_seats_host": HOST})
    write(production / "group_vars" / "site_lab.yml", {"gpu_seats_site": SITE})
    write(tmp_path / "stacks" / "chat-seat" / "stack.yml", STACK)
    monkeypatch.chdir(tmp_path / "stacks" / "chat-seat")
    return tmp_path


@pytest.fixture
def gpu_seats(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Runs the command and gives exit code, stdout and stderr."""

    def command(*arguments: str) -> Outcome:
        try:
            code = main(list(arguments))
        except SystemExit as left:  # argparse ends the process by itself
            code = int(left.code or 0)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return command
