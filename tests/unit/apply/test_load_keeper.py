"""Protects: no load outlives its watcher, however that ends, and however deep the load hides its processes.

Real processes: the watcher is a Python of its own, the loads are shells and sleeps that ignore what they may ignore.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

# a load that ignores SIGTERM, with a child, and a grandchild in a session of its own
STUBBORN = "trap '' TERM; (setsid sh -c 'trap \"\" TERM; echo $$ >> {pids}; sleep 300 & wait' &) ; "
STUBBORN += "sleep 300 & echo $! >> {pids}; echo $$ >> {pids}; while :; do wait; done"

SETUP = """
import os, signal, sys, time
from gpu_seats.apply.power_measure.load_keeper import KeeperGoneError, LoadKeeper

def busy(argument):
    open(argument, "a").write(f"{os.getpid()}\\n")
    time.sleep(300)
    return 0

keeper = LoadKeeper({"busy": busy})
pids = sys.argv[1]
stubborn = sys.argv[2].replace("{pids}", pids)
"""


def watcher(tmp_path: Path, body: str) -> subprocess.Popen:
    """A process that runs `body` after `SETUP`; the loads write their process ids to tmp_path/pids."""
    code = SETUP + textwrap.dedent(body)
    argv = [sys.executable, "-c", code, str(tmp_path / "pids"), STUBBORN]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


def load_pids(tmp_path: Path, count: int) -> list[int]:
    """Process ids of the loads, once `count` have started."""
    for _ in range(200):
        text = (tmp_path / "pids").read_text() if (tmp_path / "pids").exists() else ""
        if text.count("\n") >= count:
            return [int(line) for line in text.split()]
        time.sleep(0.05)
    raise AssertionError(f"only {text!r} started")


def alive(pids: list[int]) -> list[int]:
    """Those that still run; a zombie that waits for its reaper does not."""
    left = []
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        left += [pid] if state != "Z" else []
    return left


def gone_within(pids: list[int], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while alive(pids) and time.monotonic() < until:
        time.sleep(0.05)
    return not alive(pids)


HOLDS = """
    keeper.start("a", ["sh", "-c", stubborn], 300)
    keeper.start_task("b", "busy", pids, 300)
    print(keeper.pid, flush=True)
    time.sleep(300)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_watcher_that_is_killed_takes_every_process_of_its_load_along(tmp_path, number):
    process = watcher(tmp_path, HOLDS)
    pids = load_pids(tmp_path, 4)
    keeper = int(process.stdout.readline())
    assert alive(pids) == pids
    process.send_signal(number)
    process.wait(10)
    try:
        assert gone_within([*pids, keeper], 6), "load is left after its watcher died"
    finally:
        for pid in alive(pids):
            os.kill(pid, signal.SIGKILL)


def test_a_keeper_that_is_killed_takes_its_loads_along_and_the_watcher_is_told(tmp_path):
    process = watcher(
        tmp_path,
        """
        keeper.start("a", ["sh", "-c", "echo $$ >> " + pids + "; exec sleep 300"], 300)
        keeper.start_task("b", "busy", pids, 300)
        print(keeper.pid, flush=True)
        try:
            while True:
                keeper.ended()
                time.sleep(0.05)
        except KeeperGoneError as error:
            print(error, flush=True)
        """,
    )
    pids = load_pids(tmp_path, 2)
    os.kill(int(process.stdout.readline()), signal.SIGKILL)
    assert process.stdout.readline() == "the process that keeps the loads is gone\n"
    assert gone_within(pids, 3)
    process.wait(10)


def test_all_loads_are_ended_on_demand_and_others_can_follow(tmp_path):
    process = watcher(
        tmp_path,
        """
        keeper.start("a", ["sh", "-c", stubborn], 300)
        keeper.start_task("b", "busy", pids, 300)
        while not os.path.exists(pids) or open(pids).read().count("\\n") < 4:
            time.sleep(0.05)
        print(keeper.stop_all(), flush=True)
        keeper.start("c", ["sh", "-c", "echo said to the end; echo wrong >&2; exit 5"], 300)
        until = time.monotonic() + 10
        ended = []
        while not ended and time.monotonic() < until:
            ended = keeper.ended()
            time.sleep(0.05)
        print(ended, flush=True)
        print(keeper.stop_all(), flush=True)
        keeper.close()
        """,
    )
    pids = load_pids(tmp_path, 4)
    assert process.stdout.readline() == "True\n"
    assert alive(pids) == []
    assert process.stdout.readline() == "[LoadEnd(name='c', rc=5, text='said to the end\\nwrong')]\n"
    assert process.stdout.readline() == "True\n"
    assert process.wait(10) == 0


def test_what_cannot_be_started_and_what_is_over_its_time(tmp_path):
    process = watcher(
        tmp_path,
        """
        try:
            keeper.start("a", ["/no/such/burner"], 300)
        except OSError as error:
            print(type(error).__name__, error.strerror, flush=True)
        keeper.start("b", ["sleep", "300"], 0.3)
        ended = []
        while not ended:
            ended = keeper.ended()
            time.sleep(0.05)
        print(ended, flush=True)
        keeper.close()
        """,
    )
    assert process.stdout.readline() == "FileNotFoundError No such file or directory\n"
    assert process.stdout.readline() == "[LoadEnd(name='b', rc=137, text='')]\n"
    assert process.wait(10) == 0


def test_a_load_that_prints_without_end_neither_waits_nor_fills_anything(tmp_path):
    process = watcher(
        tmp_path,
        """
        keeper.start("a", ["sh", "-c", "echo $$ > " + pids + "; yes | head -c 30000000; echo the last words"], 300)
        ended = []
        while not ended:
            ended = keeper.ended()
            time.sleep(0.05)
        print(ended[0].rc, len(ended[0].text) <= 2000, ended[0].text.endswith("the last words"), flush=True)
        keeper.close()
        """,
    )
    assert process.stdout.readline() == "0 True True\n"
    assert process.wait(10) == 0
