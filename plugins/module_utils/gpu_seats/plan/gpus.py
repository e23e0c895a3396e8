"""Declared cards against the cards that nvidia-smi lists: the UUID is the truth, the bus id the cross-check.

Index order is not promised between boots, so a swapped index changes nothing for a card that declares its UUID. A
card whose UUID and bus id disagree with what the host shows was exchanged or moved: that stops the deployment.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from ..findings import Finding, finding

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from ..declare.host import Gpu, Host
    from .observed import ObservedCard

    _Identity = tuple[str | None, str | None, int | None]

_Card = TypeVar("_Card")


def device_ids(host: Host) -> dict[str, str]:
    """Card key -> what Docker gets as device id: the UUID, or the key as index where none is declared."""
    return {card: gpu.uuid or card for card, gpu in host.gpus.items()}


def same_bus(one: str | None, other: str | None) -> bool:
    """Bus ids name one slot: nvidia-smi prints the PCI domain with four or eight digits, in either case."""
    return one is not None and other is not None and _bus_key(one) == _bus_key(other)


def _bus_key(bus_id: str) -> tuple[int, str]:
    domain, _, rest = bus_id.lower().partition(":")
    return int(domain, 16) if re.fullmatch(r"[0-9a-f]+", domain) else -1, rest


def observed_card(gpu: Gpu, card: str, observed: Collection[ObservedCard]) -> ObservedCard | None:
    return listed_card(gpu, card, observed, lambda one: (one.uuid, one.bus_id, one.index))


def listed_card(gpu: Gpu, card: str, listed: Iterable[_Card], identity: Callable[[_Card], _Identity]) -> _Card | None:
    """The listed card that `gpu` declares: by UUID, else by bus id, else (nothing declared) by index.

    identity: UUID, bus id and index of a listed card.
    """
    if gpu.uuid is not None:
        return next((one for one in listed if identity(one)[0] == gpu.uuid), None)
    if gpu.bus_id is not None:
        return next((one for one in listed if same_bus(identity(one)[1], gpu.bus_id)), None)
    return next((one for one in listed if str(identity(one)[2]) == card), None)


def index_keyed_findings(host: Host, cards: Collection[str]) -> list[Finding]:
    """Cards in use that declare no UUID: Docker then gets an index, and its order is not promised."""
    return [
        finding(
            "gpu.index_keyed",
            f"host:{host.host}/gpu:{card}",
            f"card {card} of {host.host} declares no uuid, so containers get it by index, which may name another card "
            "after a boot",
        )
        for card in host.gpus
        if card in cards and host.gpus[card].uuid is None
    ]


def identity_findings(host: Host, cards: Collection[str], observed: Collection[ObservedCard]) -> list[Finding]:
    """Cards in use that are not there, or are not the declared ones."""
    return [
        problem for card in host.gpus if card in cards for problem in _one_card(host, card, host.gpus[card], observed)
    ]


def unseen_findings(host: Host, cards: Collection[str], reason: str) -> list[Finding]:
    """A driver that could not be asked, while cards are in use: an engine that runs goes on, a new one fails."""
    used = [card for card in host.gpus if card in cards]
    if not used or not reason:
        return []
    text = (
        f"which cards {host.host} has could not be seen ({reason}), and card {', '.join(used)} is needed: a container "
        "made now would not start, so those that run are left alone"
    )
    return [finding("gpu.cards_unseen", f"host:{host.host}", text)]


def _one_card(host: Host, card: str, gpu: Gpu, observed: Collection[ObservedCard]) -> list[Finding]:
    subject = f"host:{host.host}/gpu:{card}"
    listed = observed_card(gpu, card, observed)
    in_slot = next((one for one in observed if gpu.bus_id is not None and same_bus(one.bus_id, gpu.bus_id)), None)
    if listed is None and in_slot is not None and in_slot.uuid is not None:
        text = (
            f"card {card} of {host.host} is declared as {gpu.uuid} in slot {gpu.bus_id}, and another card is in that "
            f"slot: {in_slot.uuid}"
        )
        return [finding("gpu.identity_mismatch", subject, text, _lines_to_paste(card, in_slot))]
    if listed is None:
        named = gpu.uuid or gpu.bus_id or f"index {card}"
        others = ", ".join(str(one.uuid or one.bus_id or one.index) for one in observed) or "none"
        text = f"card {card} of {host.host} ({named}) is not among the cards that nvidia-smi lists: {others}"
        return [finding("gpu.not_listed", subject, text)]
    if gpu.uuid is not None and gpu.bus_id is not None and listed.bus_id and not same_bus(listed.bus_id, gpu.bus_id):
        text = (
            f"card {card} of {host.host} ({gpu.uuid}) is declared in slot {gpu.bus_id} and sits in {listed.bus_id}: "
            "cards were moved"
        )
        return [finding("gpu.identity_mismatch", subject, text, _lines_to_paste(card, listed))]
    return []


def _lines_to_paste(card: str, listed: ObservedCard) -> dict[str, str]:
    """The host file's lines as the host shows the card now, for an operator who meant the exchange."""
    return {f'gpus."{card}".uuid': str(listed.uuid), f'gpus."{card}".bus_id': str(listed.bus_id)}
