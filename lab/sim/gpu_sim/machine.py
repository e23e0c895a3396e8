"""The simulated cards and the state directory that they live in."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
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
    """One card. Watts are floats as NVML reports them; `limit_w` is lost at boot."""

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
    persistence: bool = False

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
    return Machine(cards=cards, **data)


def save_machine(machine: Machine) -> None:
    write_atomically(state_dir() / "cards.json", json.dumps(asdict(machine), indent=1) + "\n")


def boot(cards: Iterable[dict[str, Any]] | None = None) -> Machine:
    """What a restart does to real cards: limits back to the default, persistence off, nothing held.

    `cards` replaces the cards' identities (keys of `Card`); without it those of the last boot stay.
    """
    machine = load_machine()
    if cards is not None:
        machine.cards = [Card(**row) for row in cards]
    for card in machine.cards:
        card.limit_w = card.default_w
        card.persistence = False
    for claim in (state_dir() / "claims").glob("*/*.json"):
        claim.unlink(missing_ok=True)
    save_machine(machine)
    make_claim_folders(machine)
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
