"""The verbs beside deploy: status looks and touches nothing, retire takes away only what is declared retired."""

from __future__ import annotations

import json

import pytest
from outside.plays import deployed, run_playbook

GEN = "/opt/docker/compose/gen-seat"


@pytest.fixture(scope="module")
def gen(lab):
    """A third seat that stands, and is gone at the end."""
    deployed("gen")
    yield
    lab.sh(f"docker rm --force vllm-gen; rm -rf {GEN} /opt/docker/compose/.retired", ok=False)


def retired(project, seat: str = "gen", stack: str = "gen-seat") -> None:
    """Declares it so."""
    project.declare(stack, seat, state="retired", reason="Replaced", gateway=None)


def test_status_of_what_stands_is_green_and_touches_nothing(gen, untouched, tmp_path):
    with untouched():
        run = run_playbook(
            "playbooks/status.yml", "-e", "seat=flash-next,gen,smol", "-e", f"json={tmp_path}/s.json",
            "-e", f"prometheus={tmp_path}/s.prom",
        )  # fmt: skip
    assert run.rc == 0, run.out
    for seat in ("flash-next", "gen", "smol"):
        assert run.verdict(seat).startswith("answers as ")
    told = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert {row["seat"]: row["ok"] for row in told["seats"]} == {"flash-next": True, "gen": True, "smol": True}
    assert "flash-next" in (tmp_path / "s.prom").read_text(encoding="utf-8")


def test_status_finds_what_runs_against_its_declaration(gen, scratch, untouched):
    """Protects: a dormant seat that holds its card, and a retired one that nobody removed, are told and left alone."""
    scratch.declare("gen-seat", "gen", state="dormant")
    retired(scratch, "smol", "smol-seat")
    with untouched():
        run = run_playbook("playbooks/status.yml", "-e", "seat=gen,smol", project=scratch.root)
    assert run.finding("seat.dormant_runs", "seat:gen").remedy
    assert "playbooks/retire-seat.yml" in run.finding("seat.retired_remains", "seat:smol").remedy
    assert run.verdict("gen") == "runs although dormant"
    assert run.verdict("smol") == "still there although retired"


def test_deploying_a_dormant_seat_by_name_stops_it_and_says_so(gen, lab, scratch):
    scratch.declare("gen-seat", "gen", state="dormant")
    run = deployed("gen", project=scratch.root)
    assert lab.containers()["vllm-gen"] == "exited"
    assert not lab.listens(8015)
    assert "dormant" in run.verdict("gen")
    deployed("gen")
    assert lab.containers()["vllm-gen"] == "running"


def test_retire_refuses_a_seat_that_serves(gen, untouched):
    with untouched():
        run = run_playbook("playbooks/retire-seat.yml", "-e", "seat=gen")
    assert run.rc != 0
    run.says("gen.state", "is not retired, so nothing of it is taken away", "set its state to retired with a reason")


def test_retire_in_check_mode_takes_nothing_away(gen, scratch, untouched):
    retired(scratch)
    with untouched():
        run = run_playbook("playbooks/retire-seat.yml", "-e", "seat=gen", "--check", "--diff", project=scratch.root)
    assert run.rc == 0, run.out
    assert "would remove" in run.verdict("gen")


def test_retire_removes_the_container_and_archives_the_files(gen, lab, scratch):
    """Protects: port and memory are free, the Compose file can be read later, model files and other seats stay."""
    retired(scratch)
    neighbours = {name: lab.id(name) for name in ("flash-next", "smol")}
    compose = lab.sh(f"cat {GEN}/compose.yaml")
    model = lab.inspect("vllm-gen")["HostConfig"]["Mounts"][0]["Source"] if lab.inspect("vllm-gen")["HostConfig"].get(
        "Mounts") else "/tank/aimodels/qwen3.8-27b-uncensored-nvfp4"  # fmt: skip
    run = run_playbook("playbooks/retire-seat.yml", "-e", "seat=gen", project=scratch.root)
    assert run.rc == 0, run.out
    assert run.verdict("gen").startswith("container is gone")
    assert "vllm-gen" not in lab.containers()
    assert not lab.listens(8015)
    assert lab.card_used_mib("GPU-5e7a0000-c0de-4000-8000-000000000000") < 2000
    assert lab.sh("cat /opt/docker/compose/.retired/gen-seat-*/compose.yaml") == compose
    assert lab.sh(f"ls -d {GEN}", ok=False) == ""
    assert lab.sh(f"ls {model}") != ""
    assert {name: lab.id(name) for name in neighbours} == neighbours
    again = run_playbook("playbooks/retire-seat.yml", "-e", "seat=gen", project=scratch.root)
    assert (again.rc, again.changed) == (0, 0), again.out
