"""The outer machine's Docker: found running, or started."""

from __future__ import annotations

import os
import subprocess
import time
from functools import lru_cache
from pathlib import Path
from typing import IO

from .command import LabError, as_root, last_lines, run
from .layout import STATE
from .progress import step

# pid file -> the program that wrote it
_PID_FILES = {
    Path("/var/run/docker.pid"): "dockerd",
    Path("/var/run/docker/containerd/containerd.pid"): "containerd",
}
_SOCKET = Path("/var/run/docker.sock")
_START_LIMIT_S = 60


@lru_cache(maxsize=1)
def docker_prefix() -> tuple[str, ...]:
    """`docker`, or `sudo docker` where the daemon's socket is not ours to use."""
    usable = os.environ.get("DOCKER_HOST") or os.access(_SOCKET, os.W_OK)
    return ("docker",) if usable or os.geteuid() == 0 else ("sudo", "docker")


def docker(
    *arguments: str,
    timeout_s: float = 60,
    check: bool = True,
    stdin: bytes | IO[bytes] | None = None,
    env: dict[str, str] | None = None,
) -> str:
    """Run the outer Docker's client and return what it printed."""
    done = run([*docker_prefix(), *arguments], timeout_s=timeout_s, check=check, stdin=stdin, env=env)
    return done.stdout.strip()


def answers() -> bool:
    """Whether a daemon answers."""
    done = run([*docker_prefix(), "info", "--format", "{{.ServerVersion}}"], timeout_s=20, check=False)
    return done.returncode == 0 and bool(done.stdout.strip())


def ensure_running() -> None:
    """Start the daemon when none answers: through systemd where it runs, else in a session of its own."""
    if answers():
        return
    with step("started Docker on this machine"):
        if Path("/run/systemd/system").is_dir():
            run(as_root(["systemctl", "start", "docker"]), timeout_s=_START_LIMIT_S)
        else:
            _start_without_systemd()
        docker_prefix.cache_clear()
        _wait_for_daemon()


def _start_without_systemd() -> None:
    _forget_dead_daemon()
    STATE.mkdir(exist_ok=True)
    # Without the userland proxy a published port that nothing serves refuses a connection, as it does on a real host;
    # the proxy would accept first and close then.
    daemon = as_root(["dockerd", "--userland-proxy=false"])
    with _log().open("ab") as log:
        subprocess.Popen(daemon, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/")


def _forget_dead_daemon() -> None:
    """A daemon that was killed leaves its pid files; the next one trusts them even when the number is another's now."""
    for pid_file, program in _PID_FILES.items():
        pid = run(as_root(["cat", str(pid_file)]), check=False).stdout.strip()
        if pid and run(["cat", f"/proc/{pid}/comm"], check=False).stdout.strip() != program:
            run(as_root(["rm", "-f", str(pid_file)]))


def _wait_for_daemon() -> None:
    deadline = time.monotonic() + _START_LIMIT_S
    while time.monotonic() < deadline:
        if answers():
            return
        time.sleep(0.25)
    log = _log().read_text(errors="replace") if _log().exists() else ""
    raise LabError(
        f"Docker does not answer {_START_LIMIT_S} s after its start; its log ({_log()}) ends:\n{last_lines(log)}\n"
        "  Try `dockerd --debug` as root and see what it lacks (often iptables or an overlay file system)."
    )


def _log() -> Path:
    return STATE / "dockerd.log"
