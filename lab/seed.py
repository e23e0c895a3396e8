"""Engine images, built once inside a Docker of the lab host's kind and kept as a volume to copy from.

They are never built in the outer machine's own Docker: they carry production's image names, and a simulator must not
sit under such a name on anybody's machine.
"""

from __future__ import annotations

import io
import json
import tarfile
import time
from pathlib import Path

from . import capabilities, declared
from .base_image import HOST_BASE, PYTHON_BASE, archive_of
from .cgroups import REMOUNT, cgroup_arguments
from .command import LabError
from .digest import files_below, text_key, tree_key
from .engines.images import EngineImage, engine_images
from .layout import LABEL, PYTHON_BASE_TAG, SEED_VOLUME_PREFIX, STATE
from .outer_docker import docker
from .progress import say, step

_BUILDER = "gpu-seats-lab-builder"
# seeds of the sets of images last used; older ones are made again when needed
_KEPT = 3


def wanted_images() -> list[EngineImage]:
    """One build for each image that a stack of the lab names."""
    stacks = declared.read_stacks(declared.stack_files())
    return engine_images(declared.images(stack for file, stack in stacks if declared.runs_in_lab(file, stack)))


def key(images: list[EngineImage]) -> str:
    """Content key of a set of images: names, arguments, build contexts and the base below them."""
    contexts = {image.context: tree_key([image.context]) for image in images}
    described = [f"{image.name} {sorted(image.args.items())} {contexts[image.context]}" for image in images]
    return text_key(PYTHON_BASE.tag, *sorted(described))


def ensure(images: list[EngineImage]) -> str:
    """Build the seed volume for these images unless it is ready; returns its name."""
    volume = SEED_VOLUME_PREFIX + key(images)
    ready = _ready_volumes()
    if volume in ready:
        return volume
    with step(f"prepared {len(images)} engine images", usual="20 to 90 s"):
        docker("volume", "rm", "--force", volume)
        docker("volume", "create", "--label", f"{LABEL}=1", volume)
        if ready:
            copy(ready[-1], volume)  # layers that did not change are then found in Docker's build cache
        _start_builder(volume)
        try:
            build_in(_BUILDER, images)
            docker("stop", "--time", "30", _BUILDER, timeout_s=60)
        finally:
            docker("rm", "--force", _BUILDER, check=False)
        # a second, empty volume says that the first is whole: an interrupted build leaves none
        docker("volume", "create", "--label", f"{LABEL}=1", f"{volume}-ready")
        _forget(_ready_volumes()[:-_KEPT])
    return volume


def _ready_volumes() -> list[str]:
    names = docker("volume", "ls", "--quiet", "--filter", f"label={LABEL}").split()
    ready = [name.removesuffix("-ready") for name in names if name.endswith("-ready")]
    if not ready:
        return []
    shown = json.loads(docker("volume", "inspect", *(f"{name}-ready" for name in ready)))
    made = {volume["Name"].removesuffix("-ready"): volume["CreatedAt"] for volume in shown}
    return sorted(ready, key=lambda name: made[name])


def _forget(volumes: list[str]) -> None:
    names = [name for volume in volumes for name in (f"{volume}-ready", volume)]
    if names:
        docker("volume", "rm", *names, check=False)


def copy(source: str, target: str) -> None:
    """Copy a volume's files with owners, devices and extended attributes (overlay2 keeps its whiteouts in them)."""
    grants = [part for name in capabilities.offered() for part in ("--cap-add", name)]
    mounts = ["--volume", f"{source}:/from:ro", "--volume", f"{target}:/to"]
    confined = ["--security-opt", "apparmor=unconfined", "--network", "none"]
    docker("run", "--rm", *grants, *confined, *mounts, HOST_BASE.tag, "cp", "-a", "/from/.", "/to/", timeout_s=300)


def _start_builder(volume: str) -> None:
    docker("rm", "--force", _BUILDER, check=False)
    grants = [part for name in capabilities.offered() for part in ("--cap-add", name)]
    unconfined = [
        part for what in ("seccomp", "apparmor", "systempaths") for part in ("--security-opt", f"{what}=unconfined")
    ]
    daemon = f"{REMOUNT}; exec dockerd --bridge=none --iptables=false --ip6tables=false"
    docker(
        *("run", "--detach", "--name", _BUILDER, "--label", f"{LABEL}=1", "--network", "none", *grants, *unconfined),
        *("--device-cgroup-rule", "a *:* rwm", "--tmpfs", "/run", *cgroup_arguments()),
        *("--volume", f"{volume}:/var/lib/docker", HOST_BASE.tag, "/bin/sh", "-c", daemon),
    )
    wait_for_inner_docker(_BUILDER)


def wait_for_inner_docker(container: str, limit_s: float = 60) -> None:
    """Return when the Docker inside a container answers."""
    deadline = time.monotonic() + limit_s
    while not docker("exec", container, "docker", "info", "--format", "{{.ServerVersion}}", check=False, timeout_s=20):
        if time.monotonic() > deadline:
            log = docker("logs", "--tail", "15", container, check=False)
            raise LabError(f"Docker inside {container} does not answer after {limit_s:.0f} s: {log}")
        time.sleep(0.3)


def build_in(container: str, images: list[EngineImage]) -> None:
    """Build the images in the Docker inside a running container; drop those there that no stack names any more."""
    if not docker("exec", container, "docker", "images", "--quiet", PYTHON_BASE_TAG):
        _import_python_base(container)
    for image in images:
        arguments = [part for item in sorted(image.args.items()) for part in ("--build-arg", "=".join(item))]
        labels = ["--label", f"{LABEL}=1"]
        building = ["docker", "build", "--network", "none", "--quiet", *arguments, *labels, "--tag", image.name, "-"]
        inside = ["exec", "--interactive", "--env", "DOCKER_BUILDKIT=0", container, *building]
        try:
            docker(*inside, stdin=context_tar(image.context), timeout_s=600)
        except LabError as error:
            raise LabError(f"image {image.name} could not be built from {image.context}:\n{error}") from error
    _drop_unknown(container, {image.name for image in images})


def _import_python_base(container: str) -> None:
    archive = archive_of(PYTHON_BASE.tag, STATE / "python-base.tar")
    try:
        with archive.open("rb") as file:
            docker(
                "exec", "--interactive", container, "docker", "import", "-", PYTHON_BASE_TAG, stdin=file, timeout_s=300
            )
    finally:
        archive.unlink()


def _drop_unknown(container: str, known: set[str]) -> None:
    listing = docker(
        "exec", container, "docker", "images", "--filter", f"label={LABEL}", "--format", "{{.Repository}}:{{.Tag}}"
    )
    stale = sorted(set(listing.split()) - known - {PYTHON_BASE_TAG, "<none>:<none>"})
    if stale:
        say(f"dropping images that no stack names: {' '.join(stale)}")
        docker("exec", container, "docker", "rmi", "--force", *stale, check=False)
    docker("exec", container, "docker", "image", "prune", "--force", "--filter", f"label={LABEL}", check=False)


def context_tar(folder: Path) -> bytes:
    """A build context as a tar, equal bytes for equal files (Docker's build cache looks at times and modes)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in files_below(folder):
            entry = tarfile.TarInfo(str(path.relative_to(folder)))
            entry.size = path.stat().st_size
            entry.mode = 0o755 if path.stat().st_mode & 0o111 else 0o644
            with path.open("rb") as content:
                archive.addfile(entry, content)
    return buffer.getvalue()
