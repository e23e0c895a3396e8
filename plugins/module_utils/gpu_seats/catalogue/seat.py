"""Findings about seats, from container to completion."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {
    "seat.retired_still_there": FindingKind(
        "warning",
        "The seat is declared retired and its container still exists.",
        "ansible-playbook playbooks/retire-seat.yml -e seat=SEAT",
    ),
}
