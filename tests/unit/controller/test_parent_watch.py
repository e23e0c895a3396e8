"""Protects: load on a host ends with the ansible-playbook that asked for it, however that goes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PLAY = """
import multiprocessing, os, signal, sys, time
from pathlib import Path
from gpu_seats.controller.parent_watch import ended_with_parent

told = Path(sys.argv[1])

def worker(blocked):
    os.setsid()  # as Ansible's do: no signal of the terminal reaches it
    def interrupted(number, frame):
        raise KeyboardInterrupt
    signal.signal(signal.SIGTERM, interrupted)
    try:
        with ended_with_parent(every_s=0.05):
            (told / "works").write_text(str(os.getpid()))
            blocked.get()  # as a question at the terminal does
    except KeyboardInterrupt:
        (told / "load ended").write_text("")
    os._exit(0)

fork = multiprocessing.get_context("fork")
fork.Process(target=worker, args=(fork.Queue(),)).start()
time.sleep(60)
"""


def awaited(path: Path, limit_s: float = 10.0) -> bool:
    until = time.monotonic() + limit_s
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.02)
    return path.exists()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
@pytest.mark.parametrize("whole_group", [False, True])
def test_a_worker_ends_its_load_when_its_playbook_is_killed(tmp_path, number, whole_group):
    play = subprocess.Popen([sys.executable, "-c", PLAY, str(tmp_path)], start_new_session=True)
    try:
        assert awaited(tmp_path / "works")
        (os.killpg if whole_group else os.kill)(play.pid, number)
        play.wait(10)
        assert awaited(tmp_path / "load ended"), "the worker works on without a parent"
    finally:
        if play.poll() is None:
            play.kill()
            play.wait(10)


def test_while_the_parent_lives_nothing_is_ended(tmp_path):
    """Protects: no signal comes of a watch whose work is done, or whose parent is there."""
    code = (
        "import signal, time\n"
        "from gpu_seats.controller.parent_watch import ended_with_parent, is_orphan, parent_pid\n"
        "with ended_with_parent(every_s=0.02):\n"
        "    time.sleep(0.3)\n"
        "assert not is_orphan(parent_pid())\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=30, check=False).returncode == 0
