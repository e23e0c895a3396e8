"""Builds the modules that a run needs next while the host works on the first one.

Ansible packs a module with everything it imports, a third of a second of work on the controller for each of ours, and
keeps the package for the rest of the run in a cache on disk that all workers share. Building ahead only fills that
cache: a build that fails costs nothing, the task then builds for itself, and one that is not done yet is waited for.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable


def build_meanwhile(build: Callable[[str], object], modules: Iterable[str]) -> int:
    """Builds `modules` in a process of its own, on another core; its process id.

    build: packs one module by name. A thread would only take turns with the caller, which packs a module itself.
    """
    child = os.fork()
    if child:
        return child
    with contextlib.suppress(BaseException):
        for name in modules:
            with contextlib.suppress(Exception):
                build(name)
    os._exit(0)
