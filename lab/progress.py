"""Lines that say what the lab is doing and how long it took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_SLOW_S = 3.0


def say(text: str) -> None:
    """One line of progress, shown at once even when output is a file."""
    print(f"lab: {text}", flush=True)


@contextmanager
def step(what: str, usual: str | None = None) -> Iterator[None]:
    """Times a step and says so at its end; with `usual` ("1 to 3 min") also at its start, so nobody waits blind."""
    begun = time.monotonic()
    if usual:
        say(f"{what} (usually {usual}) ...")
    try:
        yield
    except BaseException:
        say(f"{what}: not done after {time.monotonic() - begun:.1f} s")
        raise
    say(f"{what}: {time.monotonic() - begun:.1f} s")
