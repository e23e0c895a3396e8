"""Failures of nvidia-smi that can be switched on, with the texts and return codes that real ones print."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace

from .machine import VISIBLE_FILE, Card, Machine, changing_machine, state_dir, write_atomically

DRIVER_DOWN = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
    "Make sure that the latest NVIDIA driver is installed and running.\n"
)

WHOLE_TOOL = {
    "no-devices": "no card at all: rc 6",
    "nvml-mismatch": "library newer than the loaded module, two lines: rc 18 (value: library version)",
    "nvml-mismatch-oneline": "the same as older drivers print it: rc 18",
    "driver-down": "the module isn't loaded: rc 9",
    "nvml-unknown-error": "NVML: Unknown Error: rc 255",
    "containers-lost-gpus": "the same inside running containers, until they restart",
    "hang": "nvidia-smi doesn't come back (value: seconds, 3600)",
    "slow": "nvidia-smi answers late (value: seconds, 3)",
    "driver-610": "texts of driver 610: --version and the table's header",
}
PER_CARD = {
    "gpu-lost": "the card fell off the bus: rc 15, the other cards aren't listed",
    "gpu-unknown-error": "its handle can't be had: rc 255",
    "gpu-unknown-error-noblank": "the same without the blank before the bus id: rc 255",
    "err-values": "readings fail: ERR! in the table, [Unknown Error] in CSV",
    "na-values": "power readings and limits are [N/A]",
    "deprecated-values": "power limits are [Requested functionality has been deprecated]",
    "mig-enabled": "MIG mode is on, utilisation is [N/A]",
    "pl-ignored": "-pl says All done. and changes nothing",
    "pl-unsupported": "-pl warns and moves on: rc 0",
    "pl-unsupported-scope": "-pl isn't supported in current scope: rc 3",
    "pl-permission": "-pl isn't permitted, to root neither (virtual machine, container): rc 4",
    "pl-partly": "-pl sets the cards before this one and ends here with Unknown Error: rc 255",
    "enforced-differs": "the limit is set, and the enforced one stays at the default",
    "limit-drifts": "a limit falls back to the default some time after it was set (--value: seconds, 5)",
    "no-persistence-loses-limits": "without persistence a limit is lost when no program holds the card, so at once",
    "persistence-refused": "-pm isn't permitted and nvidia-persistenced can't enable it: rc 4",
    "index-swap": "the card and card 0 swap their index",
}
OTHER = {
    "daemon-reload-loses-gpus": "every `systemctl daemon-reload` switches containers-lost-gpus on anew",
    "invalid-field": "a query field that this driver doesn't know: rc 2 (value: the field)",
    "compute-apps-na": "used_gpu_memory is [N/A] for every process",
}
CATALOGUE = {**WHOLE_TOOL, **PER_CARD, **OTHER}


@dataclass(frozen=True)
class Fault:
    """A fault that is on. card: UUID, None for every card. value: what its description says. since: Unix time."""

    name: str
    card: str | None
    value: str | None
    since: float = 0.0


class ToolError(Exception):
    """nvidia-smi ends here, with this text on stdout and this return code."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.text, self.code = text, code


def active_faults() -> dict[str, Fault]:
    found = {}
    for path in sorted((state_dir() / "faults").glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8") or "{}")
        found[path.stem] = Fault(path.stem, data.get("card"), data.get("value"), path.stat().st_mtime)
    return found


def set_fault(name: str, card: str | None, value: str | None) -> None:
    write_atomically(state_dir() / "faults" / f"{name}.json", json.dumps({"card": card, "value": value}) + "\n")


def clear_faults(name: str | None = None) -> list[str]:
    """Switch off one fault, or all; returns the names that were on."""
    gone = []
    for folder in ("faults",) if name else ("faults", "engine-faults"):
        for path in (state_dir() / folder).glob("*.json"):
            if name in (None, path.stem):
                path.unlink()
                gone.append(path.stem)
    if "limit-drifts" in gone:
        with changing_machine() as machine:
            for card in machine.cards:
                card.limit_until = None
    return gone


def seconds_of(fault: Fault, default: float) -> float:
    """The fault's value as seconds, `default` where none was given."""
    return default if fault.value is None else float(fault.value)


def hits(faults: dict[str, Fault], name: str, card: Card) -> bool:
    return name in faults and faults[name].card in (None, card.uuid)


def container_lost_gpus(faults: dict[str, Fault]) -> bool:
    """Whether this is a container that was started before `containers-lost-gpus` was switched on."""
    if "containers-lost-gpus" not in faults or not VISIBLE_FILE.exists():
        return False
    return VISIBLE_FILE.stat().st_mtime <= faults["containers-lost-gpus"].since


def stop_if_tool_fails(faults: dict[str, Fault], machine: Machine) -> None:
    """Raise what a fault of the whole tool prints, whatever was asked."""
    for name, seconds in (("slow", 3.0), ("hang", 3600.0)):
        if name in faults:
            time.sleep(seconds_of(faults[name], seconds))
    if "driver-down" in faults:
        raise ToolError(DRIVER_DOWN, 9)
    mismatch = "Failed to initialize NVML: Driver/library version mismatch\n"
    if "nvml-mismatch" in faults:
        library = faults["nvml-mismatch"].value or machine.nvml_version
        raise ToolError(f"{mismatch}NVML library version: {library}\n", 18)
    if "nvml-mismatch-oneline" in faults:
        raise ToolError(mismatch, 18)
    if "nvml-unknown-error" in faults or container_lost_gpus(faults):
        raise ToolError("Failed to initialize NVML: Unknown Error\n", 255)
    if "no-devices" in faults:
        raise ToolError("No devices were found\n", 6)


def stop_if_card_fails(faults: dict[str, Fault], card: Card) -> None:
    """Raise what nvidia-smi prints when it can't open this card; it then lists no other card either."""
    handle = "Unable to determine the device handle for GPU"
    if hits(faults, "gpu-lost", card):
        text = f"{handle} {card.short_bus_id}: GPU is lost.  Reboot the system to recover this GPU\n"
        raise ToolError(text, 15)
    if hits(faults, "gpu-unknown-error", card):
        raise ToolError(f"{handle} {card.short_bus_id}: Unknown Error\n", 255)
    if hits(faults, "gpu-unknown-error-noblank", card):
        raise ToolError(f"{handle}{card.short_bus_id}: Unknown Error\n", 255)


def with_swapped_index(faults: dict[str, Fault], cards: list[Card]) -> list[Card]:
    """Cards in the order that this boot found them; `index-swap` exchanges the named card with card 0, in copies."""
    if "index-swap" not in faults or len(cards) < 2:
        return cards
    first = cards[0]
    other = next((c for c in cards if c.uuid == faults["index-swap"].card), cards[-1])
    index = {first.uuid: other.index, other.uuid: first.index}
    listed = [replace(card, index=index.get(card.uuid, card.index)) for card in cards]
    return sorted(listed, key=lambda card: card.index)
