"""Waits for seats: looks again and again, shows who is awaited, and says one verdict a seat at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..findings import Finding, finding_from_dict
from ..report.progress import Pace, Waiting
from ..report.verdict import verdict_text

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
    """The last look at every container, in the order of the checks. waited_s: how long this run waited for each."""

    looks: dict[str, dict[str, Any]] = field(default_factory=dict)
    waited_s: dict[str, float] = field(default_factory=dict)

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
    first: Sequence[dict[str, Any]] = (),
) -> Readiness:
    """Looks until no seat is loading. Each step's time limit is kept by the look itself, which turns it to failed.

    first: looks that were made just now; a seat that one of them found ready is not looked at again.
    """
    began, pace, seen = clock(), Pace(waits.progress_s), Readiness()
    ready = {str(one["container"]): one for one in first if one["state"] == "ready"}
    seen.looks.update({one["container"]: ready[one["container"]] for one in checks if one["container"] in ready})
    seen.waited_s.update(dict.fromkeys(seen.looks, 0.0))
    awaited = [one for one in checks if one["container"] not in ready]
    while awaited:
        passed = {one["seat"]: _passed(seen.looks.get(one["container"])) for one in awaited}
        waited_s = clock() - began
        for one in look(awaited, waited_s, passed):
            seen.looks[one["container"]] = one
            seen.waited_s[one["container"]] = waited_s
        loading = seen.loading
        awaited = [one for one in checks if one["container"] in loading]
        if waits.once or not awaited:
            break
        waiting = [seen.looks[container] for container in loading]
        lines = [Waiting(one["seat"], one["awaited"], one["source"]) for one in waiting]
        for line in pace.due(lines, {one["seat"]: one["elapsed_s"] for one in waiting}):
            show(line)
        sleep(waits.poll_s)
    return seen


def _passed(look: Mapping[str, Any] | None) -> list[str]:
    """Steps that need not be looked at again: a container that keeps running keeps its cards."""
    steps = look["steps"] if look else ()
    return [step["step"] for step in steps if step["status"] == "ok" and step["step"] == "gpus"]


def verdicts(
    readiness: Readiness,
    checks: Sequence[Mapping[str, Any]],
    cards: Sequence[Mapping[str, Any]],
    outside: OutsideCheck,
    started: Collection[str] = (),
) -> tuple[list[dict[str, Any]], list[Finding]]:
    """``{seat, ok, verdict, state, steps}`` of every seat, and all findings; ready seats are asked from outside too.

    started: containers that this run has started.
    """
    rows: list[dict[str, Any]] = []
    found: list[Finding] = []
    by_container = {one["container"]: one for one in checks}
    for container, look in readiness.looks.items():
        asked = outside(by_container[container]) if look["state"] == "ready" else []
        findings = [*(finding_from_dict(one) for one in look["findings"]), *asked]
        judged = _judged_outside(look, asked)
        ok = judged["state"] == "ready" and not any(one.fails for one in findings)
        words = verdict_text(judged, readiness.waited_s[container], cards, container in started)
        rows.append(
            {"seat": look["seat"], "ok": ok, "verdict": words, "state": judged["state"], "steps": look["steps"]}
        )
        found += findings
    return rows, found


def _judged_outside(look: dict[str, Any], asked: Sequence[Finding]) -> dict[str, Any]:
    """The look as the controller sees it: a seat that only its own host can reach has failed."""
    failing = [one.as_dict() for one in asked if one.fails]
    if not failing:
        return look
    step = {"step": "outside", "status": "failed", "text": failing[0]["message"], "seconds": 0.0}
    return {**look, "state": "failed", "steps": [*look["steps"], step], "findings": [*look["findings"], *failing]}


def started_containers(applied: Sequence[Mapping[str, Any]]) -> set[str]:
    """Containers that `compose_stacks` created, recreated or started, out of its `stacks`."""
    return {
        str(one["container"])
        for stack in applied
        for one in stack.get("actions") or ()
        if one["action"] in ("create", "recreate", "start")
    }
