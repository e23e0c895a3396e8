"""Results of a run as the module returns them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..findings import Finding, by_severity, finding
from ..observe.engine_api import EngineRefusedError, EngineUnreachableError
from .host_lock import LockHeldError
from .stack_steps import engine_finding
from .stacks_run import StackResult
from .wanted import WantedStack


def run_report(results: Sequence[StackResult]) -> dict[str, Any]:
    """What exit_json or fail_json gets; a failed run lists every failing finding in `msg`."""
    findings = _unique([one for result in results for one in result.findings])
    failing = [one for one in findings if one.fails]
    report: dict[str, Any] = {
        "changed": any(result.changed for result in results),
        "failed": bool(failing) or any(result.failed for result in results),
        "stacks": [result.as_dict() for result in results],
        "last_good": bool(results) and all(result.last_good for result in results),
        "checks": [check for result in results for check in result.checks],
        "findings": [one.as_dict() for one in by_severity(findings)],
        "diff": [entry for result in results for entry in result.diff],
    }
    if report["failed"]:
        report["msg"] = "\n".join(f"{f.subject}: {f.code}: {f.message} -> {f.remedy}" for f in failing)
        # the usual keys of a failed command, of the first call that failed
        call = next((one.evidence for one in failing if "cmd" in one.evidence), {})
        report.update({key: call[key] for key in ("cmd", "rc", "stdout", "stderr") if key in call})
    return report


def unreachable_results(
    stacks: Sequence[WantedStack], problem: EngineUnreachableError | EngineRefusedError
) -> list[StackResult]:
    """Every stack failed, for the one reason that the engine cannot be asked."""
    return [StackResult(one.name, failed=True, findings=[engine_finding(problem, "engine:docker")]) for one in stacks]


def lock_results(stacks: Sequence[WantedStack], held: LockHeldError) -> list[StackResult]:
    """Every stack failed, because another run has the host."""
    locked = finding("compose.locked", "engine:docker", str(held), {"lock": held.path, **held.holder})
    return [StackResult(one.name, failed=True, findings=[locked]) for one in stacks]


def _unique(findings: Sequence[Finding]) -> list[Finding]:
    return list({(one.code, one.subject, one.message): one for one in findings}.values())


__all__ = ["lock_results", "run_report", "unreachable_results"]
