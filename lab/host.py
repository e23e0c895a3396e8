"""The lab host: a system container that boots systemd, made from the base image and the host files."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

from . import capabilities, declared, host_files, seed, ssh
from .base_image import HOST_BASE
from .cgroups import REMOUNT, cgroup_arguments
from .command import LabError
from .digest import text_key
from .engines.images import EngineImage
from .layout import CONTAINER, DOCKER_VOLUME, HOST, LABEL, PROJECT, REACH_ADDRESS, SSH_PORT
from .outer_docker import docker

# a container has the boot id of the machine below; with its own a boot can be told from another, as journalctl -b does
_OWN_BOOT_ID = (
    "cat /proc/sys/kernel/random/uuid >/run/boot-id && mount --bind /run/boot-id /proc/sys/kernel/random/boot_id"
)
_FIRST_PROCESS = ("/bin/sh", "-c", f"{REMOUNT}; {_OWN_BOOT_ID}; exec /sbin/init")
_IMAGES_KEY_FILE = "/etc/gpu-seats-lab/images-key"


@dataclass(frozen=True)
class Found:
    """The lab host's container as the outer Docker knows it."""

    status: str  # running, exited, created ...
    recipe: str  # key of what it was made from
    project: str  # folder of the checkout that made it


def published_ports() -> list[int]:
    """Host ports of the lab's stacks, which the container publishes on the reach address."""
    stacks = declared.read_stacks(declared.stack_files())
    return declared.host_ports(stack for file, stack in stacks if declared.runs_in_lab(file, stack))


def _recipe(ports: list[int]) -> list[str]:
    """Arguments of `docker create`, without image and labels."""
    return [
        *("--name", CONTAINER, "--hostname", HOST, "--stop-signal", "SIGRTMIN+3", "--env", "container=docker"),
        *(part for name in capabilities.offered() for part in ("--cap-add", name)),
        *(part for what in ("seccomp", "apparmor", "systempaths") for part in ("--security-opt", f"{what}=unconfined")),
        *("--device-cgroup-rule", "a *:* rwm", "--tmpfs", "/run", "--tmpfs", "/run/lock"),
        *("--volume", f"{DOCKER_VOLUME}:/var/lib/docker", *cgroup_arguments()),
        *("--publish", f"{REACH_ADDRESS}:{SSH_PORT}:22"),
        *(part for port in ports for part in ("--publish", f"{REACH_ADDRESS}:{port}:{port}")),
    ]


def recipe_key(ports: list[int]) -> str:
    """What a container must have been made from to be used as it is."""
    # the pinned key is part of it: a checkout that was made anew at the same path has other keys
    pinned = ssh.HOST_KEY.with_suffix(".pub").read_text()
    return text_key(HOST_BASE.tag, str(PROJECT), pinned, *_recipe(ports), *_FIRST_PROCESS)


def find() -> Found | None:
    """The container, or None when there is none."""
    shown = docker("inspect", "--type", "container", CONTAINER, check=False)
    found = json.loads(shown or "[]")
    if not found:
        return None
    labels = found[0]["Config"]["Labels"] or {}
    status = found[0]["State"]["Status"]
    return Found(status, labels.get(f"{LABEL}.recipe", ""), labels.get(f"{LABEL}.project", "unknown"))


def create(ports: list[int], seed_volume: str, images_key: str) -> None:
    """Make container and Docker volume anew from their caches; it is not started yet."""
    remove()
    docker("volume", "create", "--label", f"{LABEL}=1", DOCKER_VOLUME)
    seed.copy(seed_volume, DOCKER_VOLUME)
    facts = {LABEL: "1", f"{LABEL}.recipe": recipe_key(ports), f"{LABEL}.project": str(PROJECT)}
    labels = [part for name, value in facts.items() for part in ("--label", f"{name}={value}")]
    docker("create", *labels, *_recipe(ports), HOST_BASE.tag, *_FIRST_PROCESS, timeout_s=120)
    lay_files({**host_files.host_files(), _IMAGES_KEY_FILE.lstrip("/"): (images_key.encode(), 0o644)})


def lay_files(files: host_files.FileSet) -> None:
    """Unpack files and unit links onto the host, running or not."""
    archive = host_files.as_tar(files, host_files.host_links())
    docker("cp", "-", f"{CONTAINER}:/", stdin=archive, timeout_s=120)


def boot() -> None:
    """Start the container and return when ssh answers, systemd is settled and Docker answers."""
    try:
        docker("start", CONTAINER, timeout_s=180)
    except LabError as error:
        if "address already in use" in str(error):
            raise LabError(
                f"{error}\n  A port of {REACH_ADDRESS} is taken here: end what listens there (`ss -tlnp`), or "
                "choose another address: GPU_SEATS_LAB_ADDRESS=127.0.50.60"
            ) from error
        raise
    ssh.wait_for_ssh()
    _wait_until_settled()


def restart() -> None:
    """Shut the running container down and boot it again."""
    docker("stop", "--time", "30", CONTAINER, timeout_s=90)
    boot()


def crash() -> None:
    """Pull the plug: every process of the host is killed at once. Its files stay as they are on disk."""
    _end_connections()
    docker("kill", CONTAINER, timeout_s=60)


def _end_connections() -> None:
    """Say goodbye on open connections: a kept ssh connection to a host that vanished would hang the next command."""
    docker("exec", CONTAINER, "pkill", "-KILL", "sshd", check=False)


def _wait_until_settled(limit_s: float = 120) -> None:
    deadline = time.monotonic() + limit_s
    while True:
        word = ssh.on_host("systemctl is-system-running", check=False)
        if word == "running":
            return
        if word in ("degraded", "maintenance") or time.monotonic() > deadline:
            failed = ssh.on_host("systemctl --failed --no-legend --plain; systemctl list-jobs --no-legend", check=False)
            raise LabError(f"the lab host is '{word}', not 'running':\n{failed}\n  Look: ssh -F .lab/ssh_config {HOST}")
        time.sleep(0.2)


def remove() -> None:
    """Remove container and Docker volume, where they are there."""
    found = find()
    if found is not None:
        if found.status == "running":
            _end_connections()
        docker("rm", "--force", "--volumes", CONTAINER, timeout_s=120)
    docker("volume", "rm", "--force", DOCKER_VOLUME, timeout_s=60)


def refresh(images: list[EngineImage]) -> list[str]:
    """Bring a running host's files and engine images up to date without touching what is deployed; says what it did."""
    done = []
    files = host_files.host_files()
    wanted = files[host_files.KEY_FILE][0].decode().strip()
    laid, built = _keys_on_host()
    images_key = seed.key(images)
    if laid != wanted:
        had_hook = _has_hook()
        lay_files(files)
        docker("exec", CONTAINER, "systemctl", "daemon-reload")
        docker("exec", CONTAINER, "systemctl", "try-restart", "lab-address", "bmc-sim")
        if _has_hook() != had_hook:  # Docker looks for it only when it starts
            docker("exec", CONTAINER, "systemctl", "restart", "gpu-sim", "docker", timeout_s=90)
        done.append("host files")
    if built != images_key:
        seed.build_in(CONTAINER, images)
        lay_files({_IMAGES_KEY_FILE.lstrip("/"): (images_key.encode(), 0o644)})
        done.append("engine images")
    return done


def _has_hook() -> bool:
    found = docker("exec", CONTAINER, "sh", "-c", "command -v nvidia-container-runtime-hook", check=False)
    return bool(found)


def _keys_on_host() -> tuple[str, str]:
    shown = docker(
        "exec", CONTAINER, "sh", "-c", f"cat /{host_files.KEY_FILE}; echo; cat {_IMAGES_KEY_FILE}", check=False
    )
    words = shown.split()
    return (words[0], words[1]) if len(words) == 2 else ("", "")
