"""A reload of systemd takes the GPUs from running containers: the one handler looks into each and gives them back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from outside.caps import CAPS_UNIT
from outside.lab_host import CARDS
from outside.plays import CARDS_ONLY, Run, power

UNIT_FILE = f"/etc/systemd/system/{CAPS_UNIT}"
LOST = "gpu.container_lost_device"
# whatever is done to it, nvidia-smi inside fails
STUBBORN = (
    "mkdir -p /root/broken; printf '#!/bin/sh\\necho Failed to initialize NVML: Unknown Error\\nexit 255\\n' "
    ">/root/broken/nvidia-smi; chmod 755 /root/broken/nvidia-smi;"
    f"docker run --quiet --detach --init --name stubborn --gpus '\"device={CARDS['3']}\"' "
    "--volume /root/broken:/broken:ro --env PATH=/broken:/usr/bin:/bin --entrypoint sleep "
    "vllm/vllm-openai:v0.29.1rc0 600"
)


@pytest.fixture
def reload_due(lab, seat) -> Iterator[str]:
    """A unit file that somebody edited, on a host where a reload takes the GPUs; the seat's start before it."""
    lab.wait("the seat answers", lambda: lab.get(8022, "/health") == "200", 60)
    lab.sh("gpu-sim fault daemon-reload-loses-gpus")
    lab.sh(f"echo '# edited by hand' >>{UNIT_FILE}")
    yield started(lab, seat)
    lab.clear_faults()


def started(lab, container: str) -> str:
    return str(lab.inspect(container)["State"]["StartedAt"])


def told_of(run: Run, container: str) -> list[str]:
    """Severities of what is told of its lost GPUs."""
    subject = f"host:fv-ml1/container:{container}"
    return [one.severity for one in run.findings if (one.code, one.subject) == (LOST, subject)]


def test_check_mode_says_that_it_would_reload_and_does_not(lab, seat, reload_due: str, power_untouched):
    with power_untouched():
        run = power("--check", "--diff", *CARDS_ONLY)
    assert run.rc == 0, run.out
    run.says("-# edited by hand", "Reload systemd and check the GPUs of containers] *** changed")
    assert started(lab, seat) == reload_due
    assert CARDS["2"] in lab.sh(f"docker exec {seat} nvidia-smi -L")


def test_a_container_that_lost_its_gpus_is_restarted_and_told(lab, seat, reload_due: str):
    """Protects: the run that needs a reload is the run that repairs what it does. Health checks stay green."""
    run = power(*CARDS_ONLY)
    assert run.rc == 0, run.out
    run.says("RUNNING HANDLER [systemd_reload : Reload systemd and check the GPUs of containers]")
    assert told_of(run, seat) == ["warning"]
    assert "was restarted and sees 1 card(s) again" in run.finding(LOST).message
    assert started(lab, seat) != reload_due
    assert CARDS["2"] in lab.sh(f"docker exec {seat} nvidia-smi -L")
    assert "edited by hand" not in lab.sh(f"cat {UNIT_FILE}")
    lab.wait("the seat answers again", lambda: lab.get(8022, "/health") == "200", 60)


def test_a_container_that_stays_broken_fails_the_run_and_keeps_no_other_from_its_repair(lab, seat, reload_due: str):
    lab.sh(STUBBORN)
    try:
        run = power(*CARDS_ONLY)
        later = power(*CARDS_ONLY)
    finally:
        lab.sh("docker rm --force stubborn; rm -r /root/broken")
    assert run.rc != 0
    assert (told_of(run, "stubborn"), told_of(run, seat)) == (["error"], ["warning"])
    assert "a restart did not help" in run.finding(LOST, "host:fv-ml1/container:stubborn").message
    assert started(lab, seat) != reload_due and CARDS["2"] in lab.sh(f"docker exec {seat} nvidia-smi -L")
    # nothing is left to reload, and the container is not forgotten
    assert later.rc != 0 and "RUNNING HANDLER" not in later.out
    assert (told_of(later, "stubborn"), told_of(later, seat)) == (["error"], [])
