"""Keys, pinned host key and client configuration for the lab host, kept in `.lab/`."""

from __future__ import annotations

import time

from .command import LabError, run
from .layout import HOST, REACH_ADDRESS, SSH_PORT, STATE

USER_KEY = STATE / "id_ed25519"
HOST_KEY = STATE / "ssh_host_ed25519_key"
KNOWN_HOSTS = STATE / "known_hosts"
CONFIG = STATE / "ssh_config"


def ensure_keys() -> None:
    """Make the user's and the host's key once; write known_hosts and ssh_config from them."""
    STATE.mkdir(mode=0o755, exist_ok=True)
    for key in (USER_KEY, HOST_KEY):
        if not key.exists():
            run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", f"gpu-seats-lab-{key.name}", "-f", str(key)])
    kind, public = HOST_KEY.with_suffix(".pub").read_text().split()[:2]
    names = f"[{REACH_ADDRESS}]:{SSH_PORT},{HOST}"
    KNOWN_HOSTS.write_text(f"{names} {kind} {public}\n")
    CONFIG.write_text(
        f"Host {HOST} {REACH_ADDRESS}\n"
        f"  HostName {REACH_ADDRESS}\n"
        f"  Port {SSH_PORT}\n"
        "  User root\n"
        f'  IdentityFile "{USER_KEY}"\n'
        "  IdentitiesOnly yes\n"
        f'  UserKnownHostsFile "{KNOWN_HOSTS}"\n'
        "  GlobalKnownHostsFile /dev/null\n"
        "  StrictHostKeyChecking yes\n"
        "  LogLevel ERROR\n"
        "  ServerAliveInterval 5\n"
        "  ServerAliveCountMax 3\n"
    )


def on_host(command: str, *, timeout_s: float = 60, check: bool = True) -> str:
    """Run a shell command on the lab host over ssh and return what it printed."""
    argv = ["ssh", "-F", str(CONFIG), "-o", "BatchMode=yes", "-o", "ConnectTimeout=3", HOST, command]
    return run(argv, timeout_s=timeout_s, check=check).stdout.strip()


def _try_ssh() -> tuple[bool, str]:
    argv = ["ssh", "-F", str(CONFIG), "-o", "BatchMode=yes", "-o", "ConnectTimeout=2", HOST, "true"]
    done = run(argv, timeout_s=15, check=False)
    return done.returncode == 0, done.stderr.strip()


def answers() -> bool:
    """Whether the lab host answers over ssh right now."""
    return _try_ssh()[0]


def wait_for_ssh(limit_s: float = 120) -> None:
    """Return when the lab host answers over ssh; LabError with ssh's own words after `limit_s`."""
    deadline = time.monotonic() + limit_s
    while True:
        answered, words = _try_ssh()
        if answered:
            return
        if time.monotonic() > deadline:
            raise LabError(f"ssh to {REACH_ADDRESS}:{SSH_PORT} does not work after {limit_s:.0f} s: {words}")
        time.sleep(0.2)
