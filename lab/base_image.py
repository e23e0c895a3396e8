"""Root file systems of Debian 13, as images in the outer Docker: the lab host's, and the engines' Python base.

They come from this machine's own Debian mirror through mmdebstrap, so no image registry is needed. On a machine that
installs from elsewhere (Ubuntu, Fedora) they are built on the registry's `debian:trixie` instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .apt_mirror import debian_mirror
from .command import LabError, as_root, run
from .digest import text_key
from .layout import HOST_IMAGE, LABEL, PYTHON_IMAGE, STATE
from .machine import has_program
from .outer_docker import docker, docker_prefix
from .progress import step

SUITE = "trixie"
_LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")


@dataclass(frozen=True)
class Base:
    """An image to have in the outer Docker: its repository, and the packages beyond Debian's minimum."""

    image: str
    packages: tuple[str, ...]

    @property
    def tag(self) -> str:
        """Repository and content key."""
        return f"{self.image}:{text_key(SUITE, *self.packages, *_LEFT_OUT)}"


HOST_BASE = Base(
    HOST_IMAGE,
    (
        *("systemd-sysv", "dbus", "openssh-server", "iproute2", "procps", "kmod", "less", "curl", "ca-certificates"),
        *("python3", "python3-docker", "docker.io", "docker-cli", "docker-compose", "iptables", "nftables"),
        *("ipmitool", "python3-pyghmi"),
    ),
)
PYTHON_BASE = Base(PYTHON_IMAGE, ("python3", "ca-certificates", "curl", "libgomp1", "libstdc++6"))


def ensure(base: Base) -> str:
    """Build the image unless it is there already; returns its tag."""
    if docker("images", "--quiet", base.tag):
        return base.tag
    mirror = debian_mirror()
    with step(f"built {base.image} (Debian {SUITE})", usual="30 s to 3 min"):
        if mirror and has_program("mmdebstrap"):
            _from_mirror(base, mirror)
        else:
            _from_registry(base)
    return base.tag


def _from_mirror(base: Base, mirror: str) -> None:
    STATE.mkdir(exist_ok=True)
    name = base.image.rpartition("/")[2]
    # under the system's temporary folder: mmdebstrap as root through sudo may not write into a user's tree
    archive = STATE / f"{name}.tar"
    exclude = [f"--dpkgopt=path-exclude={pattern}" for pattern in _LEFT_OUT]
    packages = ",".join(base.packages)
    run(
        as_root(["mmdebstrap", "--variant=minbase", f"--include={packages}", *exclude, SUITE, str(archive), mirror]),
        timeout_s=1200,
        log=STATE / f"{name}-mmdebstrap.log",
    )
    try:
        docker("import", "--change", f"LABEL {LABEL}=1", str(archive), base.tag, timeout_s=300)
    finally:
        run(as_root(["rm", "-f", str(archive)]))


def _from_registry(base: Base) -> None:
    source = f"debian:{SUITE}"
    try:
        if not docker("images", "--quiet", source):
            docker("pull", "--quiet", source, timeout_s=180)
    except LabError as error:
        raise LabError(
            f"no way to get Debian {SUITE}: apt on this machine installs from no Debian mirror, and no registry gave "
            f"{source}.\n  Add a Debian mirror to the apt sources (and the package debian-archive-keyring), or let "
            f"Docker reach a registry.\n{error}"
        ) from error
    recipe = (
        f"FROM {source}\nLABEL {LABEL}=1\nRUN apt-get -qq update && DEBIAN_FRONTEND=noninteractive "
        f"apt-get -qq -y install --no-install-recommends {' '.join(base.packages)} && rm -rf /var/lib/apt/lists/*\n"
    )
    building = ["build", "--quiet", "--tag", base.tag, "-"]
    docker(*building, stdin=recipe.encode(), env={"DOCKER_BUILDKIT": "0"}, timeout_s=900)


def archive_of(tag: str, target: Path) -> Path:
    """An image's whole file system as a tar, for `docker import` in another Docker."""
    container = docker("create", tag, "true")
    try:
        docker("export", "--output", str(target), container, timeout_s=300)
        if docker_prefix()[0] == "sudo":  # root's own then, and closed to others
            run(as_root(["chmod", "a+r", str(target)]))
    finally:
        docker("rm", container)
    return target
