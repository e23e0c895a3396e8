"""The table that every run ends with, whatever happened to its tasks."""

from __future__ import annotations

from controller_cases import fleet, observed

from gpu_seats.controller.closing_table import ClosingTable, joined_findings
from gpu_seats.controller.seat_plan import SeatPlanRequest, seat_plan
from gpu_seats.findings import finding

ENTRY = {"name": "chat-seat", "actions": [{"service": "chat", "container": "chat", "action": "recreate", "why": "x"}]}


def plan_result(**more: object) -> dict:
    return {**seat_plan(fleet(), SeatPlanRequest("box1", "chat"), lambda _: observed()).as_result(), **more}


def table(*results: tuple[str, dict]) -> str:
    gathered = ClosingTable()
    for action, result in results:
        gathered.task_result("box1", action, result)
    return gathered.text()


def test_a_run_without_our_tasks_prints_nothing() -> None:
    assert table(("ping", {"ping": "pong"})) == ""


def test_a_verified_seat_shows_its_verdict() -> None:
    ready = {"seats": [{"seat": "chat", "ok": True, "verdict": "answers as chat after 3 s"}], "findings": []}
    text = table(("seat_plan", plan_result()), ("compose_stacks", {"stacks": []}), ("seat_ready", ready))
    assert "answers as chat after 3 s" in text
    assert "VRAM claimed" not in text


def test_check_mode_shows_the_plan_and_what_would_happen() -> None:
    text = table(("seat_plan", plan_result(check_mode=True)), ("compose_stacks", {"stacks": [ENTRY]}))
    assert "VRAM claimed" in text
    assert "would recreate: x" in text


def test_a_failed_apply_is_never_shown_as_fine() -> None:
    text = table(("seat_plan", plan_result()), ("compose_stacks", {"stacks": [ENTRY], "failed": True}))
    assert "failed to recreate" in text


def test_a_seat_that_was_stopped_is_not_shown_as_it_stood_before() -> None:
    stopped = {
        "name": "chat-seat",
        "actions": [{**ENTRY["actions"][0], "action": "stop", "why": "is declared dormant"}],
    }
    plan = plan_result()
    plan["seats"][0]["standing"] = "runs although dormant"
    text = table(("seat_plan", plan), ("compose_stacks", {"stacks": [stopped]}))
    assert "stop: is declared dormant" in text and "runs although dormant" not in text


def test_a_host_that_could_not_be_reached_is_a_finding_with_the_connections_words() -> None:
    gathered = ClosingTable()
    gathered.host_unreachable("box1", "Connection timed out")
    text = gathered.text()
    assert "host.unreachable" in text and "Connection timed out" in text


def test_keeping_the_last_good_files_does_not_replace_what_apply_did() -> None:
    text = table(
        ("seat_plan", plan_result(check_mode=True)),
        ("compose_stacks", {"stacks": [ENTRY]}),
        ("compose_stacks", {"stacks": []}),
    )
    assert "would recreate: x" in text


def test_what_was_seen_of_a_container_is_told_once_and_of_its_seat() -> None:
    plan = plan_result()
    plan["findings"] = [finding("port.unpublished", "container:chat", "8010 is not published").as_dict()]
    ports = {"findings": [finding("port.unpublished", "seat:chat", "port 8010 is not published by chat").as_dict()]}
    (told,) = joined_findings({"seat_plan": plan, "published_ports": ports})
    assert told.subject == "seat:chat" and "by chat" in told.message


def test_a_deploy_that_did_not_come_up_says_where_to_look_and_the_way_back() -> None:
    ready = {"seats": [{"seat": "chat", "ok": False, "verdict": "failed"}], "findings": []}
    kept = {"stacks": [{**ENTRY, "kept": True}]}
    text = table(("seat_plan", plan_result()), ("compose_stacks", kept), ("seat_ready", ready))
    assert "docker logs --tail 100 chat" in text and "-e seat=chat -e rollback=true" in text
    first = table(("seat_plan", plan_result()), ("compose_stacks", {"stacks": [ENTRY]}), ("seat_ready", ready))
    assert "docker logs" in first and "rollback" not in first


def test_a_power_run_that_broke_off_still_tells_what_its_tasks_found() -> None:
    lost = finding("gpu.container_lost_device", "container:chat", "chat has lost its GPUs").as_dict()
    text = table(("systemd_units", {"findings": []}), ("systemd_reload", {"findings": [lost], "failed": True}))
    assert "host:box1/container:chat" in text and "chat has lost its GPUs" in text


def test_a_second_run_of_a_task_of_power_is_kept_where_it_failed() -> None:
    failed = finding("systemd.unit_failed", "unit:watch.timer", "did not start").as_dict()
    second = {"findings": [failed], "failed": True}
    assert "did not start" in table(("systemd_units", {"findings": []}), ("systemd_units", second))


def test_a_task_of_power_that_broke_off_is_the_verdict_and_no_calm_tree() -> None:
    """Protects: a run that stopped half-way ends with an error, not with the warnings that were known before."""
    broken = {"failed": True, "msg": "No space left on device\nTraceback and so on"}
    text = table(("site_power", {"findings": []}), ("gpu_power_limit", broken))
    assert "1 error" in text and "host.step_failed" in text and "Traceback" not in text
    assert "gpu_power_limit could not be done: No space left on device" in text


def test_what_was_printed_on_the_host_instead_of_an_answer_is_told() -> None:
    """Protects: a host without sudo says so, and not only that the module's answer has no JSON."""
    broken = {"failed": True, "msg": "No start of json char found", "module_stderr": "x\n/bin/sh: 1: sudo: not found\n"}
    text = table(("systemd_units", broken))
    assert "No start of json char found: /bin/sh: 1: sudo: not found" in " ".join(text.split())


def test_a_task_that_failed_by_its_own_findings_is_told_by_them_alone() -> None:
    lost = finding("gpu.container_lost_device", "container:chat", "chat has lost its GPUs").as_dict()
    text = table(("systemd_reload", {"findings": [lost], "failed": True, "msg": "chat has lost its GPUs"}))
    assert "1 error" in text and "host.step_failed" not in text
