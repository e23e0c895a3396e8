"""Checks of a host's cards: figures that contradict each other, and two cards that claim to be one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .problems import Path, Problem

if TYPE_CHECKING:
    from .fleet import Fleet
    from .host import Gpu
    from .yaml_source import Source


def host_problems(fleet: Fleet) -> Iterator[Problem]:
    """Every contradiction in the cards of every host."""
    first: dict[str, str] = {}
    for name, host in fleet.hosts.items():
        source = fleet.origins[f"host:{name}"]
        for card, gpu in host.gpus.items():
            path: Path = ("gpus", card)
            yield from _size_problems(source, path, gpu)
            yield from _power_problems(source, path, gpu)
            for key, identity in (("uuid", gpu.uuid), ("bus_id", gpu.bus_id and f"{name} {_plain_bus(gpu.bus_id)}")):
                holder = first.setdefault(identity, f"card {card} of {name}") if identity else None
                if holder not in (None, f"card {card} of {name}"):
                    message = f"is also the {key} of {holder}"
                    yield source.problem((*path, key), message, remedy="read both again: nvidia-smi -L")


def _plain_bus(bus_id: str) -> str:
    """A bus id with its domain in eight digits, in lower case: both spellings name one slot."""
    domain, _, rest = bus_id.partition(":")
    return f"{domain.zfill(8)}:{rest}".lower()


def _size_problems(source: Source, path: Path, gpu: Gpu) -> Iterator[Problem]:
    usable = gpu.vram - gpu.driver_reserve
    if usable <= 0:
        message = f"leaves nothing of the card's {gpu.vram:,.0f} MiB"
        yield source.problem((*path, "driver_reserve"), message, "less than vram")
    elif gpu.reserve is not None and gpu.reserve.full_size_from > usable:
        message = f"is more than the card holds ({usable:,.0f} MiB), so no seat can ever take it"
        yield source.problem((*path, "reserve", "full_size_from"), message, f"at most {usable:.0f}MiB")


def _power_problems(source: Source, path: Path, gpu: Gpu) -> Iterator[Problem]:
    limits = gpu.power_limits
    if limits is not None and not limits.min <= limits.default <= limits.max:
        message = "are not in order: min, default, max rise"
        yield source.problem((*path, "power_limits"), message, remedy="read them: nvidia-smi -q -d POWER")
