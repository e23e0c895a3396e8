"""Makes systemd read its unit files again. The caller looks at the GPUs inside containers afterwards."""

from __future__ import annotations

from ..findings import Finding, finding
from ..observe.command import Run, command_findings

LIMIT_S = 120.0
"""Generators run at each reload, and systemd itself ends them after 90 s."""


def reload_findings(run: Run) -> list[Finding]:
    """Reloads; what was wrong with it, nothing where it went well."""
    ended = run(["systemctl", "daemon-reload"], LIMIT_S)
    if ended.ok:
        return []
    said = " ".join(ended.text.split()) or "it printed nothing"
    text = f"systemctl daemon-reload failed with code {ended.rc}: {said}"
    return command_findings(ended, "host:systemd") or [finding("systemd.reload_failed", "host:systemd", text)]


__all__ = ["reload_findings"]
