"""Memory claims on simulated cards.

A claim counts while somebody holds an exclusive `flock` on its file. The kernel drops the lock when the holder dies,
for whatever reason, in whatever PID namespace, so that a killed engine frees its memory at once, as on a real card.
Claims with ``"static": true`` (``gpu-sim hold``) count without a holder, until ``gpu-sim release`` or the next boot.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from .machine import state_dir

PADDING = 512
"""Claim files have this length, so that an update is one write and no reader sees half of it."""
LINGER_S = 1.0
"""A card's reading is the mean of about a second: a claim that asks for less shows its old watts for so long."""


@dataclass(frozen=True)
class Claim:
    """What one process holds on one card. pid: as the reader's namespace sees it, None where it can't be told."""

    name: str
    process: str
    mib: int
    watts: float
    pid: int | None


def live_claims(uuid: str) -> list[Claim]:
    found = []
    for path in sorted((state_dir() / "claims" / uuid).glob("*.json")):
        claim = read_claim(path)
        if claim is not None:
            found.append(claim)
    return found


def read_claim(path: Path) -> Claim | None:
    """The claim in `path`, None when its holder is gone."""
    try:
        with path.open("rb") as stream:
            data = json.loads(stream.read())
            held = data.get("static", False) or is_locked(stream.fileno())
            inode = os.fstat(stream.fileno()).st_ino
    except (OSError, ValueError):
        return None
    if not held:
        return None
    pid = data.get("pid") or lock_holder(inode)
    lingering = data.get("lingering_watts", 0.0) if time.time() < data.get("lingers_until", 0.0) else 0.0
    watts = max(float(data["watts"]), float(lingering))
    return Claim(path.stem, data["process"], int(data["mib"]), watts, pid)


def is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False


def lock_holder(inode: int) -> int | None:
    """PID of the process that holds a lock on this inode, from /proc/locks (translated to our PID namespace)."""
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        match = re.match(r"\d+: FLOCK\s+\S+\s+WRITE\s+(-?\d+) \S+:(\d+) ", line)
        if match and int(match[2]) == inode and int(match[1]) > 0:
            return int(match[1])
    return None


def claim_text(process: str, mib: int, watts: float, **extra: object) -> bytes:
    return json.dumps({"process": process, "mib": mib, "watts": watts, **extra}).ljust(PADDING).encode()


class HeldClaim:
    """A claim that lives as long as this object's process, or until `release`."""

    def __init__(self, uuid: str, name: str, process: str, mib: int, watts: float) -> None:
        self.process, self.mib, self.watts = process, mib, watts
        self._lingering, self._until = 0.0, 0.0
        folder = state_dir() / "claims" / uuid
        folder.mkdir(parents=True, exist_ok=True)
        self._descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")
        os.write(self._descriptor, claim_text(process, mib, watts))
        os.fchmod(self._descriptor, 0o644)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        # renamed only when locked: a reader never finds it without its holder
        self.path = folder / f"{name}.json"
        Path(temporary).replace(self.path)

    def update(self, mib: int | None = None, watts: float | None = None) -> None:
        self.mib = self.mib if mib is None else mib
        if watts is not None:
            self._linger(above=watts)
            self.watts = watts
        lingering = {"lingering_watts": self._lingering, "lingers_until": self._until}
        os.pwrite(self._descriptor, claim_text(self.process, self.mib, self.watts, **lingering), 0)

    def _linger(self, above: float) -> None:
        """Remember the watts of up to now where they are `above` the new ones; a higher ones' time is not prolonged."""
        now = time.time()
        if self.watts > above and (self.watts >= self._lingering or now >= self._until):
            self._lingering, self._until = self.watts, now + LINGER_S

    def release(self) -> None:
        self.path.unlink(missing_ok=True)
        os.close(self._descriptor)
