"""What nvidia-smi changes: persistence mode (-pm) and power limits (-pl), one card after the other.

A refusal ends the tool at its card; what was set before it stays set, as with the real tool.
"""

from __future__ import annotations

import os
import time

from . import machine as state
from .faults import Fault, ToolError, hits, seconds_of
from .machine import Card, changing_machine
from .persistence import daemon_runs, is_persistent

MIXED = "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n"
TERMINATING = "Terminating early due to previous errors.\n"
WARNING = (
    "\nWarning: persistence mode is disabled on device {bus}. See the Known Issues section of the nvidia-smi(1) man "
    "page for more information. Run with [--help | -h] switch to get more information on how to enable persistence "
    "mode.\n"
)
DRIFT_S = 5.0


def is_permitted() -> bool:
    """Root on the host may; root in a container lacks the capability."""
    return os.geteuid() == 0 and not state.VISIBLE_FILE.exists()


def set_persistence(cards: list[Card], value: str, active: dict[str, Fault]) -> str:
    """-pm on `cards`; through nvidia-persistenced while that runs, else in the legacy way."""
    if value not in ("0", "1", "DISABLED", "ENABLED"):
        raise ToolError(MIXED, 2)
    wanted = value in ("1", "ENABLED")
    text = ""
    with changing_machine() as machine:
        kept = {card.uuid: card for card in machine.cards}
        for card in cards:
            if not is_permitted() or hits(active, "persistence-refused", card):
                refusal = f"Unable to set persistence mode for GPU {card.bus_id}: Insufficient Permissions\n"
                raise ToolError(text + refusal + TERMINATING, 4)
            text += _switched(kept[card.uuid], wanted)
    return text + "All done.\n"


def _switched(card: Card, wanted: bool) -> str:
    word = "Enabled" if wanted else "Disabled"
    if is_persistent(card) == wanted:
        return f"Persistence mode is already {word} for GPU {card.bus_id}.\n"
    through_daemon = daemon_runs() and not card.persistence
    card.persistence = wanted and not through_daemon
    card.daemon_persistence = wanted and through_daemon
    return f"{word} {'' if through_daemon else 'Legacy '}persistence mode for GPU {card.bus_id}.\n"


def set_limits(cards: list[Card], value: str, active: dict[str, Fault]) -> str:
    """-pl on `cards`."""
    try:
        watts = float(value)
    except ValueError:
        raise ToolError(MIXED, 2) from None
    text, code = "", 0
    with changing_machine() as machine:
        kept = {card.uuid: card for card in machine.cards}
        for card in cards:
            unsupported = f"Changing power management limit is not supported {{}}for GPU: {card.bus_id}.\n"
            if hits(active, "pl-unsupported-scope", card):
                text, code = text + unsupported.format("in current scope "), 3
            elif hits(active, "pl-unsupported", card) or hits(active, "na-values", card):
                text += unsupported.format("") + "Treating as warning and moving on.\n"
            else:
                refusal = _refusal(card, watts, active)
                if refusal is not None:
                    raise ToolError(text + refusal.text + TERMINATING, refusal.code)
                text += _limited(kept[card.uuid], watts, active)
    if code:
        raise ToolError(text + "All done.\n", code)
    return text + "All done.\n"


def _refusal(card: Card, watts: float, active: dict[str, Fault]) -> ToolError | None:
    if not card.min_w <= watts <= card.max_w:
        text = (
            f"Provided power limit {watts:.2f} W is not a valid power limit which should be between "
            f"{card.min_w:.2f} W and {card.max_w:.2f} W for GPU {card.bus_id}\n"
        )
        return ToolError(text, 2)
    failed = f"Failed to set power management limit for GPU {card.bus_id}: "
    if not is_permitted() or hits(active, "pl-permission", card):
        return ToolError(f"{failed}Insufficient Permissions\n", 4)
    if hits(active, "pl-partly", card):
        return ToolError(f"{failed}Unknown Error\n", 255)
    return None


def _limited(card: Card, watts: float, active: dict[str, Fault]) -> str:
    text = f"Power limit for GPU {card.bus_id} was set to {watts:.2f} W from {card.limit_w:.2f} W.\n"
    if not is_persistent(card):
        text += WARNING.format(bus=card.bus_id)
    if not hits(active, "pl-ignored", card):
        card.limit_w, card.limit_until = watts, None
        if hits(active, "limit-drifts", card):
            card.limit_until = time.time() + seconds_of(active["limit-drifts"], DRIFT_S)
    return text
