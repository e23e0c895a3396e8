"""A cap that got lost: told by check mode and status; set again by the run, each minute, and at a boot."""

from __future__ import annotations

import json
from typing import Any

import pytest
from outside.caps import CAPPED, CAPS_UNIT, METRICS, STOCK, TIMER, look_now
from outside.lab_host import CARDS
from outside.plays import CARDS_ONLY, power, run_playbook

HOOKS = "/etc/gpu-seats/alert-hooks.d"
TOLD = "/tmp/told.jsonl"  # the look is confined, and its hooks with it
DRIFTED = {**CAPPED, "2": "300.00"}


@pytest.fixture
def drifted(lab, nobody_watches) -> None:
    """Somebody set card 2 to its stock limit by hand."""
    lab.sh(f"nvidia-smi -i {CARDS['2']} -pl 300")
    assert lab.limits() == DRIFTED


def test_check_mode_says_which_card_would_be_set_and_sets_none(lab, drifted, power_untouched):
    with power_untouched():
        run = power("--check", "--diff", *CARDS_ONLY)
    assert run.rc == 0, run.out
    run.says(f"-card 2 {CARDS['2']}: 300 W +card 2 {CARDS['2']}: 275 W")
    assert run.card("2") == ("275 W", "300 W", run.card("2")[2], "would be set")
    assert run.card("1")[3] == "holds"
    assert lab.limits() == DRIFTED


def test_status_tells_the_lost_cap_and_touches_nothing(lab, seat, drifted, power_untouched, tmp_path):
    """Protects: a seat that answers on a card above its cap is not the whole truth; metrics carry the finding."""
    prometheus = tmp_path / "s.prom"
    with power_untouched():
        run = run_playbook("playbooks/status.yml", "-e", f"seat={seat}", "-e", f"prometheus={prometheus}")
    assert run.rc != 0
    shown = run.finding("power.cap_lost", "host:fv-ml1/gpu:2")
    assert "card 2 of fv-ml1 may draw 300 W, and its cap is 275 W" in shown.message and shown.remedy
    assert run.verdict(seat).startswith("answers as ")
    findings = [line for line in prometheus.read_text(encoding="utf-8").splitlines() if "power.cap_lost" in line]
    assert len(findings) == 1 and 'subject="host:fv-ml1/gpu:2"' in findings[0]


def test_the_run_sets_the_one_card_and_starts_the_timer_again(lab, drifted):
    run = power(*CARDS_ONLY)
    assert run.rc == 0, run.out
    assert lab.limits() == CAPPED
    assert run.card("2")[3] == "set, was 300 W" and run.card("3")[3] == "holds"
    assert lab.sh(f"systemctl is-active {TIMER}") == "active"


@pytest.fixture
def hook(lab):
    """A program of the alert hooks that keeps what it is told."""
    lab.sh(
        f"install -d {HOOKS}; printf '#!/bin/sh\\ncat >>{TOLD}\\n' >{HOOKS}/keep; chmod 755 {HOOKS}/keep; rm -f {TOLD}"
    )
    yield
    lab.sh(f"rm -rf {HOOKS} {TOLD}")


def told(lab) -> list[dict[str, Any]]:
    """What the hook was told, oldest first."""
    return [json.loads(line) for line in lab.sh(f"cat {TOLD}", ok=False).splitlines()]


def test_a_reload_of_the_driver_is_noticed_told_and_put_right(lab, nobody_watches, hook):
    """Protects: caps that a driver reload took come back within the minute, and somebody is told once."""
    look_now(lab)
    assert told(lab) == []
    lab.sh("gpu-sim reset-limits")
    assert lab.limits() == STOCK
    look_now(lab)
    assert lab.limits() == CAPPED
    [alert] = told(lab)
    lost = [(one["code"], one["subject"]) for one in alert["new"]]
    assert sorted(lost) == [("power.cap_lost", f"gpu:{card}") for card in CARDS]
    assert alert["host"] == "fv-ml1" and alert["cleared"] == []
    assert lab.sh(f"grep -c power.cap_lost {METRICS}") == "4"
    look_now(lab)
    look_now(lab)
    [_, cleared] = told(lab)
    assert cleared["new"] == [] and cleared["findings"] == []
    assert [(one["code"], one["subject"]) for one in cleared["cleared"]] == lost
    assert lab.sh(f"grep -c gpu_seats_finding{{ {METRICS}", ok=False) == "0"


def test_a_limit_that_does_not_last_is_told_although_it_read_back_well(lab, nobody_watches):
    """Protects: the read-back sees the cap held, and the card drops it seconds later."""
    lab.sh("gpu-sim fault limit-drifts 1 --value 5; gpu-sim reset-limits")
    look_now(lab)
    assert lab.sh(f"grep 'power_cap_held.*card=\"1\"' {METRICS}").endswith(" 1")
    lab.wait("the limit is gone", lambda: lab.limit("1") == "300.00")
    look_now(lab)
    found = [line for line in lab.sh(f"grep power.cap_lost {METRICS}").splitlines() if 'subject="gpu:1"' in line]
    assert len(found) == 1
    lab.clear_faults()
    look_now(lab)
    assert lab.limits() == CAPPED


@pytest.fixture(scope="module")
def rebooted(lab, seat) -> None:
    """The host shut down and booted again, as after a power cut."""
    before = lab.sh("cat /proc/sys/kernel/random/boot_id")
    lab.reboot()
    assert lab.sh("cat /proc/sys/kernel/random/boot_id") != before


def test_a_reboot_takes_the_caps_and_they_are_back_before_docker_starts_a_seat(lab, seat, rebooted):
    """Protects: no seat ever loads a card that runs at its stock limit, by the times that systemd and Docker kept."""
    caps = lab.unit(CAPS_UNIT, "Result", "ExecMainExitTimestampMonotonic")
    persistence = lab.unit("nvidia-persistenced.service", "ActiveEnterTimestampMonotonic")
    docker = lab.unit("docker.service", "ExecMainStartTimestampMonotonic", "ActiveState")
    assert (caps["Result"], docker["ActiveState"]) == ("success", "active")
    assert 0 < int(persistence["ActiveEnterTimestampMonotonic"]) < int(caps["ExecMainExitTimestampMonotonic"])
    assert int(caps["ExecMainExitTimestampMonotonic"]) < int(docker["ExecMainStartTimestampMonotonic"])
    held_s = lab.sh(f'date +%s -d "$(systemctl show -P ExecMainExitTimestamp {CAPS_UNIT})"')
    started_s = lab.sh(f"date +%s -d $(docker inspect --format '{{{{.State.StartedAt}}}}' {seat})")
    assert int(held_s) <= int(started_s)
    assert lab.limits() == CAPPED


def test_the_journal_says_what_the_boot_found(lab, rebooted):
    """Protects: limits at stock after a boot are what every boot does, and no alarm."""
    said = lab.sh(f"journalctl --boot --no-pager --output cat --unit {CAPS_UNIT}")
    for card, uuid in CARDS.items():
        assert f"card {card} {uuid}: set from 300 W to 275 W" in said
    assert "power.cap_lost" not in said
    state = json.loads(lab.sh("cat /var/lib/gpu-seats/power/caps.json"))
    assert state["boot"] == lab.sh("cat /proc/sys/kernel/random/boot_id")
    assert state["held"] is True and state["findings"] == []


def test_the_seat_serves_after_the_reboot(lab, seat, rebooted):
    lab.wait("the seat answers", lambda: lab.get(8022, "/health") == "200", 60)
    assert lab.sh(f"systemctl is-active {TIMER}") == "active"
