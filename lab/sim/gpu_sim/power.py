"""Watts of a simulated card: the limit that is in force, and what the card draws below it.

The simulated BMC reads them too, so that its watts follow the cards whatever nvidia-smi is made to say about them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from .claims import Claim, live_claims
from .faults import Fault, hits
from .machine import Card, Machine, changing_machine
from .persistence import is_persistent

IDLE_W = 3.8
BUSY_ABOVE_W = 100.0


def enforced_watts(card: Card, faults: dict[str, Fault]) -> float:
    return card.default_w if hits(faults, "enforced-differs", card) else card.limit_w


def drawn_watts(card: Card, claims: Iterable[Claim], faults: dict[str, Fault]) -> float:
    return min(IDLE_W + sum(claim.watts for claim in claims), enforced_watts(card, faults))


def loses_limit(card: Card, faults: dict[str, Fault]) -> bool:
    """Whether the driver has dropped the card's state, and the limit with it, since nothing keeps or holds the card."""
    off = hits(faults, "no-persistence-loses-limits", card) and not is_persistent(card)
    return off and card.limit_w != card.default_w and not live_claims(card.uuid)


def drop_unheld_limits(machine: Machine, faults: dict[str, Fault]) -> None:
    """Bring `machine` up to date where `loses_limit` says so, and the state that it was read from when root asks."""
    lost = {card.uuid for card in machine.cards if loses_limit(card, faults)}
    if not lost:
        return
    _to_default(machine, lost)
    if os.geteuid() == 0:
        with changing_machine() as kept:
            _to_default(kept, lost)


def _to_default(machine: Machine, uuids: set[str]) -> None:
    for card in machine.cards:
        if card.uuid in uuids:
            card.limit_w, card.limit_until = card.default_w, None
