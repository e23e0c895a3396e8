"""The outer machine: which Debian packages the lab needs on it, and their installation."""

from __future__ import annotations

import os
import shutil

from .command import LabError, as_root, run
from .progress import say, step

# program that must be on PATH -> Debian package that brings it
PROGRAMS = {
    "dockerd": "docker.io",
    "docker": "docker.io",
    "iptables": "iptables",
    "mmdebstrap": "mmdebstrap",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
}
# where Debian keeps system programs, which a user's PATH often lacks
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def has_program(name: str) -> bool:
    """Whether a program is there for a user or for root."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:{_SYSTEM_PATH}") is not None


def missing_packages() -> list[str]:
    """Debian packages for the programs that are not there, in a stable order, each once."""
    absent = [package for program, package in PROGRAMS.items() if not has_program(program)]
    return list(dict.fromkeys(absent))


def install_missing_packages() -> None:
    """Install what is missing with apt-get, after saying so. LabError on a machine without apt-get or sudo."""
    packages = missing_packages()
    if not packages:
        return
    names = " ".join(packages)
    if not has_program("apt-get"):
        raise LabError(
            f"missing on this machine: {names}; there is no apt-get here: install them with its package manager"
        )
    if os.geteuid() != 0 and not has_program("sudo"):
        raise LabError(
            f"missing on this machine: {names}; you are not root and there is no sudo: apt-get install {names}"
        )
    say(f"installing on this machine with apt-get: {names}")
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    with step(f"installed {names}", usual="15 to 60 s"):
        run(as_root(["apt-get", "-qq", "update"]), timeout_s=300, check=False)
        run(
            as_root([*environment, "apt-get", "-qq", "-y", "install", "--no-install-recommends", *packages]),
            timeout_s=900,
        )
    still = missing_packages()
    if still:
        raise LabError(f"still missing after the installation: {' '.join(still)}")
