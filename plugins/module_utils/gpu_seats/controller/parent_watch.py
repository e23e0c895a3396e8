"""Ends what a worker of Ansible does when ansible-playbook is gone.

A worker has a session of its own: what kills ansible-playbook (a closed terminal, SIGKILL of its group) leaves it
working on as a child of init, with nobody who sees it or could interrupt it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator

_EVERY_S = 1.0


def parent_pid() -> int:
    """The process that forked this one, also where that is gone already."""
    parent = multiprocessing.parent_process()
    pid = parent.pid if parent is not None else None
    return os.getppid() if pid is None else pid


def is_orphan(parent: int) -> bool:
    """Whether `parent` is gone: the kernel gives its children to another process."""
    return os.getppid() != parent


@contextlib.contextmanager
def ended_with_parent(number: int = signal.SIGTERM, every_s: float = _EVERY_S) -> Iterator[None]:
    """Sends this process the signal, once, as soon as its parent is gone: also where it waits for a person to type."""
    parent, is_over = parent_pid(), threading.Event()

    def look() -> None:
        while not is_over.wait(every_s):
            if is_orphan(parent):
                os.kill(os.getpid(), number)
                return

    watching = threading.Thread(target=look, name="parent watch", daemon=True)
    watching.start()
    try:
        yield
    finally:
        is_over.set()
        watching.join()


__all__ = ["ended_with_parent", "is_orphan", "parent_pid"]
