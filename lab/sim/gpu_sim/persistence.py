"""Persistence of simulated cards: legacy mode, set by nvidia-smi, or nvidia-persistenced, while that runs.

The daemon holds a lock on one file of the state directory. The kernel drops it when the daemon dies, for whatever
reason, and persistence goes with it, as on real cards where it is an open device file.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from .claims import is_locked
from .machine import Card, state_dir


def lock_file() -> Path:
    return state_dir() / "persistenced.lock"


def daemon_runs() -> bool:
    try:
        with lock_file().open("rb") as stream:
            return is_locked(stream.fileno())
    except OSError:
        return False


def hold_daemon_lock() -> int | None:
    """Take the daemon's lock for as long as the returned descriptor is open; None where another daemon has it."""
    lock_file().parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(lock_file(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def is_persistent(card: Card) -> bool:
    """Whether the driver keeps the card's state while no program holds it."""
    return card.persistence or (card.daemon_persistence and daemon_runs())
