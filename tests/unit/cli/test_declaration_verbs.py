"""lint, plan and render read declarations, say everything that is wrong with them, and write nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_project import CHAT, STACK, Outcome, write

Command = Callable[..., Outcome]


def restack(project: Path, **changes: Any) -> None:
    """The stack again, with `changes` to its seat."""
    write(project / "stacks" / "chat-seat" / "stack.yml", {**STACK, "seats": {"chat": {**CHAT, **changes}}})


def files(project: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(project.rglob("*")) if path.is_file()}


def test_a_clean_project_lints_fine_from_any_directory_in_it(project: Path, gpu_seats: Command) -> None:
    outcome = gpu_seats("lint")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith("1 host, 1 stack, 2 seats: no findings\n")


def test_lint_exits_1_when_a_deployment_would_be_refused(project: Path, gpu_seats: Command) -> None:
    restack(project, claim={"vram": "120GiB"})
    outcome = gpu_seats("lint", "--json")
    document = json.loads(outcome.out)
    assert outcome.code == 1
    assert document["ok"] is False
    assert "vram.overcommitted" in [found["code"] for found in document["findings"]]


def test_every_problem_of_every_file_is_named_at_once(project: Path, gpu_seats: Command) -> None:
    restack(project, port="80x", gpus=[True])
    outcome = gpu_seats("lint")
    assert outcome.code == 2
    assert outcome.out == ""
    assert "stacks/chat-seat/stack.yml:" in outcome.err
    assert "seats.chat.port" in outcome.err and "seats.chat.gpus" in outcome.err


def test_problems_come_as_json_too(project: Path, gpu_seats: Command) -> None:
    restack(project, port="80x")
    outcome = gpu_seats("lint", "--json")
    (problem,) = json.loads(outcome.out)["problems"]
    assert outcome.code == 2 and outcome.err == ""
    assert (problem["file"], problem["key"]) == ("stacks/chat-seat/stack.yml", "seats.chat.port")


@pytest.mark.parametrize("verb", [["lint"], ["plan"], ["render", "chat-seat"]])
def test_nothing_is_written(project: Path, gpu_seats: Command, verb: list[str]) -> None:
    before = files(project)
    assert gpu_seats(*verb).code == 0
    assert files(project) == before


def test_plan_shows_each_card_and_what_the_seat_takes(project: Path, gpu_seats: Command) -> None:
    outcome = gpu_seats("plan", "--seat", "chat")
    assert outcome.code == 0
    (card,) = [line.split() for line in outcome.out.splitlines() if line.startswith("1 ")]
    assert card[:5] == ["1", "95.6", "0.0", "40.0", "55.0"]
    assert all(len(line) <= 100 for line in outcome.out.splitlines())


def test_plan_refuses_an_over_full_card_with_the_arithmetic(project: Path, gpu_seats: Command) -> None:
    restack(project, claim={"vram": "120GiB"})
    outcome = gpu_seats("plan")
    assert outcome.code == 1
    assert "Refused, nothing is touched" in outcome.out
    assert "97,887" in outcome.out and "122,880" in outcome.out


def test_an_unknown_name_gets_the_nearest_ones(project: Path, gpu_seats: Command) -> None:
    seat = gpu_seats("plan", "--seat", "chet")
    host = gpu_seats("plan", "--host", "box2")
    assert (seat.code, host.code) == (2, 2)
    assert "chat" in seat.err
    assert "did you mean box1?" in host.err


def test_render_prints_a_compose_file_and_the_files_beside_it_without_secrets(
    project: Path, gpu_seats: Command
) -> None:
    outcome = gpu_seats("render", "chat-seat")
    compose = yaml.safe_load(outcome.out)
    (device,) = compose["services"]["chat"]["deploy"]["resources"]["reservations"]["devices"]
    assert outcome.code == 0
    assert device["device_ids"] == ["GPU-00000001-0000-4000-8000-000000000000"]
    assert "# file 0644 /opt/docker/compose/chat-seat/compose.yaml\n" in outcome.out
    assert "# file 0600 /opt/docker/conf/chat-seat/chat.env  secrets: API_KEY\n" in outcome.out


def test_render_json_carries_no_file_contents_but_the_compose_text(project: Path, gpu_seats: Command) -> None:
    document = json.loads(gpu_seats("render", "chat", "--json").out)
    assert document["project"] == "chat-seat"
    assert yaml.safe_load(document["compose_text"])["services"].keys() == {"chat"}
    assert all("content" not in file for file in document["files"])


def test_a_retired_seat_is_refused_with_where_to_go(project: Path, gpu_seats: Command) -> None:
    outcome = gpu_seats("render", "old")
    assert outcome.code == 2
    assert "retire-seat.yml" in outcome.err


def test_outside_a_project_the_error_says_what_a_project_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpu_seats: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = gpu_seats("lint")
    assert outcome.code == 2
    assert "stacks/" in outcome.err and "--root" in outcome.err


def test_root_and_stacks_dir_name_other_places(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, gpu_seats: Command
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    more = {**STACK, "stack": "more-seat", "seats": {"more": {**CHAT, "port": 8011, "gpus": ["0"]}}}
    write(elsewhere / "more" / "more-seat" / "stack.yml", more)
    outcome = gpu_seats("lint", "--root", str(project), "--stacks-dir", str(project / "stacks"), "--stacks-dir", "more")
    assert outcome.code == 0, outcome.err
    assert "2 stacks" in outcome.out


@pytest.mark.parametrize("option", ["--root", "--inventory", "--stacks-dir"])
def test_a_missing_directory_is_named(project: Path, gpu_seats: Command, option: str) -> None:
    outcome = gpu_seats("lint", option, "nowhere")
    assert outcome.code == 2
    assert f"{option} nowhere: there is no such directory" in outcome.err
