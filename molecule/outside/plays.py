"""Runs a playbook as an operator does and reads what it printed."""

from __future__ import annotations

import itertools
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
CARDS_ONLY = ("-e", "picture= gpu_power_bmc_interface=none")  # a run of the power verb that need not show more

_HEAD = re.compile(r"^(critical|error|warning|info) +(?:(\d+ times) |(\S+)  )(\S+)$")
_OF_SUBJECT = re.compile(r"^(\S+): (.+(?:\n +.+)*)", re.MULTILINE)
_INDENT = " " * 10  # of what stands below a finding's head
_RECAP = re.compile(r"^(\S+) +: ok=(\d+) +changed=(\d+) +unreachable=(\d+) +failed=(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Shown:
    """A finding as the closing table shows it."""

    severity: str
    subject: str
    code: str
    message: str
    remedy: str


def flat(text: str) -> str:
    """Every run of blanks as one: how lines are broken doesn't matter."""
    return " ".join(text.split())


def _body(lines: list[str]) -> str:
    below = itertools.takewhile(lambda line: line.startswith(_INDENT), lines)
    return "\n".join(line.removeprefix(_INDENT) for line in below)


@dataclass(frozen=True)
class Run:
    """One ended run of ansible-playbook. out: stdout and stderr in the order they came."""

    rc: int
    out: str
    elapsed_s: float

    @property
    def words(self) -> str:
        """The output, `flat`."""
        return flat(self.out)

    @property
    def changed(self) -> int:
        """Changed tasks of all hosts, by Ansible's own recap."""
        return sum(int(row[2]) for row in _RECAP.findall(self.out))

    @property
    def findings(self) -> list[Shown]:
        """Findings below the table; one that stands there for several subjects is as many findings."""
        found: list[Shown] = []
        lines = self.out.splitlines()
        for number, line in enumerate(lines):
            head = _HEAD.match(line)
            if head:
                text, _, remedy = _body(lines[number + 1 :]).partition("\ndo: ")
                severity, several, subject, code = head.groups()
                of = dict(_OF_SUBJECT.findall(text)) if several else {subject: text}
                found += [Shown(severity, one, code, flat(said), flat(remedy)) for one, said in of.items()]
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

    def failing(self, subject: str) -> set[str]:
        """Codes of the errors that are told of a subject."""
        return {one.code for one in self.findings if one.subject == subject and one.severity in ("critical", "error")}

    def card(self, card: str) -> tuple[str, str, str, str]:
        """Cap, limit, draw and verdict in a card's row; fails the test with the whole output where there is no row."""
        rows = re.findall(rf"^{card} +([\d,]+ W) +([\d,]+ W|\?) +([\d.,]+ W|\?)  (.+)$", self.out, re.MULTILINE)
        assert rows, f"no row of card {card} in:\n{self.out}"
        cap, limit, draw, verdict = rows[-1]
        return cap, limit, draw, verdict.strip()

    def says(self, *texts: str) -> None:
        """Every text stands in the output, however its lines are broken."""
        for text in texts:
            assert flat(text) in self.words, f"{text!r} is not in:\n{self.out}"


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


def power(*arguments: str, project: Path = PROJECT) -> Run:
    """The verb that caps the cards."""
    return run_playbook("playbooks/power.yml", *arguments, project=project)


def deploy(seat: str, *arguments: str, project: Path = PROJECT, environment: Mapping[str, str] | None = None) -> Run:
    """The verb under test."""
    arguments = ("-e", f"seat={seat}", *arguments)
    return run_playbook("deploy-seat.yml", *arguments, project=project, environment=environment)


def deployed(seat: str, *arguments: str, project: Path = PROJECT) -> Run:
    """`deploy` that must go well."""
    run = deploy(seat, *arguments, project=project)
    assert run.rc == 0, run.out
    return run
