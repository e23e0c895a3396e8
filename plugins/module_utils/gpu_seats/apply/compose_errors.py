"""A failed `docker` call as findings."""

from __future__ import annotations

from ..findings import Finding, finding
from .compose_cli import evidence
from .held_command import CommandResult

_ADDRESS_NOT_UP = "cannot assign requested address"


def call_findings(result: CommandResult, subject: str) -> list[Finding]:
    """Why `result` failed, with command, exit code and output as evidence; empty for a call that went well."""
    if result.ok:
        return []
    command = " ".join(result.argv[:3])
    if result.missing:
        return [finding("compose.command_missing", subject, result.stderr, evidence(result))]
    if result.timed_out:
        return [
            finding(
                "compose.timeout",
                subject,
                f"{command} did not end within {result.elapsed_s:.0f} s and was ended",
                evidence(result),
            )
        ]
    return [
        finding(
            "compose.failed",
            subject,
            f"{command} ended with {result.rc}: {_last_line(result.stderr or result.stdout)}",
            evidence(result),
        )
    ]


def is_worth_retrying(result: CommandResult) -> bool:
    """A host address that is not up yet comes up; a taken port stays taken."""
    return not result.ok and _ADDRESS_NOT_UP in result.stderr


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "(no output)"


__all__ = ["call_findings", "is_worth_retrying"]
