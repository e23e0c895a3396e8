"""What stands after the deploy, looked at with the host's own tools and never with the project's modules."""

from __future__ import annotations

import json
import subprocess
import urllib.request

import pytest
import yaml
from outside.lab_host import ADDRESS, NAME
from outside.plays import BIN, PROJECT, deploy, plain_environment

CARD_2 = "GPU-5e7a0002-c0de-4000-8000-000000000002"
COMPOSE = "/opt/docker/compose"
STACKS = {"flash-next": "flash-next-seat", "smol": "smol-seat"}
PORTS = {"flash-next": 8022, "smol": 8090}
MODELS = {"flash-next": "qwen3.8-flash-next", "smol": "smollm2-135m-instruct"}


@pytest.fixture(scope="module")
def reach_address() -> str:
    """Where the controller reaches the host's published ports: as the lab's ssh_config says."""
    shown = subprocess.run(["ssh", "-G", "-F", str(PROJECT / ".lab" / "ssh_config"), NAME],
                           capture_output=True, text=True, check=True, timeout=20).stdout  # fmt: skip
    return next(line.split()[1] for line in shown.splitlines() if line.startswith("hostname "))


@pytest.fixture(scope="module")
def rendered() -> dict[str, str]:
    """The Compose files as the offline command prints them."""
    texts = {}
    for stack in STACKS.values():
        command = [BIN / "gpu-seats", "render", stack, "--json", "--inventory", "inventories/lab"]
        printed = subprocess.check_output(command, cwd=PROJECT, env=plain_environment(PROJECT), text=True, timeout=60)
        texts[stack] = json.loads(printed)["compose_text"]
    return texts


def test_exactly_the_two_containers_run(lab):
    assert lab.containers() == {"flash-next": "running", "smol": "running"}
    for name in STACKS:
        assert lab.inspect(name)["RestartCount"] == 0


@pytest.mark.parametrize("seat", STACKS)
def test_labels_say_whose_it_is_and_link_to_the_hosts_address(lab, seat):
    """Protects: the dashboard's link is the declared address of the host, not a stale or local one."""
    labels = lab.inspect(seat)["Config"]["Labels"]
    assert labels["gpu-seats.stack"] == STACKS[seat]
    assert labels["gpu-seats.seat"] == seat
    assert len(labels["gpu-seats.digest"]) >= 32
    assert labels["homepage.href"] == f"http://{ADDRESS}:{PORTS[seat]}/"
    assert labels["com.docker.compose.project.working_dir"] == f"{COMPOSE}/{STACKS[seat]}"


def test_the_seat_is_pinned_to_its_card_by_uuid_and_sees_only_that(lab):
    [request] = lab.inspect("flash-next")["HostConfig"]["DeviceRequests"]
    assert (request["DeviceIDs"], request["Count"]) == ([CARD_2], 0)
    shown = lab.sh("docker exec flash-next nvidia-smi -L").splitlines()
    assert len(shown) == 1 and CARD_2 in shown[0]
    assert not lab.inspect("smol")["HostConfig"]["DeviceRequests"]


def test_the_seats_memory_is_on_card_2_within_its_claim(lab):
    used = lab.card_used_mib(CARD_2)
    assert 74.36 * 1024 < used <= 93 * 1024


@pytest.mark.parametrize("seat", STACKS)
def test_the_published_port_listens_and_answers_from_both_sides(lab, reach_address, seat):
    port = PORTS[seat]
    assert lab.listens(port)
    assert lab.get(port, "/health") == "200"
    with urllib.request.urlopen(f"http://{reach_address}:{port}/v1/models", timeout=10) as answer:
        assert MODELS[seat] in [one["id"] for one in json.load(answer)["data"]]


@pytest.mark.parametrize("seat", STACKS)
def test_a_completion_comes_back(lab, seat):
    assert lab.completion(PORTS[seat], MODELS[seat])


@pytest.mark.parametrize("stack", STACKS.values())
def test_the_compose_file_is_what_render_prints_and_compose_takes_it(lab, rendered, stack):
    path = f"{COMPOSE}/{stack}/compose.yaml"
    assert lab.sh(f"cat {path}").strip() == rendered[stack].strip()
    assert lab.sh(f"docker compose -f {path} config --quiet") == ""


@pytest.mark.parametrize("stack", STACKS.values())
def test_files_have_their_modes_and_no_leftovers_lie_beside_them(lab, stack):
    folder = f"{COMPOSE}/{stack}"
    assert lab.sh(f"stat -c '%a %U:%G' {folder} {folder}/compose.yaml {folder}/.last-good").splitlines() == [
        "755 root:root", "644 root:root", "700 root:root",
    ]  # fmt: skip
    assert set(lab.sh(f"ls -A {folder}").split()) - {".previous-good"} == {"compose.yaml", ".last-good", ".made.json"}


def test_vllms_command_line_carries_the_pinned_kv_bytes_and_the_table_in_host_ram(lab, rendered):
    """Protects: without these flags vLLM profiles the card again, or keeps the 47.7 GiB table on it."""
    command = yaml.safe_load(rendered["flash-next-seat"])["services"]["flash-next"]["command"]
    assert lab.inspect("flash-next")["Config"]["Cmd"] == command
    assert command[command.index("--kv-cache-memory-bytes") + 1] in ("14G", str(14 * 2**30))
    assert json.loads(command[command.index("--engram-config") + 1])["cpu_offload"] is True


def test_the_seat_comes_back_after_a_reboot(lab):
    """Protects: a serving seat's restart policy, and no --rm or one-off container."""
    assert lab.inspect("flash-next")["HostConfig"]["RestartPolicy"]["Name"] == "unless-stopped"


def test_check_mode_after_a_deploy_finds_nothing_to_change(untouched):
    with untouched():
        run = deploy("flash-next,smol", "--check", "--diff")
    assert (run.rc, run.changed) == (0, 0), run.out
    assert run.verdict("flash-next") == run.verdict("smol") == "nothing to change"


def test_a_second_deploy_changes_nothing(untouched):
    """Protects: idempotence on the host itself: same ids, same start times, same inodes."""
    with untouched():
        run = deploy("flash-next,smol")
    assert (run.rc, run.changed) == (0, 0), run.out
    assert run.verdict("flash-next").startswith("answers as qwen3.8-flash-next")
