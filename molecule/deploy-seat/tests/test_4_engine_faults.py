"""Engines that fail while they load or serve: six seats, each with another fault, in one run with small time limits."""

from __future__ import annotations

import re

import pytest
from outside.plays import Run, deploy

# seat -> its stack, the simulated fault, its time limit for loading
FAULTS = {
    "gen": ("gen-seat", "crash_in_load", "20s"),
    "coder": ("coder", "out_of_memory", "20s"),
    "erp": ("erp-seat", "wrong_model_name", "20s"),
    "meromero": ("meromero-rp", "hangs", "10s"),
    "char-rp-reasoning": ("charrp-reasoning", "slow_load --seconds 120", "10s"),
    "flash-next": ("flash-next-seat", "slow_load --seconds 20", "60s"),
}
NEW = [seat for seat in FAULTS if seat != "flash-next"]


@pytest.fixture(scope="module")
def failing(lab, new_copy):
    """The deploy of all of them; the seats that only this module needs are taken away afterwards."""
    project = new_copy()
    for seat, (stack, fault, load) in FAULTS.items():
        limits = {"load": load, "health": "3s", "completion": "4s"}
        project.declare(stack, seat, timeouts=limits)
        lab.sh(f"gpu-sim engine-fault {seat} {fault}")
    project.declare("flash-next-seat", "flash-next", labels={"tier": "gold"})
    try:
        yield deploy(",".join(FAULTS), project=project.root)
    finally:
        lab.clear_faults()
        folders = " ".join(f"/opt/docker/compose/{FAULTS[seat][0]}" for seat in NEW)
        lab.sh(
            "docker ps --all --quiet --filter label=gpu-seats.seat | while read id; do docker inspect --format "
            "'{{index .Config.Labels \"gpu-seats.seat\"}} {{.Id}}' $id; done "
            f"| grep -E '^({'|'.join(NEW)}) ' | cut -d' ' -f2 | xargs -r docker rm --force; rm -rf {folders}"
        )


def last_good(lab, seat: str) -> str:
    """What is kept of the seat's stack for a rollback; empty for nothing."""
    return lab.sh(f"ls -A /opt/docker/compose/{FAULTS[seat][0]}/.last-good", ok=False)


def test_a_crash_in_load_is_told_by_its_root_cause_and_not_by_the_last_line(failing: Run):
    """Protects: "Engine core initialization failed" ends every vLLM crash and explains none."""
    assert failing.rc != 0
    told = [one for one in failing.findings if one.subject == "seat:gen" and one.code.startswith("engine.")]
    assert told, failing.out
    shown = told[0]
    assert "w13_weight_scale_2" in shown.message
    assert shown.severity == "error" and shown.remedy
    assert "w13_weight_scale_2" in failing.verdict("gen")
    assert "Engine core initialization failed" not in failing.verdict("gen")


def test_out_of_memory_is_told_with_its_figures(failing: Run):
    shown = failing.finding("engine.out_of_memory", "seat:coder")
    assert "2.37 GiB wanted, 1.21 GiB of 94.97 GiB free" in shown.message
    assert shown.severity == "error" and shown.remedy
    assert failing.verdict("coder").startswith("failed")


def test_an_engine_that_serves_another_model_is_not_ready(failing: Run):
    """Protects: healthy and answering is no success while clients ask for another name."""
    assert "serves another-model, erp is declared" in failing.finding("seat.wrong_model_name", "seat:erp").message


def test_an_engine_that_hangs_is_ended_by_its_time_limit(failing: Run):
    """Protects: the run itself never hangs; the port is open and nothing comes back."""
    shown = failing.finding("seat.hangs", "seat:meromero")
    assert "took the connection, said nothing" in shown.message and shown.remedy


def test_a_load_past_its_limit_fails_with_the_limit(failing: Run):
    assert "limit 10 s" in failing.finding("seat.load_timeout", "seat:char-rp-reasoning").message


def test_a_slow_load_is_awaited_and_others_that_fail_do_not_fail_it(failing: Run):
    """Protects: no failure before the limit."""
    waited = re.search(r"^answers as qwen3.8-flash-next after (\d+) s", failing.verdict("flash-next"))
    assert waited and int(waited[1]) >= 20


def test_lines_say_who_is_awaited_how_long_and_how_far_it_is(failing: Run):
    """Protects: no minutes of silence while a model loads."""
    lines = re.findall(r"^char-rp-reasoning +(\d+) s  (.+)$", failing.out, re.MULTILINE)
    seconds = [int(waited) for waited, _ in lines]
    assert len(lines) >= 2 and seconds == sorted(seconds), failing.out
    # on a slow machine some lines come before the weights, so one that tells how far they are is enough
    assert any(re.fullmatch(r"loading weights \d/4 \(engine log\)", awaited) for _, awaited in lines), failing.out


def test_what_failed_is_not_kept_for_a_rollback(lab, failing: Run):
    """Protects: a rollback never leads to a deploy that did not answer."""
    for seat in NEW:
        assert last_good(lab, seat) == ""


def test_once_the_causes_are_gone_a_normal_deploy_heals_every_seat(lab, failing: Run):
    lab.clear_faults()
    healed = deploy(",".join(FAULTS))
    assert healed.rc == 0, healed.out
    assert healed.findings == []
    for seat in FAULTS:
        assert healed.verdict(seat).startswith("answers as ")
        assert last_good(lab, seat) != ""
