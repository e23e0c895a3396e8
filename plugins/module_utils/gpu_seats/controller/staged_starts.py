"""Seats that share a card start one after the other; between two starts the operator sees who is awaited.

The module `compose_stacks` starts the first seat of every card and names the others. Here the first ones are waited
for, with progress, and the module runs again for the next ones. A run that starts at most one seat a card, or nothing,
is one module run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..findings import by_severity, finding_from_dict

Stack = dict[str, Any]
Answer = dict[str, Any]


def applied_in_stages(
    stacks: Sequence[Stack], apply: Callable[[list[Stack]], Answer], wait: Callable[[list[dict[str, Any]]], None]
) -> Answer:
    """One answer for all stages. apply: runs the module for the given stacks. wait: until these checks are settled.

    A seat that does not come up does not keep the next one on its card from starting: what it is worth is for the
    verdict to say. Ends when nothing waits, and at the latest when a stage has started nothing that waited.
    """
    whole = stage = apply(list(stacks))
    waiting = _waiting(stage)
    while waiting:
        wait([check for check in whole["checks"] if check["container"] in set(waiting.values())])
        stage = apply(_only_waiting(stacks, waiting))
        whole = _joined(whole, stage)
        left = _waiting(stage)
        if not left.keys() < waiting.keys():
            break
        waiting = left
    return whole


def _waiting(answer: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """(stack, service) -> the container that it waits for."""
    return {
        (str(stack["name"]), str(one["service"])): str(one["behind"])
        for stack in answer.get("stacks") or ()
        for one in stack.get("waiting") or ()
    }


def _only_waiting(stacks: Sequence[Stack], waiting: Mapping[tuple[str, str], str]) -> list[Stack]:
    """The stacks with something that waits; everything else in them is left as it now stands."""
    chosen = []
    for stack in stacks:
        services = {
            name: service if (stack["name"], name) in waiting else {**service, "run": "leave"}
            for name, service in stack["services"].items()
        }
        if any(service["run"] != "leave" for service in services.values()):
            chosen.append({**stack, "services": services})
    return chosen


def _joined(first: Answer, later: Answer) -> Answer:
    again = {str(stack["name"]): stack for stack in later.get("stacks") or ()}
    stacks = [
        _joined_stack(stack, again[stack["name"]]) if stack["name"] in again else stack for stack in first["stacks"]
    ]
    found = [finding_from_dict(one) for one in [*first["findings"], *(later.get("findings") or ())]]
    messages = [str(answer["msg"]) for answer in (first, later) if answer.get("failed") and answer.get("msg")]
    joined = {
        **{key: value for key, value in first.items() if key != "looks"},  # these are of before the later starts
        "changed": bool(first.get("changed") or later.get("changed")),
        "failed": bool(first.get("failed") or later.get("failed")),
        "stacks": stacks,
        "last_good": all(stack.get("last_good") for stack in stacks),
        "findings": [one.as_dict() for one in by_severity(found)],
        "diff": [*(first.get("diff") or ()), *(later.get("diff") or ())],
    }
    return {**joined, "msg": "\n".join(messages)} if messages else joined


def _joined_stack(first: Mapping[str, Any], later: Mapping[str, Any]) -> Stack:
    done = [one for stage in (first, later) for one in stage["actions"] if one["action"] != "none"]
    touched = {one["service"] for one in done}
    idle = [one for one in first["actions"] if one["action"] == "none" and one["service"] not in touched]
    return {
        **first,
        "changed": bool(first["changed"] or later["changed"]),
        "failed": bool(first["failed"] or later["failed"]),
        "actions": [*done, *idle],
        "last_good": later["last_good"],
        "findings": [*first["findings"], *later["findings"]],
        "waiting": list(later["waiting"]),
    }
