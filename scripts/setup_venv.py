#!/usr/bin/env python3
"""Make `.venv` with the pinned controller dependencies; does nothing when it is already so.

Runs under the machine's own python3 (3.8 or newer), standard library only.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
VENV = PROJECT / ".venv"
STAMP = VENV / "gpu-seats-pins"
PINS = PROJECT / "requirements" / "controller.txt"
SUPPORTED = ("3.13", "3.12", "3.11")  # newest first; ansible-core 2.21, 2.21, 2.19
_PROBE = "import ensurepip, venv, sys; print('%d.%d' % sys.version_info[:2])"


def say(text: str) -> None:
    """One line of progress, shown at once."""
    print("setup: " + text, flush=True)


def version_of(python: str) -> str | None:
    """`3.12` when this interpreter starts and can make virtual environments, else None."""
    try:
        done = subprocess.run([python, "-c", _PROBE], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def usable_pythons() -> dict[str, str]:
    """Version -> interpreter, for the supported versions that are on this machine."""
    folders = [f for f in os.environ.get("PATH", "").split(os.pathsep) if f] + ["/usr/bin", "/usr/local/bin"]
    names = [f"python{version}" for version in SUPPORTED] + ["python3"]
    candidates = [sys.executable, *(str(Path(folder) / name) for name in names for folder in folders)]
    found: dict[str, str] = {}
    for candidate in dict.fromkeys(candidates):
        if candidate and Path(candidate).exists():
            version = version_of(candidate)
            if version in SUPPORTED:
                found.setdefault(version, candidate)
    return found


def newest_python() -> tuple[str, str]:
    """The newest supported interpreter; Debian's python3-venv is installed when none can make environments."""
    found = usable_pythons()
    if not found and shutil.which("apt-get"):
        install_venv_package()
        found = usable_pythons()
    for version in SUPPORTED:
        if version in found:
            return found[version], version
    sys.exit(
        "setup: ERROR: no Python of {} that can make virtual environments is on this machine.\n"
        "  Debian 12 and 13 have one: apt-get install python3 python3-venv".format(", ".join(SUPPORTED))
    )


def install_venv_package() -> None:
    """apt-get install python3-venv, said beforehand; through sudo for users."""
    prefix = [] if os.geteuid() == 0 else ["sudo"]
    if prefix and not shutil.which("sudo"):
        sys.exit(
            "setup: ERROR: python3-venv is missing, and this is neither root nor a user with sudo: apt-get install it"
        )
    say("installing on this machine with apt-get: python3-venv")
    apt_get = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    subprocess.run([*apt_get, "update"], timeout=300, check=False)
    done = subprocess.run([*apt_get, "-y", "install", "python3-venv"], timeout=600, check=False)
    if done.returncode != 0:
        sys.exit(f"setup: ERROR: apt-get install python3-venv failed with rc {done.returncode}; its output is above")


def wanted_stamp(version: str) -> str:
    """What the environment must have been made from to be used as it is."""
    content = (PROJECT / "pyproject.toml").read_bytes() + PINS.read_bytes()
    return f"{version} {PROJECT} {hashlib.sha256(content).hexdigest()}"


def venv_version() -> str | None:
    """Version of the Python in `.venv`, or None when there is none that works."""
    python = VENV / "bin" / "python"
    version = version_of(str(python)) if python.exists() else None
    return version if version in SUPPORTED else None


def install(version: str) -> None:
    """Install pins and this project into `.venv`."""
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "-qq", "install"]
    for arguments in (["-r", str(PINS)], ["--no-deps", "--editable", str(PROJECT)]):
        done = subprocess.run([*pip, *arguments], timeout=1800, check=False)
        if done.returncode != 0:
            sys.exit(
                f"setup: ERROR: pip could not install {arguments[-1]} (rc {done.returncode}); its output is above.\n"
                "  It needs PyPI, or an index that pip is configured for."
            )


def main() -> None:
    """Bring `.venv` to the pinned state."""
    begun = time.monotonic()
    version = venv_version()
    if version and STAMP.exists() and STAMP.read_text() == wanted_stamp(version):
        return
    if version is None:
        python, version = newest_python()
        say(f"making .venv with Python {version} ({python})")
        shutil.rmtree(VENV, ignore_errors=True)
        done = subprocess.run([python, "-m", "venv", str(VENV)], timeout=300, check=False)
        if done.returncode != 0:
            sys.exit(f"setup: ERROR: {python} -m venv {VENV} failed with rc {done.returncode}; its output is above")
    say(f"installing the pinned dependencies of {PINS.relative_to(PROJECT)} into .venv (usually 1 to 2 min) ...")
    install(version)
    STAMP.write_text(wanted_stamp(version))
    say(f".venv is ready with Python {version}: {time.monotonic() - begun:.1f} s")


if __name__ == "__main__":
    main()
