"""Asks a seat from the controller: "answers on its host" is not "reachable"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..findings import Finding, finding
from ..verify.connects import connect
from ..verify.seat_answers import model_step
from ..verify.seat_steps import seat_check


def outside_findings(check: Mapping[str, Any], address: str | None) -> list[Finding]:
    """What is wrong with reaching the seat at `address`; a model's name where it serves one, else a connection."""
    wanted = seat_check(check)
    if wanted.port is None or not address:
        return []
    if wanted.task != "none" and wanted.served_name:
        step, _ = model_step(wanted, address)
        failed, said = step.status == "failed", step.text
    else:
        made = connect(address, wanted.port)
        failed, said = made.outcome != "open", f"{made.outcome} ({made.detail})"
    if not failed:
        return []
    message = f"asked from here at {address}:{wanted.port}: {said}"
    return [finding("seat.unreachable_from_controller", wanted.subject, message, {"address": address})]
