"""The simulated cards and the state directory that they live in."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

MODEL = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"
BUS_NUMBERS = ("01", "21", "41", "61")
VISIBLE_FILE = Path("/etc/gpu-sim-visible.json")
"""Written into a container by the runtime hook: {"devices": [uuid, ...]}. Absent on the host."""


def state_dir() -> Path:
    return Path(os.environ.get("GPU_SIM_DIR", "/var/lib/gpu-sim"))


@dataclass
class Card:
    """One card. Watts are floats as NVML reports them; `limit_w` is lost at boot and at a reload of the driver.

    limit_until: Unix time at which the limit falls back to the default (fault `limit-drifts`), None = it holds.
    persistence: legacy mode, set by nvidia-smi alone. daemon_persistence: asked for by nvidia-persistenced, in force
    only while that runs (`persistence.is_persistent`).
    """

    index: int
    uuid: str
    bus_id: str
    name: str = MODEL
    serial: str = "[N/A]"
    memory_total_mib: int = 97887
    reserve_mib: int = 640
    min_w: float = 250.0
    default_w: float = 300.0
    max_w: float = 325.0
    limit_w: float = 300.0
    limit_until: float | None = None
    persistence: bool = False
    daemon_persistence: bool = False

    def lose_settings(self) -> None:
        """What unloading the driver's state does to a card."""
        self.limit_w, self.limit_until = self.default_w, None
        self.persistence = self.daemon_persistence = False

    @property
    def short_bus_id(self) -> str:
        """Bus id with a four-digit domain, as error texts write it."""
        return self.bus_id[-12:]


@dataclass
class Machine:
    cards: list[Card] = field(default_factory=list)
    driver_version: str = "580.178.04"
    cuda_version: str = "13.0"

    @property
    def nvml_version(self) -> str:
        """First two parts of the driver's version, as `nvidia-smi --version` shows for NVML."""
        return ".".join(self.driver_version.split(".")[:2])


def factory_cards() -> list[Card]:
    """The four cards of the lab's host, as its inventory declares them."""
    return [
        Card(
            index=i,
            uuid=f"GPU-5e7a000{i}-c0de-4000-8000-00000000000{i}",
            bus_id=f"00000000:{bus}:00.0",
            serial=f"179232500000{i}",
        )
        for i, bus in enumerate(BUS_NUMBERS)
    ]


def write_atomically(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    Path(temporary).chmod(0o644)
    Path(temporary).replace(path)


def load_machine() -> Machine:
    """The machine as its state directory describes it; the factory's when nothing was written yet."""
    path = state_dir() / "cards.json"
    if not path.exists():
        return Machine(cards=factory_cards())
    data = json.loads(path.read_text(encoding="utf-8"))
    cards = [Card(**row) for row in data.pop("cards")]
    for card in cards:
        if card.limit_until is not None and time.time() >= card.limit_until:
            card.limit_w, card.limit_until = card.default_w, None
    return Machine(cards=cards, **data)


def save_machine(machine: Machine) -> None:
    write_atomically(state_dir() / "cards.json", json.dumps(asdict(machine), indent=1) + "\n")


@contextmanager
def changing_machine() -> Iterator[Machine]:
    """The machine for a change of its cards: no other program changes them meanwhile; saved at the end, also after an
    error, for what was set before it stays set.
    """
    state_dir().mkdir(parents=True, exist_ok=True)
    with (state_dir() / "cards.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        machine = load_machine()
        try:
            yield machine
        finally:
            save_machine(machine)


def boot(cards: Iterable[dict[str, Any]] | None = None) -> Machine:
    """What a restart does to real cards: limits back to the default, persistence off, nothing held.

    `cards` replaces the cards' identities (keys of `Card`); without it those of the last boot stay.
    """
    with changing_machine() as machine:
        if cards is not None:
            machine.cards = [Card(**row) for row in cards]
        for card in machine.cards:
            card.lose_settings()
    for claim in (state_dir() / "claims").glob("*/*.json"):
        claim.unlink(missing_ok=True)
    make_claim_folders(machine)
    return machine


def reload_driver() -> Machine:
    """What unloading and loading the driver does: limits back to the default, persistence off; claims stay."""
    with changing_machine() as machine:
        for card in machine.cards:
            card.lose_settings()
    return machine


def make_claim_folders(machine: Machine) -> None:
    """Folders that engines of any user may write claims into."""
    for card in machine.cards:
        folder = state_dir() / "claims" / card.uuid
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o777)


def visible_cards(machine: Machine) -> list[Card]:
    """The cards that this container may see, numbered from 0 as the real driver does; all of them on the host."""
    if not VISIBLE_FILE.exists():
        return machine.cards
    wanted = json.loads(VISIBLE_FILE.read_text(encoding="utf-8"))["devices"]
    seen = [card for card in machine.cards if card.uuid in wanted]
    for index, card in enumerate(seen):
        card.index = index
    return seen


def card_named(cards: Iterable[Card], name: str) -> Card | None:
    """The card with this index, UUID (or a unique start of it) or bus id (any domain width, any case)."""
    for card in cards:
        if name == str(card.index) or name.lower() == card.uuid.lower():
            return card
        if ":" in name and card.bus_id.lower().endswith(name.lower().lstrip("0")):
            return card
    return None
