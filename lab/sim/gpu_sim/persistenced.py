"""SIMULATOR of nvidia-persistenced for the gpu-seats lab: while it runs, the simulated cards are persistent."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import syslog
import threading
from pathlib import Path

from .faults import ToolError, active_faults, hits, stop_if_tool_fails
from .machine import changing_machine, load_machine
from .persistence import hold_daemon_lock

RUN_DIR = Path(os.environ.get("GPU_SIM_RUN_DIR", "/run/nvidia-persistenced"))
FAILED = "nvidia-persistenced failed to initialize. Check syslog for more details.\n"


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="nvidia-persistenced", description=__doc__)
    top.add_argument("--version", "-v", action="store_true", help="print the version")
    top.add_argument("--verbose", "-V", action="store_true", help="accepted; the journal gets every change anyway")
    top.add_argument("--user", "-u", help="accepted; the simulator stays the user that it is")
    top.add_argument("--group", "-g", help="accepted, like --user")
    mode = top.add_mutually_exclusive_group()
    mode.add_argument("--persistence-mode", dest="enable", action="store_true", default=True, help="the default")
    mode.add_argument("--no-persistence-mode", dest="enable", action="store_false", help="until nvidia-smi -pm 1")
    return top


def main(arguments: list[str]) -> int:
    """Start the daemon and return when it is ready, as systemd's Type=forking wants it."""
    options = parser().parse_args(arguments)
    if options.version:
        print(f"nvidia-persistenced:  version {load_machine().driver_version}  (SIMULATOR of the gpu-seats lab)")
        return 0
    reading, writing = os.pipe()
    if os.fork():
        os.close(writing)
        if os.read(reading, 1):
            return 0
        sys.stderr.write(FAILED)
        return 1
    os.close(reading)
    os.setsid()
    return serve(options.enable, writing)


def serve(enable: bool, ready: int) -> int:
    """The daemon itself: a byte on `ready` once the cards are as asked, then it waits for a signal."""
    syslog.openlog("nvidia-persistenced", syslog.LOG_PID, syslog.LOG_DAEMON)
    syslog.syslog(f"Started ({os.getpid()}), SIMULATED")
    lock = hold_daemon_lock()
    if lock is None:
        syslog.syslog(syslog.LOG_ERR, "Failed to lock PID file: another nvidia-persistenced runs")
        return 1
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    try:
        switch_cards(enable)
    except ToolError:
        syslog.syslog(
            syslog.LOG_ERR,
            "Failed to query NVIDIA devices. Please ensure that the NVIDIA device files (/dev/nvidia*) exist, and that "
            f"user {os.geteuid()} has read and write permissions for those files.",
        )
        return 1
    pid_file = RUN_DIR / "nvidia-persistenced.pid"
    pid_file.parent.mkdir(mode=0o755, exist_ok=True)
    pid_file.write_text(f"{os.getpid()}\n", encoding="ascii")
    os.write(ready, b"1")
    leave_terminal(ready)
    stopped.wait()
    switch_cards(False)
    pid_file.unlink(missing_ok=True)
    syslog.syslog(f"Shutdown ({os.getpid()})")
    return 0


def switch_cards(on: bool) -> None:
    """Ask for persistence of every card, or give it up. Raises ToolError where the driver doesn't answer."""
    faults = active_faults()
    with changing_machine() as machine:
        if on:
            faults.pop("hang", None)
            stop_if_tool_fails(faults, machine)
        for card in machine.cards:
            refused = on and hits(faults, "persistence-refused", card)
            card.daemon_persistence = on and not refused
            if refused:
                syslog.syslog(syslog.LOG_ERR, f"device {card.bus_id} - failed to enable persistence mode.")
            else:
                syslog.syslog(f"device {card.bus_id} - persistence mode {'enabled' if on else 'disabled'}.")


def leave_terminal(ready: int) -> None:
    """Close what the starting program shares with the daemon, so that nobody waits for the daemon's end."""
    os.close(ready)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
