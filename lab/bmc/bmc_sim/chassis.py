"""Chassis status. Chassis control is refused: a lab host is not switched off through its BMC."""

from __future__ import annotations

from . import state
from .replies import OK, Commands, Reply

ON_BY_COMMAND = 0x10


def commands() -> Commands:
    return {(0x00, 0x01): _status}


def _status(data: bytes) -> Reply:
    on = state.load_board().chassis
    power = 0x01 | _bits(on, {"overload": 0x02, "interlock": 0x04, "main-fault": 0x08, "control-fault": 0x10})
    restore_policy = 0x20  # the state before the power failed
    last_event = _bits(on, {"ac-failed": 0x01, "overload": 0x02, "interlock": 0x04, "main-fault": 0x08})
    return OK, bytes([power | restore_policy, last_event or ON_BY_COMMAND, _bits(on, {"cooling-fault": 0x08})])


def _bits(on: list[str], values: dict[str, int]) -> int:
    return sum(bit for name, bit in values.items() if name in on)
