"""Waiting for seats: who is looked at again, what is shown meanwhile, and what the verdict takes into account."""

from __future__ import annotations

from typing import Any

from gpu_seats.controller.readiness import Waits, verdicts, wait_until_ready
from gpu_seats.findings import finding


class FakeHost:
    """Answers looks from a script by seat; its clock moves only when somebody sleeps."""

    def __init__(self, script: dict[str, list[str]]) -> None:
        self.script = {seat: list(states) for seat, states in script.items()}
        self.now_s = 0.0
        self.asked: list[list[str]] = []
        self.passed: list[dict[str, list[str]]] = []

    def look(
        self, checks: list[dict[str, Any]], _waited_s: float, passed: dict[str, list[str]]
    ) -> list[dict[str, Any]]:
        self.asked.append([check["seat"] for check in checks])
        self.passed.append(passed)
        return [self._seen(check["seat"]) for check in checks]

    def _seen(self, seat: str) -> dict[str, Any]:
        states = self.script[seat]
        state = states.pop(0) if len(states) > 1 else states[0]
        steps = [{"step": "gpus", "status": "ok", "text": "", "seconds": 0.1}]
        failed = [{"step": "health", "status": "failed", "text": "", "seconds": 0.1}] if state == "failed" else []
        return {
            "seat": seat,
            "stack": "s",
            "container": f"c-{seat}",
            "served_name": seat,
            "state": state,
            "awaited": "loading weights 1/9" if state == "loading" else "",
            "source": "engine log" if state == "loading" else "",
            "elapsed_s": self.now_s,
            "steps": steps + failed,
            "findings": [finding("seat.unhealthy", f"seat:{seat}", "no answer").as_dict()] if failed else [],
        }

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def waited(host: FakeHost, **waits: Any) -> tuple[Any, list[str]]:
    shown: list[str] = []
    checks = [{"seat": seat, "container": f"c-{seat}"} for seat in host.script]
    seen = wait_until_ready(checks, host.look, shown.append, Waits(**waits), lambda: host.now_s, host.sleep)
    return seen, shown


def test_only_seats_that_still_load_are_looked_at_again() -> None:
    host = FakeHost({"a": ["ready"], "b": ["loading", "loading", "ready"]})
    seen, _ = waited(host)
    assert host.asked == [["a", "b"], ["b"], ["b"]]
    assert {look["state"] for look in seen.looks.values()} == {"ready"}


def test_a_loading_seat_is_shown_every_few_seconds_with_what_is_awaited() -> None:
    _, shown = waited(FakeHost({"b": ["loading"] * 11 + ["ready"]}), poll_s=1.0, progress_s=5.0)
    assert 2 <= len(shown) <= 4
    assert all("loading weights 1/9" in line for line in shown)


def test_one_failed_seat_does_not_end_the_wait_for_others() -> None:
    seen, _ = waited(FakeHost({"bad": ["failed"], "slow": ["loading", "ready"]}))
    assert [look["state"] for look in seen.looks.values()] == ["failed", "ready"]


def test_cards_are_not_asked_again_in_a_container_that_keeps_running() -> None:
    host = FakeHost({"b": ["loading", "ready"]})
    waited(host)
    assert host.passed == [{"b": []}, {"b": ["gpus"]}]


def test_looking_once_never_waits() -> None:
    host = FakeHost({"b": ["loading"]})
    seen, _ = waited(host, once=True)
    assert host.now_s == 0.0 and seen.loading == ["c-b"]


def test_a_seat_that_only_its_own_host_reaches_has_failed() -> None:
    seen, _ = waited(FakeHost({"a": ["ready"]}))
    unreachable = finding("seat.unreachable_from_controller", "seat:a", "refused")
    rows, findings = verdicts(seen, [{"seat": "a", "container": "c-a"}], [], lambda _check: [unreachable])
    assert rows[0]["ok"] is False
    assert "not to the controller" in rows[0]["verdict"]
    assert findings == [unreachable]


def test_a_failed_seat_is_not_asked_from_outside_too() -> None:
    seen, _ = waited(FakeHost({"bad": ["failed"]}))

    def never(_check: Any) -> list[Any]:
        raise AssertionError("asked")

    rows, findings = verdicts(seen, [{"seat": "bad", "container": "c-bad"}], [], never)
    assert rows[0]["ok"] is False and "seat.unhealthy" in rows[0]["verdict"]
    assert [one.code for one in findings] == ["seat.unhealthy"]


def test_a_seat_that_a_look_just_found_ready_is_not_asked_again_and_the_others_are() -> None:
    host = FakeHost({"a": ["ready"], "b": ["loading", "ready"]})
    checks = [{"seat": seat, "container": f"c-{seat}"} for seat in host.script]
    first = [host._seen("a"), host._seen("b")]
    seen = wait_until_ready(checks, host.look, print, Waits(), lambda: host.now_s, host.sleep, first)
    assert host.asked == [["b"]]
    assert {look["state"] for look in seen.looks.values()} == {"ready"}
