"""A seat with a secret: its value reaches the container and is found nowhere else."""

from __future__ import annotations

import json

import pytest
from outside.plays import Run, deploy, deployed

# what quoting, interpolation and masking could lose or show
SECRET = "hf_a'b\"c $HOME \\n # d"
ENV_FILE = "/opt/docker/conf/flash-next-seat/flash-next.env"
COMPOSE_DIR = "/opt/docker/compose/flash-next-seat"


@pytest.fixture(scope="module")
def with_secret(lab, new_copy, tmp_path_factory):
    """The loudest possible deploy of a seat with a secret from a variables file; undone by a normal deploy."""
    project = new_copy()
    project.declare("flash-next-seat", "flash-next", secrets=["HF_TOKEN"])
    vault = tmp_path_factory.mktemp("vault") / "secrets.json"
    vault.write_text(json.dumps({"gpu_seats_secrets": {"flash-next-seat": {"HF_TOKEN": SECRET}}}), encoding="utf-8")
    # as where another ansible.cfg lets modules write their arguments to the host's system log
    logging = {"ANSIBLE_NO_TARGET_SYSLOG": "False"}
    yield deploy("flash-next", "-e", f"@{vault}", "-vvv", "--diff", project=project.root, environment=logging)
    deployed("flash-next")


def test_the_container_gets_the_value_as_it_is(lab, with_secret: Run):
    assert with_secret.rc == 0, with_secret.out
    assert lab.sh("docker exec flash-next sh -c 'printf %s \"$HF_TOKEN\"'") == SECRET


def test_the_env_file_is_only_roots_to_read(lab, with_secret: Run):
    assert lab.sh(f"stat -c '%a %U' {ENV_FILE}") == "600 root"
    assert lab.sh(f"stat -c '%a %U' {COMPOSE_DIR}/.last-good") == "700 root"


def test_no_other_file_label_or_command_line_holds_it(lab, with_secret: Run):
    """Protects: backups of the Compose directory, labels, `ps` and the system log (Ansible writes there) show none."""
    found = lab.sh("grep -rlF hf_a /opt/docker /run/lock /tmp /var/tmp 2>/dev/null; true").splitlines()
    assert all(path == ENV_FILE or path.startswith(f"{COMPOSE_DIR}/.last-good/files/") for path in found), found
    assert ENV_FILE in found
    record = lab.inspect("flash-next")
    assert "hf_a" not in json.dumps([record["Config"]["Labels"], record["Config"]["Cmd"], record["Args"]])
    assert lab.sh("journalctl --no-pager --output cat --since -3min | grep -cF HF_TOKEN") != "0"
    assert lab.sh("journalctl --no-pager --output cat --since -3min | grep -cF hf_a", ok=False) == "0"


def test_not_even_the_loudest_output_shows_it(with_secret: Run):
    """Protects: -vvv and --diff print arguments and files; a log collector keeps them."""
    assert "hf_a" not in with_secret.out
    assert "HF_TOKEN" in with_secret.out


def test_another_value_recreates_the_container_without_telling_why_in_the_clear(
    lab, with_secret: Run, new_copy, tmp_path
):
    """Protects: a rotated secret takes effect; the digest of the declaration covers it."""
    project = new_copy()
    project.declare("flash-next-seat", "flash-next", secrets=["HF_TOKEN"])
    before = lab.id("flash-next")
    vault = tmp_path / "secrets.json"
    vault.write_text(json.dumps({"gpu_seats_secrets": {"flash-next-seat": {"HF_TOKEN": "rotated-value"}}}))
    run = deployed("flash-next", "-e", f"@{vault}", "--diff", project=project.root)
    assert lab.id("flash-next") != before
    assert "rotated-value" not in run.out and "hf_a" not in run.out


def test_a_secret_without_a_value_is_refused(new_copy, untouched):
    project = new_copy()
    project.declare("flash-next-seat", "flash-next", secrets=["HF_TOKEN"])
    with untouched():
        run = deploy("flash-next", project=project.root)
    assert run.rc != 0
    run.says("HF_TOKEN", "gpu_seats_secrets")
