"""Seats of one card start one after the other, and the operator sees whom the others wait for."""

from __future__ import annotations

from typing import Any

from gpu_seats.controller.staged_starts import applied_in_stages


class FakeHost:
    """Starts the first of the services that are to run, all on one card, as `compose_stacks` does without waiting."""

    def __init__(self, fails: frozenset[str] = frozenset()) -> None:
        self.running: set[str] = set()
        self.runs: list[list[str]] = []
        self.awaited: list[list[str]] = []
        self.fails = fails

    def apply(self, stacks: list[dict[str, Any]]) -> dict[str, Any]:
        wanted = [(s["name"], n) for s in stacks for n, one in s["services"].items() if one["run"] == "up"]
        todo = [(stack, name) for stack, name in wanted if name not in self.running]
        self.runs.append([name for _, name in todo])
        started = todo[:1]
        self.running |= {name for _, name in started}
        rows = [self._row(stack, started, todo[1:]) for stack in stacks]
        failed = any(row["failed"] for row in rows)
        checks = [{"container": name, "seat": name} for _, name in wanted]
        base = {"changed": bool(started), "failed": failed, "stacks": rows, "checks": checks, "findings": []}
        return {**base, "last_good": False, "diff": [], **({"msg": "it failed"} if failed else {})}

    def _row(self, stack: dict[str, Any], started: list, later: list) -> dict[str, Any]:
        mine = [name for name in stack["services"] if (stack["name"], name) in started]
        return {
            "name": stack["name"],
            "changed": bool(mine),
            "failed": bool(self.fails & set(mine)),
            "actions": [
                {"service": n, "container": n, "action": "create" if n in mine else "none", "why": ""}
                for n in stack["services"]
            ],
            "last_good": False,
            "findings": [],
            "waiting": [{"service": n, "behind": started[0][1]} for s, n in later if s == stack["name"]],
        }

    def wait(self, checks: list[dict[str, Any]]) -> None:
        self.awaited.append([check["container"] for check in checks])


def stack(name: str, *services: str) -> dict[str, Any]:
    return {"name": name, "services": {one: {"run": "up"} for one in services}}


def test_a_run_with_nothing_that_waits_is_one_module_run() -> None:
    host = FakeHost()
    answer = applied_in_stages([stack("s", "a")], host.apply, host.wait)
    assert len(host.runs) == 1 and host.awaited == [] and answer["changed"]


def test_each_next_seat_of_a_card_waits_for_the_one_before() -> None:
    host = FakeHost()
    answer = applied_in_stages([stack("s", "a"), stack("t", "b", "c")], host.apply, host.wait)
    assert host.awaited == [["a"], ["b"]] and host.running == {"a", "b", "c"}
    done = {one["service"]: one["action"] for row in answer["stacks"] for one in row["actions"]}
    assert done == {"a": "create", "b": "create", "c": "create"}
    assert [row["waiting"] for row in answer["stacks"]] == [[], []]


def test_a_seat_that_was_started_is_not_touched_by_a_later_stage() -> None:
    host = FakeHost()
    applied_in_stages([stack("s", "a", "b", "c")], host.apply, host.wait)
    assert host.runs == [["a", "b", "c"], ["b", "c"], ["c"]]


def test_a_failure_in_any_stage_fails_the_whole_and_the_others_still_start() -> None:
    host = FakeHost(fails=frozenset({"a"}))
    answer = applied_in_stages([stack("s", "a", "b")], host.apply, host.wait)
    assert answer["failed"] and answer["msg"] == "it failed" and host.running == {"a", "b"}


def test_a_stage_that_starts_nothing_ends_the_run_instead_of_looping() -> None:
    calls: list[int] = []

    def stuck(stacks: list[dict[str, Any]]) -> dict[str, Any]:
        calls.append(1)
        return FakeHost().apply([{**one, "services": {"a": {"run": "up"}, "b": {"run": "up"}}} for one in stacks])

    applied_in_stages([stack("s", "a", "b")], stuck, lambda _checks: None)
    assert len(calls) == 2
