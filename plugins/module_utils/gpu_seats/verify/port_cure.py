"""Brings a lost port back: the container is removed and made anew through Compose, the only cure there is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..apply.compose_cli import up_command
from ..apply.compose_errors import call_findings
from ..apply.docker_state import Standing
from ..apply.wanted import LABEL_DIGEST
from ..findings import Finding, finding
from ..observe.command import CommandResult

CURABLE = ("port.unpublished", "port.no_listener")
_DIRECTORY = "com.docker.compose.project.working_dir"
_FILES = "com.docker.compose.project.config_files"


@dataclass(frozen=True)
class Cure:
    """One container to make anew, and why."""

    container: Standing
    subject: str
    why: str

    @property
    def command(self) -> list[str]:
        labels = self.container.labels
        return up_command(
            self.container.project, labels[_DIRECTORY], [self.container.service], True, labels[_FILES].split(",")[0]
        )


def cures(findings: Iterable[Finding], containers: Iterable[Standing]) -> tuple[list[Cure], list[Finding]]:
    """What a recreate cures, and findings for containers that are not ours to recreate."""
    by_id = {one.short: one for one in containers}
    found: dict[str, Cure] = {}
    refused = []
    for one in findings:
        container = by_id.get(str(one.evidence.get("container_id", "")))
        if one.code not in CURABLE or container is None or container.id in found:
            continue
        if LABEL_DIGEST in container.labels and {_DIRECTORY, _FILES} <= set(container.labels):
            found[container.id] = Cure(container, one.subject, one.message)
        else:
            text = f"container {container.name} was not made by gpu-seats and is left alone"
            refused.append(finding("port.not_cured", one.subject, text, {"cause": one.code}))
    return list(found.values()), refused


def carry_out(
    wanted: Sequence[Cure], run: Callable[[Sequence[str], float], CommandResult], limit_s: float
) -> tuple[list[dict[str, str]], list[Finding]]:
    """Recreate one after the other (seats of one card must not load at once): actions that went well, findings."""
    actions, findings = [], []
    for cure in wanted:
        problems = call_findings(run(cure.command, limit_s), cure.subject)
        findings += problems
        if not problems:
            actions.append(action_of(cure))
    return actions, findings


def action_of(cure: Cure) -> dict[str, str]:
    return {
        "service": cure.container.service,
        "container": cure.container.name,
        "action": "recreate",
        "why": cure.why,
    }


__all__ = ["CURABLE", "Cure", "action_of", "carry_out", "cures"]
