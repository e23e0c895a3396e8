"""Findings about systemd units: what starts at boot, and what a reload of systemd does to containers."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {
    "systemd.reload_failed": FindingKind(
        "error",
        "systemd did not read its unit files again, so what was written is not what runs.",
        "Run systemctl daemon-reload on the host and read its text; systemd-analyze verify names a faulty unit file.",
    ),
    "systemd.reload_pending": FindingKind(
        "warning",
        "A unit's file on the disk is newer than what systemd works with: the change counts from the next reload.",
        "Run the playbook that owns the unit again. By hand, systemctl daemon-reload can take the GPUs from running "
        "containers: look at each of them afterwards.",
    ),
    "systemd.unit_failed": FindingKind(
        "error",
        "A unit does not do what is wanted of it: it could not be enabled, disabled, started or stopped, or its last "
        "run failed.",
        "Read its journal: journalctl -u UNIT -n 50, with the unit's name.",
    ),
    "systemd.unit_masked": FindingKind(
        "error",
        "Somebody masked a unit, so nothing can start it.",
        "Find out why; then systemctl unmask it, or stop declaring that it runs.",
    ),
    "systemd.unit_missing": FindingKind(
        "error",
        "systemd knows no unit of that name, so what it would do at boot does not happen.",
        "Install the package that brings it, or run the playbook that writes it.",
    ),
    "systemd.unit_not_enabled": FindingKind(
        "error",
        "A unit is not started at boot: what it does holds until the host restarts, and then silently no longer.",
        "Run the playbook that owns the unit again; systemctl is-enabled tells what systemd thinks.",
    ),
    "systemd.unit_not_started": FindingKind(
        "error",
        "A unit that should run does not.",
        "Read its journal and start it: journalctl -u UNIT -n 50, systemctl start UNIT, with the unit's name.",
    ),
    "systemd.unreachable": FindingKind(
        "error",
        "systemd does not answer, so how units stand is unknown.",
        "Check that systemd is process 1 on that host and that systemctl works there by hand.",
    ),
}
