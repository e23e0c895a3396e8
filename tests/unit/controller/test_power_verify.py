"""Protects: a cap counts as held only when a look made after it was set shows it, whatever the setting said."""

from __future__ import annotations

from dataclasses import replace

import pytest
from controller_cases import fleet as seat_fleet
from controller_cases import observed
from power_cases import SET, UNITS, UNITS_FINE, applied, card, look, power_fleet, power_host

from gpu_seats.controller.power_state import cap_findings, observed_limits, power_findings
from gpu_seats.controller.power_verify import planned_caps, unit_findings, verified_caps
from gpu_seats.controller.seat_plan import SeatPlanRequest, seat_plan
from gpu_seats.findings import finding


def codes(found) -> list[tuple[str, str]]:
    return [(one.code, one.subject) for one in found]


def test_caps_that_hold() -> None:
    verified = verified_caps(power_host(), SET, look(card("0", 275.0), card("1", 260.0)), UNITS)
    assert verified.ok and verified.findings == [] and verified.summary == "every cap holds"
    assert [row["verdict"] for row in verified.rows] == ["set, was 300 W", "holds"]
    assert verified.limits == {"0": 275.0, "1": 260.0}


def test_a_setting_that_says_done_and_changed_nothing_fails() -> None:
    verified = verified_caps(power_host(), SET, look(card("0", 300.0), card("1", 260.0)), UNITS)
    assert not verified.ok
    assert codes(verified.findings) == [("power.cap_lost", "host:box1/gpu:0")]
    assert verified.rows[0]["ok"] is False and verified.rows[0]["verdict"] == "NOT held (power.cap_lost)"
    assert verified.rows[1]["ok"] is True


def test_a_card_that_is_not_seen_any_more_is_no_held_cap() -> None:
    refused = {"cards": [applied("0", None, 275.0, ok=False, reason="GPU is lost")], "findings": []}
    lost = finding("gpu.lost", "gpu:00000000:01:00.0", "GPU is lost").as_dict()
    verified = verified_caps(power_host(), refused, look(card("1", 260.0), findings=[lost]), UNITS)
    assert codes(verified.findings) == [
        ("gpu.lost", "host:box1/gpu:0"),
        ("power.card_not_capped", "host:box1/gpu:0"),
    ]
    assert "GPU is lost" in verified.findings[1].message and "275 W" in verified.findings[1].message
    assert (verified.rows[0]["limit_watts"], verified.rows[0]["ok"]) == (None, False)


def test_a_limit_without_a_value_is_unreadable_and_never_zero() -> None:
    verified = verified_caps(power_host(), SET, look(card("0", None), card("1", 260.0)), UNITS)
    assert codes(verified.findings) == [("power.cap_unreadable", "host:box1/gpu:0")]
    assert "[N/A]" in verified.findings[0].message
    assert verified.limits == {"1": 260.0}


def test_a_card_with_another_error_is_not_said_to_have_lost_its_cap() -> None:
    error = finding("gpu.handle_error", "gpu:00000000:01:00.0", "its power draw can't be read").as_dict()
    verified = verified_caps(power_host(), SET, look(card("0", 275.0), card("1", 260.0), findings=[error]), UNITS)
    assert not verified.ok
    assert verified.rows[0]["verdict"] == "holds, and the card has errors (gpu.handle_error)"


def test_a_lower_limit_is_told_and_does_not_fail() -> None:
    (found,) = cap_findings(power_host(), [card("0", 250.0), card("1", 260.0)])
    assert (found.code, found.severity) == ("power.cap_lost", "warning")
    # the driver enforces less while another limit of the board is lower
    assert cap_findings(power_host(), [card("0", 250.0, power_limit_watts=275.0), card("1", 260.0)]) == []


def test_swapped_indices_change_nothing() -> None:
    cards = [{**card("1", 260.0), "index": 0}, {**card("0", 275.0), "index": 1}]
    assert cap_findings(power_host(), cards) == []
    assert observed_limits(power_host(), cards) == {"0": 275.0, "1": 260.0}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"load": "not-found", "enabled": ""}, "systemd.unit_missing"),
        ({"enabled": "disabled"}, "systemd.unit_not_enabled"),
        ({"active": "inactive"}, "systemd.unit_not_started"),
        ({"needs_reload": True}, "systemd.reload_pending"),
        ({"result": "exit-code"}, "systemd.unit_failed"),
        ({"load": "masked", "enabled": "masked", "active": "inactive"}, "systemd.unit_masked"),
    ],
)
def test_a_unit_that_would_not_bring_caps_back_is_a_finding(change: dict, code: str) -> None:
    states = {**UNITS_FINE, "watch.timer": {**UNITS_FINE["watch.timer"], **change}}
    assert [one.code for one in unit_findings(states, UNITS)] == [code]
    verified = verified_caps(power_host(), SET, look(card("0", 275.0), card("1", 260.0), units=states), UNITS)
    assert codes(verified.findings) == [(code, "host:box1/unit:watch.timer")]


def test_a_unit_that_is_turned_off_is_not_missed() -> None:
    off = [{"name": "watch.timer", "enabled": False, "started": False}]
    gone = {"watch.timer": {**UNITS_FINE["watch.timer"], "load": "not-found", "active": "inactive", "enabled": ""}}
    assert unit_findings(gone, off) == []
    masked = {"watch.timer": {**UNITS_FINE["watch.timer"], "load": "masked", "active": "inactive", "enabled": "masked"}}
    assert unit_findings(masked, off) == []


def test_check_mode_says_what_would_be_set_and_judges_refusals() -> None:
    refused = finding("power.cap_below_min", "gpu:1", "too low").as_dict()
    cards = [
        applied("0", 300.0, 275.0, ok=False, after_watts=300.0),
        applied("1", 300.0, 100.0, changed=False, ok=False, reason="too low"),
    ]
    planned = planned_caps(power_host(), {"cards": cards, "findings": [refused]})
    assert [(row["verdict"], row["ok"]) for row in planned.rows] == [("would be set", None), ("too low", False)]
    assert codes(planned.findings) == [("power.cap_below_min", "host:box1/gpu:1")] and not planned.ok
    assert planned_caps(power_host(), {"cards": cards[:1], "findings": []}).ok


def test_a_status_tells_lost_caps_and_the_device_that_they_overload() -> None:
    fleet = power_fleet()
    assert power_findings(fleet, "box1", [card("0", 275.0), card("1", 260.0)]) == []
    found = power_findings(fleet, "box1", [card("0", 325.0), card("1", 325.0)])
    assert [one.code for one in found if one.code == "power.cap_lost"] == ["power.cap_lost"] * 2
    (over,) = [one for one in found if one.code != "power.cap_lost"]
    assert over.code == "power.over_continuous" and "b1" in over.subject  # 400 + 2 x 325 W of 960 W
    assert power_findings(fleet, "box1", None) == []


def test_the_status_of_a_host_carries_them_and_a_deploy_does_not() -> None:
    shown = {**observed(), "gpus": {"cards": [card("0", 300.0), card("1", 260.0)], "processes": []}}
    fleet = replace(power_fleet(), stacks=seat_fleet().stacks)
    told = {
        intent: [
            one.code
            for one in seat_plan(fleet, SeatPlanRequest("box1", "chat", intent), lambda _: shown).findings
            if one.code == "power.cap_lost"
        ]
        for intent in ("status", "deploy")
    }
    assert told == {"status": ["power.cap_lost"], "deploy": []}
