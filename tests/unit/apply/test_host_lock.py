"""Two runs never work on one host at a time; a killed run frees the host, its living child does not."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from gpu_seats.apply.host_lock import HostLock, LockHeldError
from gpu_seats.observe.command import run


def test_nobody_else_can_hold_it_and_no_link_is_followed(tmp_path):
    with HostLock("a", str(tmp_path / "lock")):
        assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "link").symlink_to("precious")
    with pytest.raises(OSError), HostLock("a", str(tmp_path / "link")):
        pass
    assert (tmp_path / "precious").read_text() == "kept"


def test_second_run_is_told_who_holds_it(tmp_path):
    path = str(tmp_path / "lock")
    with HostLock("deploy of flash-next", path), pytest.raises(LockHeldError) as caught:
        HostLock("other", path, wait_s=0.1).__enter__()
    assert f"process {os.getpid()} since 2" in str(caught.value) and "deploy of flash-next" in str(caught.value)
    assert caught.value.holder["pid"] == os.getpid()
    with HostLock("next", path, wait_s=0):
        pass


def test_killed_holder_frees_it_and_its_child_keeps_it(tmp_path):
    """The Compose call of a killed run goes on: the next run waits for it."""
    path = str(tmp_path / "lock")
    code = (
        "import sys, time; from gpu_seats.apply.host_lock import HostLock; import subprocess\n"
        f"lock = HostLock('x', {path!r}); lock.__enter__()\n"
        "child = subprocess.Popen(['sleep', '0.8'], pass_fds=(lock.descriptor,))\n"
        "print('held', flush=True); time.sleep(60)\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
    finally:
        holder.kill()
        holder.wait(5)
    with pytest.raises(LockHeldError):
        HostLock("next", path, wait_s=0.1).__enter__()
    began = time.monotonic()
    with HostLock("next", path, wait_s=10):
        assert time.monotonic() - began < 5


def test_a_command_of_the_run_holds_the_lock(tmp_path):
    with HostLock("x", str(tmp_path / "lock")) as lock:
        shown = run(["ls", "-l", "/proc/self/fd"], 10, pass_fds=(lock.descriptor,))
    assert str(tmp_path / "lock") in shown.stdout
