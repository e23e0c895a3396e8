"""A retired seat is gone when a new look sees nothing of it."""

from __future__ import annotations

from controller_cases import container, observed

from gpu_seats.controller.departure import departures

SEAT = {"seat": "old", "container": "old-chat", "port": "8011"}


def test_nothing_left_is_gone_and_says_that_the_port_is_free() -> None:
    rows, findings = departures([SEAT], observed())
    assert rows == [{"seat": "old", "ok": True, "verdict": "container is gone, port 8011 is free"}]
    assert findings == []


def test_a_stopped_container_is_still_there() -> None:
    rows, findings = departures([SEAT], observed(container("old-chat", "exited")))
    assert not rows[0]["ok"]
    assert [one.code for one in findings] == ["seat.retired_remains"]


def test_a_listener_on_its_port_is_told() -> None:
    seen = {**observed(), "listeners": [{"port": 8011, "protocol": "tcp", "address": "0.0.0.0"}]}
    rows, findings = departures([SEAT], seen)
    assert not rows[0]["ok"] and findings[0].code == "port.still_held"


def test_a_silent_docker_never_counts_as_gone() -> None:
    seen = {**observed(), "docker": {"available": False, "containers": None}}
    rows, findings = departures([SEAT], seen)
    assert not rows[0]["ok"] and "not known" in findings[0].message
