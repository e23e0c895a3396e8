"""What the host itself has against a deploy: found by the one look before it, refused, nothing touched."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from outside.plays import deploy, deployed

COMPOSE_DIR = "/opt/docker/compose"
CONF_DIR = "/opt/docker/conf"


@contextmanager
def undone(lab, do: str, undo: str):
    """A fault on the host for as long as the block lasts."""
    lab.sh(do)
    try:
        yield
    finally:
        lab.sh(undo)


@pytest.fixture(scope="module")
def ports_held(lab, untouched):
    """A deploy of two seats whose ports are held, one by a program, one by somebody's container."""
    program = "systemd-run --quiet --unit stranger python3 -m http.server 8015"
    container = "docker run --quiet --detach --name squatter --publish 8019:80 louislam/dockge:1.5.0 sleep 600"
    with undone(lab, f"{program}; {container}", "systemctl stop stranger; docker rm --force squatter"):
        lab.wait("the stranger listens", lambda: lab.listens(8015))
        with untouched():
            return deploy("gen,coder")


def test_a_port_that_a_strange_process_holds_is_refused_with_its_name(ports_held):
    """Protects: no container that comes up healthy without its port because somebody else has it."""
    assert ports_held.rc != 0
    shown = ports_held.finding("port.taken", "seat:gen")
    assert "gen wants port 8015, and python3 (pid" in shown.message
    assert shown.remedy
    assert ports_held.verdict("gen") == "refused, nothing was touched"


def test_a_port_that_another_container_publishes_is_refused_with_its_name(ports_held):
    assert (
        "coder wants port 8019, and container squatter publishes it"
        in ports_held.finding("port.taken", "seat:coder").message
    )


def test_a_container_name_that_somebody_else_holds_is_refused(lab, untouched):
    """Protects: nothing is removed that the project did not make, also where it is in the way."""
    holder = "docker run --quiet --detach --name vllm-gen louislam/dockge:1.5.0 sleep 600"
    with undone(lab, holder, "docker rm --force vllm-gen"), untouched():
        run = deploy("gen")
    assert run.rc != 0
    shown = run.finding("compose.container_name_taken")
    assert "a container of no Compose project holds" in shown.message and shown.remedy


def test_a_stack_that_runs_under_another_spelling_is_found_and_taken_over_only_on_request(lab, untouched, scratch):
    """Protects: dots in a stack's name were written in other ways before; a second copy would fight for its ports."""
    web = {"state": "serving", "image": "louislam/dockge:1.5.0", "gpus": []}
    scratch.add_stack("web.one", {"host": "fv-ml1", "summary": "A dotted name", "services": {"web": web}})
    labels = "--label com.docker.compose.project=web-one --label com.docker.compose.service=web"
    old = f"docker run --quiet --detach --init --name old-web {labels} louislam/dockge:1.5.0 sleep 600"
    gone = "docker rm --force old-web web; rm -rf /opt/docker/compose/web.one; docker network rm webone_default"
    with undone(lab, old, f"{gone}; true"):
        with untouched():
            run = deploy("web", project=scratch.root)
        assert run.rc != 0
        shown = run.finding("compose.project_other_spelling", "container:old-web")
        assert "webone" in shown.message and "web-one" in shown.message and "take_over=true" in shown.remedy
        deployed("web", "-e", "take_over=true", project=scratch.root)
        assert "old-web" not in lab.containers()
        assert lab.inspect("web")["Config"]["Labels"]["com.docker.compose.project"] == "webone"


def test_an_image_that_cannot_be_pulled_leaves_what_runs_alone(lab, untouched, scratch):
    """Protects: images are on the host before a container is touched, so a registry that is down costs no seat."""
    scratch.declare("flash-next-seat", "flash-next", image="vllm/vllm-openai:v0.33.0")
    with untouched():
        run = deploy("flash-next", project=scratch.root)
    assert run.rc != 0
    shown = run.finding("image.registry_unreachable", "image:vllm/vllm-openai:v0.33.0")
    assert shown.severity == "error" and shown.remedy


def test_a_lost_card_refuses_its_own_seats_only(lab, untouched):
    """Protects: nvidia-smi stops at the lost card and lists no other; the others are asked one by one."""
    with undone(lab, "gpu-sim fault gpu-lost 2", "gpu-sim clear"), untouched():
        on_it = deploy("flash-next")
        beside_it = deploy("gen", "--check")
    assert on_it.rc != 0
    assert on_it.finding("gpu.lost").severity == "critical"
    missing = on_it.finding("gpu.not_listed", "host:fv-ml1/gpu:2")
    assert "GPU-5e7a0002-c0de-4000-8000-000000000002" in missing.message and "Xid" in missing.remedy
    assert on_it.verdict("flash-next") == "refused, nothing was touched"
    assert beside_it.rc == 0, beside_it.out
    assert beside_it.verdict("gen").startswith("would create")


def test_a_driver_that_does_not_answer_refuses_to_touch_a_running_seat(lab, untouched, scratch):
    """Protects: the running engine goes on with a broken driver; a container made now would not start."""
    scratch.declare("flash-next-seat", "flash-next", labels={"tier": "gold"})
    with undone(lab, "gpu-sim fault nvml-mismatch", "gpu-sim clear"), untouched():
        run = deploy("flash-next", project=scratch.root)
    assert run.rc != 0
    assert run.finding("gpu.driver_mismatch").severity == "critical"
    assert "card 2 is needed" in run.finding("gpu.cards_unseen", "host:fv-ml1").message
    assert run.verdict("flash-next") == "refused, nothing was touched"


def test_another_card_in_the_slot_is_refused(lab, untouched, scratch):
    """Protects: a card that was exchanged is not silently taken for the declared one."""
    file = scratch.root / "inventories" / "production" / "host_vars" / "fv-ml1.yml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("GPU-5e7a0002-c0de", "GPU-5e7affff-c0de"), encoding="utf-8")
    try:
        with untouched():
            run = deploy("flash-next", project=scratch.root)
    finally:
        file.write_text(text, encoding="utf-8")
    assert run.rc != 0
    shown = run.finding("gpu.identity_mismatch", "host:fv-ml1/gpu:2")
    assert "GPU-5e7affff" in shown.message and "GPU-5e7a0002" in shown.message


def test_cards_that_swapped_their_index_change_nothing(lab, untouched):
    """Protects: seats are pinned by UUID; a new order after a boot recreates no container and moves no seat."""
    with undone(lab, "gpu-sim fault index-swap 2", "gpu-sim clear"), untouched():
        assert lab.sh("nvidia-smi -L").splitlines()[0].count("GPU-5e7a0002") == 1
        run = deploy("flash-next")
    assert (run.rc, run.changed) == (0, 0), run.out


def test_memory_that_a_stranger_holds_is_counted(lab, untouched, scratch):
    """Protects: the declared claims fit, and the measured free memory does not."""
    with undone(lab, "gpu-sim hold 0 60000 notebook", "gpu-sim release"), untouched():
        run = deploy("gen")
    assert run.rc != 0
    shown = run.finding("vram.not_enough_free", "host:fv-ml1/gpu:0")
    assert "gen 41,113" in shown.message and "MiB are missing" in shown.message


def test_compose_v2_missing_is_refused(lab, untouched):
    plugin = lab.sh("find /usr/libexec/docker /usr/lib/docker -name docker-compose 2>/dev/null", ok=False)
    assert plugin
    with undone(lab, f"mv {plugin} /root/compose.away", f"mv /root/compose.away {plugin}"), untouched():
        run = deploy("flash-next")
    assert run.rc != 0
    shown = run.finding("compose.plugin_missing", "host:fv-ml1")
    assert "docker compose is not installed on fv-ml1" in shown.message and "docker-compose" in shown.remedy


def test_a_full_disk_is_refused_before_anything(lab, untouched):
    with (
        undone(
            lab, "mkdir -p /opt/docker/conf; mount -t tmpfs -o size=1m full /opt/docker/conf", "umount /opt/docker/conf"
        ),
        untouched(),
    ):
        run = deploy("flash-next")
    assert run.rc != 0
    shown = run.finding("host.disk_full", "host:fv-ml1")
    assert "/opt/docker/conf of fv-ml1 has 1 MiB free; 64 are needed" in shown.message


def test_a_disk_that_is_full_only_where_the_stack_lies_costs_no_container(lab):
    """Protects: a file is written whole or not at all, and a stack without its file is not started."""
    folder = f"{COMPOSE_DIR}/gen-seat"
    full = f"mkdir {folder}; mount -t tmpfs -o size=32k full {folder}; "
    full += f"dd if=/dev/zero of={folder}/x bs=4k count=8 status=none; true"
    before = lab.docker_snapshot()
    with undone(lab, full, f"umount {folder}; rmdir {folder}"):
        run = deploy("gen")
        assert lab.sh(f"ls -A {folder}") == "x"
    assert run.rc != 0
    shown = run.finding("compose.file_not_written", "stack:gen-seat")
    assert f"cannot write {folder}/compose.yaml: No space left on device" in shown.message
    assert run.verdict("gen") == "not applied"
    assert lab.docker_snapshot() == before


def test_a_host_that_is_down_is_told_in_the_table(untouched):
    with untouched():
        run = deploy("smol", "-e", "ansible_port=2299")
    assert run.rc == 4
    shown = run.finding("host.unreachable", "host:fv-ml1")
    assert "port 2299" in shown.message and shown.remedy  # the rest are ssh's own words


def test_docker_down_is_refused_and_the_seats_come_back_with_it(lab):
    before = lab.file_snapshot()
    with undone(lab, "systemctl stop docker.socket docker", "systemctl start docker.socket docker"):
        run = deploy("flash-next")
    assert run.rc != 0
    shown = run.finding("compose.engine_unreachable", "host:fv-ml1")
    assert "nobody listens on /var/run/docker.sock" in shown.message and "systemctl status docker" in shown.remedy
    assert run.verdict("flash-next") == "refused, nothing was touched"
    assert lab.file_snapshot() == before
    again = deployed("flash-next")
    assert again.changed == 0
    assert again.verdict("flash-next").startswith("answers as qwen3.8-flash-next")
