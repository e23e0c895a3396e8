"""A failed `docker` call as findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..findings import Finding, finding
from ..observe.command import CommandResult
from .compose_cli import evidence


def call_findings(result: CommandResult, subject: str) -> list[Finding]:
    """Why `result` failed, with command, exit code and output as evidence; empty for a call that went well.

    A known text gives a finding about what it names (``port:8022``, ``container:x``), an unknown one about `subject`.
    """
    if result.ok:
        return []
    command = _words(result.argv)
    if result.missing:
        return [finding("compose.command_missing", subject, result.stderr, evidence(result))]
    if result.timed_out:
        ended = f"{command} did not end within {result.elapsed_s:.0f} s and was ended"
        return [finding("compose.timeout", subject, ended, evidence(result))]
    known = [_about(one, subject, result) for one in _classified(result) if one.fails and one.code != "compose.failed"]
    if known:
        return known
    rc = result.rc or 0
    how = f"was ended by signal {-rc}" if rc < 0 else f"ended with {rc}"
    failed = f"{command} {how}: {_last_line(result.stderr or result.stdout)}"
    return [finding("compose.failed", subject, failed, evidence(result))]


def is_worth_retrying(result: CommandResult) -> bool:
    """Whether the same call may go well a little later: a host address comes up, a taken port stays taken."""
    if result.ok or result.timed_out or result.missing:
        return False
    failing = [one for one in _classified(result) if one.fails]
    return bool(failing) and all(one.evidence.get("retry") for one in failing)


def _classified(result: CommandResult) -> list[Finding]:
    # its table of expressions is only worth compiling when something failed
    from ..observe.compose.up import parse_compose_up

    return parse_compose_up(f"{result.stdout}\n{result.stderr}", result.rc).findings


def _about(one: Finding, subject: str, result: CommandResult) -> Finding:
    named = one.subject if not one.subject.startswith("tool:") else subject
    message = one.message if named == subject else f"{one.message} ({subject})"
    return replace(one, subject=named, message=message, evidence={**one.evidence, **evidence(result)})


def _words(argv: Sequence[str]) -> str:
    """The call in short: program and verbs, without options and their values."""
    return " ".join(word for word in argv if word in ("docker", "compose", "up", "pull", "start")) or argv[0]


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "(no output)"


__all__ = ["call_findings", "is_worth_retrying"]
