"""`gpu-sim load`: a process that keeps a simulated card busy for as long as it lives."""

from __future__ import annotations

import os
import signal
import threading

from .claims import HeldClaim
from .machine import Card

MIB = 512
"""What a compute process takes at least: its context."""


def keep_busy(card: Card, watts: float | None, seconds: float | None) -> None:
    """Hold a claim until `seconds` are over (None: for ever) or SIGTERM or SIGINT comes.

    The card draws `watts` above idle, never more than its limit; without them as much as the limit lets it.
    """
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    claim = HeldClaim(card.uuid, f"load-{os.getpid()}", "gpu-sim load", MIB, card.max_w if watts is None else watts)
    print(f"card {card.index} ({card.uuid}) is loaded by process {os.getpid()}", flush=True)
    stopped.wait(seconds)
    claim.release()
