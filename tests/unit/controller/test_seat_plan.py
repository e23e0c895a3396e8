"""The task seat_plan: what it refuses, what it hands on, and that nothing is looked at before names are right."""

from __future__ import annotations

import pytest
from controller_cases import CHAT, container, fleet, observed

from gpu_seats.controller.seat_plan import SeatPlanRequest, seat_plan
from gpu_seats.declare.problems import DeclarationError

RETIRED = {**CHAT, "state": "retired", "reason": "replaced", "container_name": "old-chat"}
DORMANT = {**CHAT, "state": "dormant", "port": 8011}


def test_a_wrong_name_is_refused_before_the_host_is_looked_at() -> None:
    def never(_asked: dict) -> dict:
        raise AssertionError("the host was looked at")

    with pytest.raises(DeclarationError, match="chat"):
        seat_plan(fleet(), SeatPlanRequest("box1", "caht"), never)


def test_a_deploy_hands_on_stacks_and_checks_and_is_no_change() -> None:
    result = seat_plan(fleet(), SeatPlanRequest("box1", "chat"), lambda _: observed()).as_result()
    assert (result["failed"], result["changed"]) == (False, False)
    assert [stack["name"] for stack in result["stacks"]] == ["chat-seat"]
    assert [(check["seat"], check["port"]) for check in result["checks"]] == [("chat", 8010)]
    assert "compose" not in result["stacks"][0]


def test_a_refused_deploy_carries_the_reason_and_nothing_to_apply() -> None:
    result = seat_plan(fleet(), SeatPlanRequest("box1", "chat"), lambda _: observed(free_mib=100.0)).as_result()
    assert result["failed"]
    assert "stacks" not in result and "checks" not in result
    assert "100" in result["msg"] and "box1" in result["msg"]


def test_the_host_is_asked_for_the_selected_images_and_cards_only() -> None:
    asked: list[dict] = []
    seats = {"chat": CHAT, "other": {**DORMANT, "image": "registry.test/other:1"}}
    seat_plan(fleet(**seats), SeatPlanRequest("box1", "chat"), lambda question: asked.append(question) or observed())
    assert asked[0]["images"] == ["registry.test/chat:1.0"]
    assert len(asked[0]["gpu_ids"]) == 2


def test_secret_values_never_stand_in_what_is_handed_on() -> None:
    seats = {"chat": {**CHAT, "secrets": ["API_KEY"]}}
    request = SeatPlanRequest("box1", "chat", secrets={"chat-seat": {"API_KEY": "s3cr3t-value"}})
    result = seat_plan(fleet(**seats), request, lambda _: observed()).as_result()
    assert "s3cr3t-value" not in repr(result)
    secret = next(file for file in result["stacks"][0]["files"] if file["secret"])
    assert secret["needs"] == ["API_KEY"] and secret["mode"] == "0600"


def test_only_what_is_declared_retired_can_be_retired() -> None:
    with pytest.raises(DeclarationError, match="retired"):
        seat_plan(fleet(), SeatPlanRequest("box1", "chat", intent="retire"), lambda _: observed())


def test_retiring_names_the_container_that_goes() -> None:
    seats = {"chat": CHAT, "old": RETIRED}
    request = SeatPlanRequest("box1", "old", intent="retire")
    result = seat_plan(fleet(**seats), request, lambda _: observed(container("old-chat"))).as_result()
    assert result["stacks"][0]["services"]["old"] == {
        "digest": "retired",
        "container": "old-chat",
        "run": "absent",
        "seat": None,
        "image": "retired",
    }
    assert result["seats"][0]["container"] == "old-chat"


def test_status_tells_containers_that_should_not_be_there() -> None:
    seats = {"chat": CHAT, "old": RETIRED, "asleep": {**DORMANT, "container_name": "asleep"}}
    request = SeatPlanRequest("box1", "all", intent="status")
    seen = observed(container("old-chat", "exited"), container("asleep"))
    result = seat_plan(fleet(**seats), request, lambda _: seen).as_result()
    codes = {found["subject"]: found["code"] for found in result["findings"] if found["code"].startswith("seat.")}
    assert codes["seat:old"] == "seat.retired_remains"
    assert codes["seat:asleep"] == "seat.dormant_runs"
    assert not result["failed"]


def found(code: str, subject: str) -> dict:
    return {"code": code, "severity": "error", "subject": subject, "message": "m", "evidence": {}, "remedy": "r"}


def test_what_a_deploy_cures_and_then_verifies_is_not_told_as_an_error_of_the_run() -> None:
    """Protects: a seat that was down and now answers does not end with `1 error`; a stranger's fault is still told."""
    before = [found("container.exited", "container:chat"), found("container.exited", "container:stranger")]
    seen = {**observed(container("chat", "exited")), "findings": before}
    for intent in ("deploy", "status"):
        result = seat_plan(fleet(), SeatPlanRequest("box1", "chat", intent=intent), lambda _: seen).as_result()
        subjects = [one["subject"] for one in result["findings"] if one["code"] == "container.exited"]
        assert subjects == ["container:stranger"]


def test_what_the_host_lacks_is_told_once() -> None:
    """Protects: the look's finding and the refusal made of it do not stand below each other as two errors."""
    seen = observed()
    seen = {**seen, "docker": {**seen["docker"], "compose_version": None}}
    seen["findings"] = [found("compose.plugin_missing", "host:docker")]
    result = seat_plan(fleet(), SeatPlanRequest("box1", "chat"), lambda _: seen).as_result()
    assert [one["subject"] for one in result["findings"] if one["code"] == "compose.plugin_missing"] == ["host:box1"]


def test_a_missing_model_is_refused_in_the_plan_and_not_by_docker_afterwards() -> None:
    seats = {"chat": {**CHAT, "model": {"path": "/tank/models/chat"}}}
    asked: list[dict] = []

    def host(question: dict) -> dict:
        asked.append(question)
        return {**observed(), "present": {"/tank/models/chat": False}}

    result = seat_plan(fleet(**seats), SeatPlanRequest("box1", "chat"), host).as_result()
    assert asked[0]["mount_sources"] == ["/tank/models/chat"]
    assert result["failed"] and "/tank/models/chat" in result["msg"]
    assert [one["code"] for one in result["findings"]] == ["compose.mount_source_missing"]


def test_a_path_that_nobody_looked_up_is_not_called_missing() -> None:
    seats = {"chat": {**CHAT, "model": {"path": "/tank/models/chat"}}}
    assert not seat_plan(fleet(**seats), SeatPlanRequest("box1", "chat"), lambda _: observed()).as_result()["failed"]


def test_a_rollback_is_not_refused_for_what_is_declared_now() -> None:
    request = SeatPlanRequest("box1", "chat", rollback=True)
    result = seat_plan(fleet(), request, lambda _: observed(free_mib=100.0)).as_result()
    assert not result["failed"] and [stack["name"] for stack in result["stacks"]] == ["chat-seat"]


def test_status_names_containers_of_stacks_that_were_deleted() -> None:
    left = {**container("my-embed"), "labels": {"gpu-seats.stack": "my-embed-seat"}}
    request = SeatPlanRequest("box1", "all", intent="status")
    result = seat_plan(fleet(), request, lambda _: observed(left)).as_result()
    (told,) = [one for one in result["findings"] if one["code"] == "seat.undeclared"]
    assert "my-embed-seat" in told["message"]


def test_a_seat_that_is_down_as_declared_is_no_error_of_any_run() -> None:
    """Protects: a dormant seat that a deploy stopped fails no status; an on-demand seat that crashed is still told."""
    idle = {**CHAT, "state": "on_demand", "port": 8012, "container_name": "idle", "reason": "rarely"}
    seats = {"chat": CHAT, "asleep": {**DORMANT, "container_name": "asleep"}, "idle": idle}
    ended = [found("container.exited", "container:asleep"), found("container.exited", "container:idle")]
    stale = {**found("container.health_stale", "container:idle"), "severity": "info"}
    seen = {**observed(container("asleep", "exited"), container("idle", "exited")), "findings": [*ended, stale]}
    for intent in ("deploy", "status"):
        result = seat_plan(fleet(**seats), SeatPlanRequest("box1", "chat", intent=intent), lambda _: seen).as_result()
        told = [(one["code"], one["subject"]) for one in result["findings"] if one["code"].startswith("container.")]
        assert told == [("container.exited", "container:idle")]
    running = {**observed(container("asleep")), "findings": [found("container.unhealthy", "container:asleep")]}
    result = seat_plan(fleet(**seats), SeatPlanRequest("box1", "chat"), lambda _: running).as_result()
    assert "container:asleep" in [one["subject"] for one in result["findings"]]


def test_status_of_an_on_demand_seat_that_is_down_asks_nothing_of_it() -> None:
    """Protects: naming it in a status is no wish to have it up; in a deploy it is."""
    seats = {"idle": {**CHAT, "state": "on_demand", "container_name": "idle", "reason": "rarely"}}
    seen = observed(container("idle", "exited"))
    asked = {}
    for intent in ("deploy", "status"):
        result = seat_plan(fleet(**seats), SeatPlanRequest("box1", "idle", intent=intent), lambda _: seen).as_result()
        asked[intent] = [check["seat"] for check in result["checks"]]
    assert asked == {"deploy": ["idle"], "status": []}
    assert result["seats"][0]["standing"] == "down, on demand"
