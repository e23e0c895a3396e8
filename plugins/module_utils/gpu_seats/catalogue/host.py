"""Findings about the host under the seats."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {
    "host.unreachable": FindingKind(
        "critical",
        "Ansible could not connect, so nothing is known of the host's seats.",
        "Look at the connection's own words; if the whole site is silent, suspect its power before its hosts.",
    ),
    "host.address_absent": FindingKind(
        "error",
        "No interface holds the declared address: links, labels and checks that are made from it lead nowhere.",
        "Correct `address` in the host file and deploy again: labels attach only when a container is created.",
    ),
    "host.file_not_written": FindingKind(
        "error",
        "A file of the host could not be read, written or removed. What it was before stands, so the host goes on by "
        "an older declaration.",
        "Clear what the system says of it (df -h for a full disk; mount and dmesg for a read-only one), then run the "
        "playbook again.",
    ),
    "host.step_failed": FindingKind(
        "error",
        "A step of the run could not do its work on the host, so the steps after it were left out and nothing gave a "
        "verdict on the host.",
        "Clear what the message names and run the playbook again; -v shows all that the step said.",
    ),
}
