"""Findings about published ports and listeners."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {
    "port.unpublished": FindingKind(
        "error",
        "The container runs, and its health check may pass, but its port is not published on the host (moby#51758). A restart does not bring it back.",
        "Remove and recreate: ansible-playbook deploy-seat.yml -e seat=SEAT does that, also when nothing else changed.",
    ),
}
