"""The host tool as the one file that a host gets.

Protects: it runs on a target's own Python with nothing but the standard library, holds what its verbs import and
nothing of the controller, and is the same file for the same sources.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from simulated_cards import Cards, cap_data

from gpu_seats.controller import host_tool_archive
from gpu_seats.controller.host_tool_archive import archive_bytes, needed_sources
from gpu_seats.host_tool.main import VERBS

CONTROLLER_ONLY = ("declare", "plan", "render", "report", "controller", "cli")


def said(*command: str) -> str:
    """The first word that a command prints; "" where it fails or is not there."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return ended.stdout.split()[0] if ended.returncode == 0 and ended.stdout.strip() else ""


def target_pythons() -> list[str]:
    """That of the tests, and the oldest that a target has, where there is one here (also one that only pyenv knows)."""
    version = said("pyenv", "whence", "python3.9")
    kept = f"{said('pyenv', 'prefix', version)}/bin/python3.9" if version else ""
    oldest = next((one for one in ("python3.9", kept) if one and said(one, "-c", "print(1)")), "")
    return [sys.executable, *([oldest] if oldest else [])]


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    path = tmp_path / "gpu-seats-host.pyz"
    path.write_bytes(archive_bytes())
    return path


def test_the_same_sources_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    first = archive_bytes()
    archive_bytes.cache_clear()
    monkeypatch.setattr(os, "umask", lambda mask: mask)
    assert archive_bytes() == first
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        entries = archive.infolist()
    assert [one.filename for one in entries] == sorted(one.filename for one in entries)
    assert {one.date_time for one in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {one.compress_type for one in entries} == {zipfile.ZIP_STORED}


def test_it_holds_no_module_of_the_controller_and_every_verb() -> None:
    parts = [path.relative_to(host_tool_archive.PACKAGE).parts for path in needed_sources()]
    assert not [part for part in parts if part[0] in CONTROLLER_ONLY]
    assert {f"{module}.py" for module in VERBS.values()} <= {part[-1] for part in parts if part[0] == "host_tool"}


def test_what_is_imported_within_a_function_is_packed_too() -> None:
    names = {path.relative_to(host_tool_archive.PACKAGE).as_posix() for path in needed_sources()}
    assert {"catalogue/__init__.py", "observe/nvidia/parse.py", "observe/compose/failures.py"} <= names


@pytest.mark.parametrize("python", target_pythons())
def test_every_verb_loads_on_a_target(tool: Path, python: str) -> None:
    """-I: no site packages, no environment; and a folder without the project."""
    for verb in VERBS:
        ended = subprocess.run(
            [python, "-I", str(tool), verb, "--help"], capture_output=True, text=True, cwd=tool.parent, check=False
        )
        assert ended.returncode == 0 and f"gpu-seats-host {verb}" in ended.stdout, ended.stderr


@pytest.mark.parametrize("python", target_pythons())
def test_every_packed_module_can_be_imported_on_a_target(tool: Path, python: str) -> None:
    names = [
        ".".join(path.relative_to(host_tool_archive.PACKAGE.parent).with_suffix("").parts)
        for path in needed_sources()
        if path.name not in ("__init__.py", "__main__.py")
    ]
    code = f"import sys, importlib\nsys.path.insert(0, {str(tool)!r})\nfor n in {names!r}: importlib.import_module(n)\n"
    ended = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, cwd=tool.parent, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("python", target_pythons())
def test_it_caps_the_cards_of_a_host(tool: Path, python: str, tmp_path: Path) -> None:
    cards = Cards(tmp_path / "cards")
    (tmp_path / "caps.json").write_text(json.dumps({"host": "ml1", "caps": [cap_data(n) for n in range(4)]}))
    named = ["--caps", "caps.json", "--state", "state/caps.json", "--textfile", "prom", "--lock", "lock"]
    environment = {**os.environ, **cards.environment}
    for line in ("set from 300 W to 275 W", "caps hold on 4 of 4 cards (275 W)"):
        ended = subprocess.run(
            [python, "-I", str(tool), "caps", "apply", *named],
            capture_output=True, text=True, cwd=tmp_path, env=environment, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert line in ended.stdout and ended.stderr == ""
    assert cards.limits == [275.0] * 4
    assert (tmp_path / "prom/gpu_seats_power.prom").exists()


def test_it_runs_by_its_own_first_line(tool: Path) -> None:
    assert tool.read_bytes().startswith(b"#!/usr/bin/python3 -I\n")


@pytest.mark.parametrize("python", target_pythons())
def test_a_host_without_docker_has_no_container_to_check(tool: Path, python: str, tmp_path: Path) -> None:
    arguments = ["containers", "check", "--docker-socket", str(tmp_path / "none.sock")]
    ended = subprocess.run([python, "-I", str(tool), *arguments], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "no running container has a GPU\n", "")
