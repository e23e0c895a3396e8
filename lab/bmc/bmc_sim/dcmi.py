"""DCMI: capabilities and the power reading."""

from __future__ import annotations

import struct
import time

from . import state
from .meter import Meter
from .replies import (
    INVALID_COMMAND,
    INVALID_FIELD,
    NODE_BUSY,
    NOT_IN_THIS_STATE,
    OK,
    OUT_OF_RANGE,
    WRONG_LENGTH,
    Commands,
    Reply,
)

GROUP = 0xDC
ACTIVE = 0x40
STATISTICS = 0x01


class Dcmi:
    """Answers of the DCMI group of commands from a meter."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def commands(self) -> Commands:
        return {(0x2C, 0x01): self._capabilities, (0x2C, 0x02): self._power_reading}

    def _refusal(self, data: bytes) -> Reply | None:
        faults = state.active_faults()
        if data[:1] != bytes([GROUP]) or "dcmi-unsupported" in faults:
            return INVALID_COMMAND, b""
        if len(data) < 2:
            return WRONG_LENGTH, b""
        if "busy" in faults:
            left = faults["busy"]
            if left is not None:
                state.set_fault("busy", left - 1) if left > 1 else state.clear_faults("busy")
            return NODE_BUSY, b""
        return None

    def _capabilities(self, data: bytes) -> Reply:
        refusal = self._refusal(data)
        if refusal is not None:
            return refusal
        if data[1] != 1:
            return OUT_OF_RANGE, b""
        # DCMI 1.5, parameter revision 2; power management, and a channel over RMCP+
        return OK, bytes([GROUP, 1, 5, 2, 0, 1, 4])

    def _power_reading(self, data: bytes) -> Reply:
        refusal = self._refusal(data)
        if refusal is not None:
            return refusal
        faults = state.active_faults()
        if "dcmi-no-meter" in faults:
            return NOT_IN_THIS_STATE, b""
        if data[1] != STATISTICS:
            return INVALID_FIELD, b""
        seen, off = self._meter.figures(), "deactivated" in faults
        watts = [seen.current, seen.minimum, seen.maximum, seen.average]
        told = [0 if off or "zero" in faults else round(value) for value in watts]
        period = min(seen.period_ms, 0xFFFFFFFF)
        return OK, struct.pack("<B4HIIB", GROUP, *told, int(time.time()), period, 0 if off else ACTIVE)
