"""The outer machine: which Debian packages the lab needs on it, and their installation."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from .command import LabError, as_root, run
from .progress import say, step

# program that must be on PATH -> Debian package that brings it
PROGRAMS = {
    "dockerd": "docker.io",
    "docker": "docker-cli",  # Debian 12 has it in docker.io
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


def missing_packages(programs: Mapping[str, str] = PROGRAMS) -> list[str]:
    """Debian packages for the programs that are not there, in a stable order, each once."""
    absent = [package for program, package in programs.items() if not has_program(program)]
    return list(dict.fromkeys(absent))


def install_missing_packages(programs: Mapping[str, str] = PROGRAMS) -> None:
    """Install what is missing with apt-get, after saying so. LabError on a machine without apt-get or sudo."""
    packages = missing_packages(programs)
    if not packages:
        return
    names = " ".join(packages)
    if not has_program("apt-get"):
        raise LabError(f"missing on this machine: {names}; there is no apt-get here, install them by other means")
    if os.geteuid() != 0 and not has_program("sudo"):
        raise LabError(f"missing on this machine, and neither root nor sudo is to be had: apt-get install {names}")
    say(f"installing on this machine with apt-get: {names}")
    apt_get = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    with step(f"installed {names}", usual="15 to 60 s"):
        run(as_root([*apt_get, "update"]), timeout_s=300, check=False)
        known = [package for package in packages if _apt_knows(package)]
        run(as_root([*apt_get, "-y", "install", "--no-install-recommends", *known]), timeout_s=900)
    still = missing_packages(programs)
    if still:
        raise LabError(f"still missing after the installation: {' '.join(still)}; see /var/log/apt/term.log")


def _apt_knows(package: str) -> bool:
    return run(["apt-cache", "show", "--quiet", package], check=False).returncode == 0
