"""What `up`, `down`, `reset`, `reboot`, `status` and `build` do."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import base_image, host, machine, outer_docker, seed, ssh
from .command import LabError
from .engines.images import EngineImage
from .layout import CONTAINER, HOST, LABEL, PROJECT, REACH_ADDRESS, SSH_PORT
from .outer_docker import docker
from .progress import say, step

_LOCK = Path(tempfile.gettempdir()) / f"gpu-seats-lab-{os.getuid()}.lock"


@contextmanager
def alone() -> Iterator[None]:
    """Hold the machine's lab lock: builder, caches and addresses are shared by all checkouts."""
    with _LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another lab command runs on this machine, waiting for it ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build() -> None:
    """Everything that is made once and kept."""
    _ensure_ground()
    seed.ensure(seed.wanted_images())


def _ensure_ground() -> None:
    machine.install_missing_packages()
    outer_docker.ensure_running()
    ssh.ensure_keys()
    base_image.ensure(base_image.HOST_BASE)
    base_image.ensure(base_image.PYTHON_BASE)


def up() -> None:
    """A running lab host with current files and images; one that already is so is left alone."""
    begun = time.monotonic()
    _ensure_ground()
    images, ports = seed.wanted_images(), host.published_ports()
    found = host.find()
    if found is None or found.recipe != host.recipe_key(ports) or found.status == "created":
        if found is not None:
            say(f"replacing {CONTAINER}: {_why_replaced(found)}")
        _fresh(ports, images)
    else:
        if found.status != "running":
            with step(f"booted {CONTAINER} again"):
                host.boot()
        elif not ssh.answers():
            # a firewall that was reloaded on this machine takes Docker's port rules away; a restart lays them again
            with step(f"{CONTAINER} ran and did not answer over ssh: restarted"):
                host.restart()
        changed = host.refresh(images)
        if changed:
            say(f"brought up to date on the running host: {', '.join(changed)}")
    elapsed = f"{time.monotonic() - begun:.1f} s"
    say(f"{HOST} is up after {elapsed}: ssh -F .lab/ssh_config {HOST} ({REACH_ADDRESS}:{SSH_PORT})")


def _why_replaced(found: host.Found) -> str:
    if found.status == "created":
        return "it was never started, an earlier run was interrupted"
    if found.project != str(PROJECT):
        return f"it was made by the checkout in {found.project}"
    changed = "base image, published ports, keys or settings"
    return f"what it is made from has changed ({changed}); what is deployed on it is lost"


def reset() -> None:
    """A fresh host from the caches, nothing deployed."""
    begun = time.monotonic()
    _ensure_ground()
    _fresh(host.published_ports(), seed.wanted_images())
    say(f"{HOST} is fresh after {time.monotonic() - begun:.1f} s")


def reboot(*, crash: bool = False) -> None:
    """The running host shut down and booted again; with `crash` the plug is pulled first."""
    found = host.find()
    if found is None:
        raise LabError(f"{CONTAINER} is not there; `make lab` starts it")
    with step(f"pulled the plug of {CONTAINER} and booted it" if crash else f"rebooted {CONTAINER}"):
        if crash and found.status == "running":
            host.crash()
            host.boot()
        else:
            host.restart()


def _fresh(ports: list[int], images: list[EngineImage]) -> None:
    seed_volume = seed.ensure(images)
    with step("made the host from its caches"):
        host.create(ports, seed_volume, seed.key(images))
    with step("booted, ssh and systemd ready"):
        host.boot()


def down(*, everything: bool = False) -> None:
    """Remove the host; with `everything` also what is cached in Docker."""
    if not machine.has_program("docker") or not outer_docker.answers():
        say("Docker does not answer on this machine: no lab host is running")
        return
    with step(f"removed {CONTAINER}"):
        host.remove()
    if everything:
        with step("removed the lab's cached volumes and images"):
            _remove_caches()


def _remove_caches() -> None:
    volumes = docker("volume", "ls", "--quiet", "--filter", f"label={LABEL}").split()
    images = docker("images", "--quiet", "--filter", f"label={LABEL}").split()
    if volumes:
        docker("volume", "rm", *volumes, check=False)
    if images:
        docker("rmi", "--force", *dict.fromkeys(images), check=False)


def status() -> bool:
    """Say what runs; True when the lab host is up and healthy."""
    if not machine.has_program("docker") or not outer_docker.answers():
        say("Docker does not answer on this machine: no lab host is running")
        return False
    found = host.find()
    if found is None:
        say(f"{CONTAINER}: not there; `make lab` starts it")
        return False
    say(f"{CONTAINER}: {found.status}, made by the checkout in {found.project}")
    if found.status != "running":
        return False
    try:
        word = ssh.on_host("systemctl is-system-running", check=False, timeout_s=15)
        running = ssh.on_host("docker ps --format '{{.Names}} {{.Status}}'", check=False, timeout_s=15)
    except LabError as error:
        say(str(error))
        return False
    say(f"systemd: {word or 'no answer over ssh'}")
    for line in running.splitlines():
        say(f"container {line}")
    return word == "running"
