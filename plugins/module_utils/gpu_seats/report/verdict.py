"""One seat's verdict in one line: what the table's last column says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..findings import Finding, by_severity, finding_from_dict

_FAILED_STEPS = {
    "container": "its container does not run",
    "gpus": "its cards are not visible inside the container",
    "port": "its port is not reachable",
    "health": "its health endpoint does not answer",
    "model": "it does not serve its model",
    "completion": "it does not answer a request",
    "outside": "it answers on its host but not to the controller",
}
"""What a failed step of seat_ready means for the operator."""


def verdict_text(
    look: Mapping[str, Any], waited_s: float, cards: Sequence[Mapping[str, Any]] = (), started: bool = True
) -> str:
    """The verdict on the last look at a seat (`SeatLook.as_dict`).

    waited_s: how long this run waited for it. cards: `CardBudget.as_dict` records of the plan, for the claim.
    started: by this run; otherwise the container's age is no time to load.
    """
    elapsed_s = float(look["elapsed_s"])
    if look["state"] == "ready":
        return ready_text(look.get("served_name"), elapsed_s, claim_text(cards, look["seat"]), not started)
    if look["state"] == "loading":
        return f"not ready after {max(elapsed_s, waited_s):.0f} s, still {look['awaited'] or 'starting'}"
    return failed_text(
        _reason(look), elapsed_s if started else 0.0, [finding_from_dict(one) for one in look["findings"]]
    )


def _reason(look: Mapping[str, Any]) -> str:
    """The engine's own words where its log gave a cause, else what the failed step means."""
    failed = [step["step"] for step in look["steps"] if step["status"] == "failed"]
    if not failed or look["source"] == "engine log":
        return str(look["awaited"] or look["source"] or "no reason given")
    return _FAILED_STEPS.get(failed[-1], str(failed[-1]))


def ready_text(served_name: str | None, elapsed_s: float, claim: str = "", ran_before: bool = False) -> str:
    """``answers as qwen3.8-flash-next after 143 s, 93.0 of 95.6 GiB claimed``.

    served_name None: a container that serves no model; it runs. elapsed_s: age of the container. ran_before: it was
    not started by this run, so its age is no time to load.
    """
    said = f"answers as {served_name}" if served_name else "runs"
    said += f", up {duration_text(elapsed_s)}" if ran_before else f" after {elapsed_s:.0f} s"
    return f"{said}, {claim}" if claim else said


def failed_text(reason: str, elapsed_s: float, findings: Iterable[Finding] = ()) -> str:
    """``failed after 12 s: its port is not reachable (port.unpublished)``: the reason and the worst finding's code.

    elapsed_s: age of a container that this run started; 0 for any other.
    """
    failing = [found.code for found in by_severity(findings) if found.fails]
    code = f" ({failing[0]})" if failing else ""
    when = f" after {elapsed_s:.0f} s" if elapsed_s >= 1 else ""
    return f"failed{when}: {reason}{code}"


def duration_text(seconds: float) -> str:
    """The two largest units: ``3 d 4 h``, ``2 h 5 min``, ``12 min``, ``40 s``."""
    whole = int(seconds)
    for size, unit, smaller, smaller_unit in ((86400, "d", 3600, "h"), (3600, "h", 60, "min")):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size} {unit}" + (f" {rest} {smaller_unit}" if rest else "")
    return f"{whole // 60} min" if whole >= 60 else f"{whole} s"


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
