"""Runs a playbook as an operator does and reads what it printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
LIMIT_S = 150

_HEAD = re.compile(r"^(critical|error|warning|info) +(\S+)  (\S+)$")
_RECAP = re.compile(r"^(\S+) +: ok=(\d+) +changed=(\d+) +unreachable=(\d+) +failed=(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Shown:
    """A finding as the closing table shows it."""

    severity: str
    subject: str
    code: str
    message: str
    remedy: str


@dataclass(frozen=True)
class Run:
    """One ended run of ansible-playbook. out: stdout and stderr in the order they came."""

    rc: int
    out: str
    elapsed_s: float

    @property
    def words(self) -> str:
        """The output with every run of blanks as one: how lines are broken doesn't matter."""
        return " ".join(self.out.split())

    @property
    def changed(self) -> int:
        """Changed tasks of all hosts, by Ansible's own recap."""
        return sum(int(row[2]) for row in _RECAP.findall(self.out))

    @property
    def findings(self) -> list[Shown]:
        """Findings below the table."""
        found: list[Shown] = []
        lines = self.out.splitlines()
        for number, line in enumerate(lines):
            head = _HEAD.match(line)
            if head:
                body = []
                for more in lines[number + 1 :]:
                    if not more.startswith("          "):
                        break
                    body.append(more.strip())
                message, _, remedy = " ".join(body).partition(" do: ")
                found.append(Shown(head[1], head[2], head[3], message, remedy))
        return found

    def finding(self, code: str, subject: str | None = None) -> Shown:
        """The finding of that code (and subject); fails the test with the whole output where there is none."""
        for one in self.findings:
            if one.code == code and subject in (None, one.subject):
                return one
        raise AssertionError(f"no finding {code} {subject or ''} in:\n{self.out}")

    def verdict(self, seat: str) -> str:
        """The last column of the seat's row; fails the test with the whole output where there is no row."""
        row = rf"^{re.escape(seat)} +(?:serving|dormant|on_demand|retired) +\S+ +\S+ +(.*(?:\n {{20,}}\S.*)*)"
        rows = re.findall(row, self.out, re.MULTILINE)
        assert rows, f"no row of {seat} in:\n{self.out}"
        return " ".join(rows[-1].split())

    def says(self, *texts: str) -> None:
        """Every text stands in the output, however its lines are broken."""
        for text in texts:
            assert " ".join(text.split()) in self.words, f"{text!r} is not in:\n{self.out}"


def plain_environment(project: Path) -> dict[str, str]:
    """A plain shell's environment: nothing that molecule or pytest put into it."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "MOLECULE_", "PYTEST"))
    }
    return {
        **kept,
        "ANSIBLE_CONFIG": str(project / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
        "COLUMNS": "100",
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}",
    }


def started_playbook(
    project: Path, playbook: str, *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """ansible-playbook, running. environment: on top of the plain one."""
    return subprocess.Popen(
        ["ansible-playbook", playbook, *arguments],
        cwd=project, env={**plain_environment(project), **(environment or {})}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip


def run_playbook(
    playbook: str,
    *arguments: str,
    project: Path = PROJECT,
    limit_s: float = LIMIT_S,
    environment: Mapping[str, str] | None = None,
) -> Run:
    """ansible-playbook from its start to its end."""
    begun = time.monotonic()
    with started_playbook(project, playbook, *arguments, environment=environment) as process:
        try:
            out, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            raise AssertionError(f"{playbook} {arguments} did not end within {limit_s} s:\n{out}") from None
    return Run(process.returncode, out, time.monotonic() - begun)


def deploy(seat: str, *arguments: str, project: Path = PROJECT, environment: Mapping[str, str] | None = None) -> Run:
    """The verb under test."""
    arguments = ("-e", f"seat={seat}", *arguments)
    return run_playbook("deploy-seat.yml", *arguments, project=project, environment=environment)


def deployed(seat: str, *arguments: str, project: Path = PROJECT) -> Run:
    """`deploy` that must go well."""
    run = deploy(seat, *arguments, project=project)
    assert run.rc == 0, run.out
    return run
