"""What went wrong with a seat that stands: found from its state, put right by the next normal deploy."""

from __future__ import annotations

import json
import os
import signal

import pytest
from outside.plays import deploy, deployed, run_playbook, started_playbook

COMPOSE_FILE = "/opt/docker/compose/flash-next-seat/compose.yaml"
ANSWERS = "answers as qwen3.8-flash-next"
# At the first signal to the old container the new one is made already and not started. Compose's parent is the module.
KILLER = """
timeout 30 docker events --filter event=kill --filter container=flash-next | {
  read -r event
  compose=$(pgrep --full --oldest '^docker compose')
  kill -KILL "$(ps -o ppid= "$compose" | tr -d ' ')" "$compose"
  pkill -KILL docker-compose
  touch /run/killed
}
"""


def digest(lab) -> str:
    """The declaration that the container was made from."""
    return str(lab.inspect("flash-next")["Config"]["Labels"]["gpu-seats.digest"])


@pytest.fixture(autouse=True)
def no_faults(lab):
    """Simulated failures end with the test that switched them on."""
    yield
    lab.clear_faults()


def test_a_stopped_container_is_started_and_not_made_anew(lab):
    before = lab.id("flash-next")
    lab.sh("docker stop --time 3 flash-next")
    run = deployed("flash-next")
    assert run.changed == 1
    assert run.verdict("flash-next").startswith(ANSWERS)
    assert run.findings == []
    assert lab.id("flash-next") == before
    assert lab.get(8022, "/health") == "200"


def test_a_container_that_somebody_removed_is_made_again(lab):
    lab.sh("docker rm --force flash-next")
    assert deployed("flash-next").verdict("flash-next").startswith(ANSWERS)
    assert lab.containers()["flash-next"] == "running"


def test_running_without_its_published_port_is_found_from_state_and_cured_by_a_recreate(lab):
    """Protects: moby#51758. Running and healthy by the check inside; a restart does not bring the port back."""
    neighbour = lab.id("smol")
    lab.sh("lose-port flash-next")
    assert lab.containers()["flash-next"] == "running"
    assert not lab.listens(8022)
    status = run_playbook("playbooks/status.yml", "-e", "seat=flash-next")
    assert status.rc != 0
    shown = status.finding("port.unpublished", "seat:flash-next")
    assert "deploy-seat.yml -e seat=flash-next" in shown.remedy
    why = "runs without its published port 8022->8000/tcp; a restart does not bring it back"
    before = lab.id("flash-next")
    check = deploy("flash-next", "--check")
    assert (check.rc, check.verdict("flash-next")) == (0, f"would recreate: {why}")
    assert lab.id("flash-next") == before
    assert deployed("flash-next").verdict("flash-next").startswith(ANSWERS)
    assert lab.id("flash-next") not in ("", before)
    assert lab.listens(8022) and lab.get(8022, "/v1/models") == "200"
    assert lab.id("smol") == neighbour


def test_a_container_that_lost_its_gpus_inside_is_found_though_it_answers(lab):
    """Protects: after a daemon-reload NVML fails inside while the engine and its health check go on."""
    lab.sh("gpu-sim fault containers-lost-gpus")
    assert lab.get(8022, "/health") == "200"
    run = deploy("flash-next")
    assert run.rc != 0
    shown = run.finding("gpu.container_lost_device", "seat:flash-next")
    assert shown.severity == "error" and "Restart the container" in shown.remedy
    assert "its cards are not visible inside the container" in run.verdict("flash-next")
    lab.sh("docker restart --time 3 flash-next")
    assert deployed("flash-next").verdict("flash-next").startswith(ANSWERS)


def test_a_file_that_was_edited_on_the_host_is_put_back_and_nothing_is_recreated(lab):
    before = lab.docker_snapshot()
    text = lab.sh(f"cat {COMPOSE_FILE}")
    lab.sh(f"sed -i 's/8022/8023/' {COMPOSE_FILE}")
    run = deployed("flash-next", "--diff")
    run.says('- published: "8023"', '+ published: "8022"')
    assert lab.sh(f"cat {COMPOSE_FILE}") == text
    assert lab.docker_snapshot() == before


def test_a_changed_label_recreates_that_container_with_the_reason_and_no_other(lab, scratch):
    """Protects: labels attach only when a container is made; a sibling of another project keeps its container."""
    neighbour, before = lab.id("smol"), lab.id("flash-next")
    scratch.declare("flash-next-seat", "flash-next", labels={"tier": "gold"})
    run = deployed("flash-next,smol", "--diff", project=scratch.root)
    run.says("flash-next-seat: recreate flash-next: label tier: (none) -> 'gold'", '+ tier: "gold"')
    assert lab.id("flash-next") != before
    assert lab.inspect("flash-next")["Config"]["Labels"]["tier"] == "gold"
    assert lab.id("smol") == neighbour
    deployed("flash-next")
    assert "tier" not in lab.inspect("flash-next")["Config"]["Labels"]
    assert lab.id("smol") == neighbour


def test_a_bad_deploy_is_rolled_back_to_what_was_verified_last(lab, scratch):
    """Protects: the way back works from the host alone, with the declaration still bad."""
    good = digest(lab)
    scratch.declare("flash-next-seat", "flash-next", labels={"tier": "bad"}, timeouts={"load": "20s"})
    lab.sh("gpu-sim engine-fault flash-next crash_in_load")
    bad = deploy("flash-next", project=scratch.root)
    assert bad.rc != 0
    assert digest(lab) != good
    lab.clear_faults()
    back = deployed("flash-next", "-e", "rollback=true", project=scratch.root)
    assert back.verdict("flash-next").startswith(ANSWERS)
    assert digest(lab) == good
    assert "tier" not in lab.inspect("flash-next")["Config"]["Labels"]
    assert deployed("flash-next").changed == 0


def test_a_rollback_without_an_earlier_verified_deploy_is_refused(lab):
    lab.sh("mv /opt/docker/compose/smol-seat/.last-good /root/last-good")
    try:
        run = deploy("smol", "-e", "rollback=true")
    finally:
        lab.sh("mv /root/last-good /opt/docker/compose/smol-seat/.last-good")
    assert run.rc != 0
    assert run.finding("compose.no_last_good", "stack:smol-seat").remedy
    assert lab.containers()["smol"] == "running"


def test_a_run_that_is_killed_in_the_middle_is_healed_by_the_next(lab, scratch):
    """Protects: whatever a killed run left (two containers of one service, a lock) the next run puts right."""
    scratch.declare("flash-next-seat", "flash-next", labels={"tier": "gold"})
    lab.sh(f"cat > /run/killer <<'END'\n{KILLER}END\nrm -f /run/killed; systemd-run --quiet bash /run/killer")
    with started_playbook(scratch.root, "deploy-seat.yml", "-e", "seat=flash-next") as process:
        lab.wait("the run was killed on the host", lambda: lab.sh("ls /run/killed", ok=False) != "")
        os.killpg(process.pid, signal.SIGKILL)
    assert [name for name in lab.containers() if name.endswith("_flash-next")]
    assert lab.get(8022, "/health") != "200"
    assert deployed("flash-next").verdict("flash-next").startswith(ANSWERS)
    assert lab.containers() == {"flash-next": "running", "smol": "running"}
    assert lab.get(8022, "/v1/models") == "200"
    assert "tier" not in lab.inspect("flash-next")["Config"]["Labels"]
    left = set(lab.sh("ls -A /opt/docker/compose/flash-next-seat").split())
    assert left - {".previous-good"} == {"compose.yaml", ".last-good", ".made.json"}
    assert deployed("flash-next").changed == 0


def test_it_works_with_the_userland_proxy_off(lab):
    """Protects: no docker-proxy listens then, so a port is judged by what Docker publishes and what answers."""
    settings = "/etc/docker/daemon.json"
    old = lab.sh(f"cat {settings}", ok=False)
    new = json.dumps({**json.loads(old or "{}"), "userland-proxy": False})
    lab.sh(f"printf '%s' '{new}' > {settings}; systemctl restart docker")
    try:
        lab.wait("the seat is back", lambda: lab.get(8022, "/v1/models") == "200")
        assert "docker-proxy" not in lab.sh("ss -H -l -t -n -p")
        status = run_playbook("playbooks/status.yml", "-e", "seat=flash-next")
        assert status.rc == 0, status.out
        assert status.verdict("flash-next").startswith(ANSWERS)
        lab.sh("lose-port flash-next")
        assert run_playbook("playbooks/status.yml", "-e", "seat=flash-next").finding("port.unpublished")
        assert deployed("flash-next").verdict("flash-next").startswith(ANSWERS)
    finally:
        lab.sh(f"printf '%s' '{old}' > {settings}" if old else f"rm -f {settings}")
        lab.sh("systemctl restart docker")
    lab.wait("the seat is back", lambda: lab.get(8022, "/v1/models") == "200")
