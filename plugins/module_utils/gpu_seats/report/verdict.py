"""One seat's verdict in one line: what the table's last column says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional

from ..findings import Finding, by_severity

_STEPS = {
    "container": "its container does not run",
    "gpus": "its cards are not visible inside the container",
    "port": "its port is not reachable",
    "health": "its health endpoint does not answer",
    "model": "it does not serve its model",
    "completion": "it does not answer a request",
}
"""What a failed step of seat_ready means for the operator."""


def ready_text(served_name: Optional[str], elapsed_s: float, claim: str = "") -> str:
    """``answers as qwen3.8-flash-next after 143 s, 93.0 of 95.6 GiB claimed``.

    served_name None: a container that serves no model; it runs. elapsed_s: how long it was waited for.
    """
    parts = [f"answers as {served_name}" if served_name else "runs"]
    parts[0] += f" after {elapsed_s:.0f} s"
    return ", ".join([*parts, claim] if claim else parts)


def not_ready_text(step: str, elapsed_s: float, findings: Iterable[Finding] = ()) -> str:
    """``not ready after 12 s: its port is not reachable (port.unpublished)``: the step and the worst finding's code."""
    failing = [found.code for found in by_severity(findings) if found.fails]
    code = f" ({failing[0]})" if failing else ""
    return f"not ready after {elapsed_s:.0f} s: {_STEPS.get(step, step)}{code}"


def claim_text(cards: Sequence[Mapping[str, Any]], workload: str) -> str:
    """``93.0 of 95.6 GiB claimed``, of the largest claim over the cards of `CardBudget.as_dict` records.

    A workload on several cards says on how many; one without a card, or whose claim nobody knows, says nothing.
    """
    claims = [
        (claim["mib"], card["total_mib"])
        for card in cards
        for claim in card["after"]
        if claim["workload"] == workload and claim["mib"]
    ]
    if not claims:
        return ""
    mib, total_mib = max(claims)
    many = f" on each of {len(claims)} cards" if len(claims) > 1 else ""
    return f"{mib / 1024:.1f} of {total_mib / 1024:.1f} GiB claimed{many}"
