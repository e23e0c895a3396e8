"""The system event log: named power events, and the commands that read and clear it."""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass

from . import state
from .replies import INVALID_FIELD, NOT_PRESENT, OK, WRONG_LENGTH, Commands, Reply
from .sensors import (
    FIRST_SUPPLY,
    POWER_SUPPLY,
    POWER_UNIT,
    REDUNDANCY,
    REDUNDANCY_NUMBER,
    SENSOR_SPECIFIC,
    UNIT_NUMBER,
)

EVENT_LOG = 0x10
CAPACITY = 512
FILE = "sel.json"
Entry = dict[str, int]


@dataclass(frozen=True)
class Event:
    """What is logged: sensor type and number, event type and offset. supply: the number is that of a power supply."""

    help: str
    sensor_type: int
    number: int
    offset: int
    event_type: int = SENSOR_SPECIFIC
    supply: bool = False


EVENTS = {
    "supply-ac-lost": Event("a power supply's input is gone", POWER_SUPPLY, FIRST_SUPPLY, 3, supply=True),
    "supply-failure": Event("a power supply has failed", POWER_SUPPLY, FIRST_SUPPLY, 1, supply=True),
    "redundancy-lost": Event("power supplies are no longer redundant", POWER_SUPPLY, REDUNDANCY_NUMBER, 1, REDUNDANCY),
    "power-off": Event("the host was switched off", POWER_UNIT, UNIT_NUMBER, 0),
    "ac-lost": Event("the whole power unit lost its input", POWER_UNIT, UNIT_NUMBER, 4),
    "unit-failure": Event("the power unit has failed", POWER_UNIT, UNIT_NUMBER, 6),
}
CLEARED = Event("the log was cleared", EVENT_LOG, 0, 2)


def entries() -> list[Entry]:
    found: list[Entry] = state.stored(FILE, [])
    return found


def log(event: Event, supply: int = 1, back: bool = False, at: float | None = None) -> None:
    """Append an event; `back`: that its condition is over. The oldest go when the log is full."""
    kept = entries()[-(CAPACITY - 1) :]
    entry = {
        "id": (kept[-1]["id"] if kept else 0) % 0xFFFE + 1,
        "time": int(time.time() if at is None else at),
        "sensor_type": event.sensor_type,
        "number": event.number + (supply if event.supply else 0),
        "event_type": event.event_type | (0x80 if back else 0),
        "offset": event.offset,
    }
    state.write(FILE, [*kept, entry])


def clear() -> None:
    """Empty the log; as on real boards it then begins with a note of that."""
    state.write(FILE, [])
    log(CLEARED)


def record(entry: Entry) -> bytes:
    """The 16 bytes of a system event record."""
    head = struct.pack("<HBIHB", entry["id"], 0x02, entry["time"], 0x0020, 0x04)
    return head + bytes([entry["sensor_type"], entry["number"], entry["event_type"], entry["offset"], 0xFF, 0xFF])


def _info(data: bytes) -> Reply:
    found = entries()
    last = found[-1]["time"] if found else 0xFFFFFFFF
    free = (CAPACITY - len(found)) * 16
    return OK, struct.pack("<BHHIIB", 0x51, len(found), free, last, 0xFFFFFFFF, 0x02)


def _entry(data: bytes) -> Reply:
    if len(data) < 6:
        return WRONG_LENGTH, b""
    wanted, offset, count = struct.unpack("<HBB", data[2:6])
    found = entries()
    ids = [entry["id"] for entry in found]
    if not found or (wanted not in ids and wanted not in (0, 0xFFFF)):
        return NOT_PRESENT, b""
    at = {0: 0, 0xFFFF: len(found) - 1}.get(wanted, ids.index(wanted) if wanted in ids else 0)
    following = 0xFFFF if at == len(found) - 1 else ids[at + 1]
    whole = record(found[at])
    return OK, struct.pack("<H", following) + (whole[offset:] if count == 0xFF else whole[offset : offset + count])


def _clear(data: bytes) -> Reply:
    if data[2:5] != b"CLR":
        return INVALID_FIELD, b""
    if data[5:6] == b"\xaa":
        clear()
    return OK, b"\x01"


def _time(data: bytes) -> Reply:
    return OK, struct.pack("<I", int(time.time()))


def commands() -> Commands:
    return {
        (0x0A, 0x40): _info,
        (0x0A, 0x42): lambda data: (OK, b"\x01\x00"),  # reservation
        (0x0A, 0x43): _entry,
        (0x0A, 0x47): _clear,
        (0x0A, 0x48): _time,
    }
