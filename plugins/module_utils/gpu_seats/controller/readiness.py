"""Waits for seats: looks again and again, shows who is awaited, and says one verdict a seat at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..findings import Finding, finding_from_dict
from ..report.progress import Pace, Waiting
from ..report.verdict import claim_text, not_ready_text, ready_text, standing_text

Look = Callable[[list[dict[str, Any]], float, dict[str, list[str]]], list[dict[str, Any]]]
"""(checks, seconds waited so far, steps passed by seat) -> one SeatLook as data for each check."""
OutsideCheck = Callable[[Mapping[str, Any]], list[Finding]]


@dataclass(frozen=True)
class Waits:
    """poll_s: between two looks. progress_s: between two lines about a seat. once: one look, nothing is awaited."""

    poll_s: float = 2.0
    progress_s: float = 5.0
    once: bool = False


@dataclass
class Readiness:
    """The last look at every container, in the order of the checks. at_once: ready at the first look."""

    looks: dict[str, dict[str, Any]] = field(default_factory=dict)
    at_once: frozenset[str] = frozenset()

    @property
    def loading(self) -> list[str]:
        """Containers of the seats that are not ready yet."""
        return [container for container, look in self.looks.items() if look["state"] == "loading"]


def wait_until_ready(
    checks: Sequence[dict[str, Any]],
    look: Look,
    show: Callable[[str], None],
    waits: Waits = Waits(),
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Readiness:
    """Looks until no seat is loading. Each step's time limit is kept by the look itself, which turns it to failed."""
    began, pace, seen = clock(), Pace(waits.progress_s), Readiness()
    awaited, passed_once = list(checks), False
    while awaited:
        passed = {one["seat"]: _passed(seen.looks.get(one["container"])) for one in awaited}
        for one in look(awaited, clock() - began, passed):
            seen.looks[one["container"]] = one
        if not passed_once:
            seen.at_once = frozenset(name for name, one in seen.looks.items() if one["state"] == "ready")
            passed_once = True
        loading = seen.loading
        awaited = [one for one in checks if one["container"] in loading]
        if waits.once or not awaited:
            return seen
        waiting = [seen.looks[container] for container in loading]
        lines = [Waiting(look["seat"], look["awaited"], look["source"]) for look in waiting]
        for line in pace.due(lines, {look["seat"]: clock() - began for look in waiting}):
            show(line)
        sleep(waits.poll_s)
    return seen


def _passed(look: Mapping[str, Any] | None) -> list[str]:
    """Steps that need not be looked at again: cards stay in a container that keeps running."""
    steps = look["steps"] if look else ()
    return [step["step"] for step in steps if step["status"] == "ok" and step["step"] == "gpus"]


def verdicts(
    readiness: Readiness, checks: Sequence[Mapping[str, Any]], cards: Sequence[Mapping[str, Any]], outside: OutsideCheck
) -> tuple[list[dict[str, Any]], list[Finding]]:
    """``{seat, ok, verdict, elapsed_s}`` of every seat, and all findings; ready seats are asked from outside too."""
    rows, found = [], []
    by_container = {one["container"]: one for one in checks}
    for container, look in readiness.looks.items():
        findings = [finding_from_dict(one) for one in look["findings"]]
        if look["state"] == "ready":
            findings += outside(by_container[container])
        ok = look["state"] == "ready" and not any(one.fails for one in findings)
        words = _verdict(look, ok, findings, cards, container in readiness.at_once)
        rows.append({"seat": look["seat"], "ok": ok, "verdict": words, **_times(look)})
        found += findings
    return rows, found


def _times(look: Mapping[str, Any]) -> dict[str, Any]:
    return {"elapsed_s": look["elapsed_s"], "steps": look["steps"], "state": look["state"]}


def _verdict(
    look: Mapping[str, Any],
    ok: bool,
    findings: Sequence[Finding],
    cards: Sequence[Mapping[str, Any]],
    seen_at_once: bool,
) -> str:
    if ok:
        claim = claim_text(cards, look["seat"])
        if seen_at_once:
            return standing_text(look["served_name"], look["elapsed_s"], claim)
        return ready_text(look["served_name"], look["elapsed_s"], claim)
    if look["state"] == "ready":
        return not_ready_text("outside", look["elapsed_s"], findings)
    if look["state"] == "loading":
        return f"loading since {look['elapsed_s']:.0f} s: {look['awaited']}"
    failed = next((step["step"] for step in look["steps"] if step["status"] == "failed"), "container")
    return not_ready_text(failed, look["elapsed_s"], findings)
