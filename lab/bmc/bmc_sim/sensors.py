"""The sensor repository and the sensors' readings."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from . import state
from .meter import Meter
from .replies import NOT_PRESENT, OK, TOO_MANY_BYTES, WRONG_LENGTH, Commands, Reply

CELSIUS, WATTS, RPM = 1, 6, 18
TEMPERATURE, FAN, POWER_SUPPLY, POWER_UNIT, OTHER_UNITS = 0x01, 0x04, 0x08, 0x09, 0x0B
SENSOR_SPECIFIC, REDUNDANCY = 0x6F, 0x0B
SYSTEM_BOARD, SUPPLY_ENTITY, FAN_ENTITY = 7, 10, 29
UNREADABLE = 0xE0
READABLE = 0xC0
LARGEST_READ = 34
WATTS_NUMBER, UNIT_NUMBER, REDUNDANCY_NUMBER, FIRST_SUPPLY = 0x60, 0x70, 0x71, 0x80


@dataclass(frozen=True)
class Sensor:
    """One sensor. unit 0: a discrete one. step: what one count of its reading byte means in its unit."""

    number: int
    name: str
    kind: int
    entity: int
    unit: int = 0
    step: int = 1
    event_type: int = SENSOR_SPECIFIC

    def record(self, record_id: int) -> bytes:
        """Its record in the repository: a full one with a linear reading, or a compact one."""
        name = bytes([0xC0 | len(self.name)]) + self.name.encode("ascii")
        key = bytes([0x20, 0, self.number, self.entity, self.number & 0x0F or 1])
        if self.unit:
            body = bytearray(42)
            body[0:9] = key + bytes([0x7F, 0x40, self.kind, 0x01])
            body[16] = self.unit
            body[19], body[20] = self.step & 0xFF, self.step >> 2 & 0xC0
        else:
            body = bytearray(26)
            body[0:9] = key + bytes([0x67, 0x40, self.kind, self.event_type])
            body[9:15] = b"\xff\x7f" * 3
            body[15] = 0xC0  # no analogue reading
            body[18] = 0x01  # shared by nobody
        full = bytes(body) + name
        return struct.pack("<HBBB", record_id, 0x51, 1 if self.unit else 2, len(full)) + full


TEMPERATURES = {
    1: (Sensor(1, "CPU Temp", TEMPERATURE, 3, CELSIUS), 46),
    2: (Sensor(2, "System Temp", TEMPERATURE, SYSTEM_BOARD, CELSIUS), 31),
}
FANS = {number: Sensor(number, f"FAN{number - 0x40}", FAN, FAN_ENTITY, RPM, 100) for number in (0x41, 0x42)}
# 255 x 10 W: the byte of a reading has to reach what the host can draw at most
CONSUMPTION = Sensor(WATTS_NUMBER, "PW Consumption", OTHER_UNITS, SYSTEM_BOARD, WATTS, 10)
UNIT = Sensor(UNIT_NUMBER, "Power Unit", POWER_UNIT, SUPPLY_ENTITY)
REDUNDANT = Sensor(REDUNDANCY_NUMBER, "PS Redundancy", POWER_SUPPLY, SUPPLY_ENTITY, event_type=REDUNDANCY)


class Sensors:
    """Answers about the sensors of a board with so many power supplies."""

    def __init__(self, meter: Meter, supplies: int) -> None:
        self._meter = meter
        self._supplies = {
            FIRST_SUPPLY + i: Sensor(FIRST_SUPPLY + i, f"PS{i} Status", POWER_SUPPLY, SUPPLY_ENTITY)
            for i in range(1, supplies + 1)
        }

    def commands(self) -> Commands:
        return {
            (0x0A, 0x20): self._repository_info,
            (0x0A, 0x22): lambda data: (OK, b"\x01\x00"),  # reservation
            (0x0A, 0x23): self._record,
            (0x04, 0x2D): self._reading,
            (0x04, 0x27): lambda data: (OK, bytes(7)),  # no threshold is readable
        }

    def present(self) -> list[Sensor]:
        watts = [] if "no-sensor" in state.active_faults() else [CONSUMPTION]
        analogue = [sensor for sensor, _ in TEMPERATURES.values()]
        return [*analogue, *FANS.values(), *watts, UNIT, REDUNDANT, *self._supplies.values()]

    def _repository_info(self, data: bytes) -> Reply:
        return OK, struct.pack("<BHHIIB", 0x51, len(self.present()), 0xFFFF, 1, 1, 0x02)

    def _record(self, data: bytes) -> Reply:
        if len(data) < 6:
            return WRONG_LENGTH, b""
        wanted, offset, count = struct.unpack("<HBB", data[2:6])
        sensors = self.present()
        at = len(sensors) - 1 if wanted == 0xFFFF else max(wanted - 1, 0)
        if at >= len(sensors):
            return NOT_PRESENT, b""
        record = sensors[at].record(at + 1)
        part = record[offset:] if count == 0xFF else record[offset : offset + count]
        if len(part) > LARGEST_READ:
            return TOO_MANY_BYTES, b""
        following = 0xFFFF if at == len(sensors) - 1 else at + 2
        return OK, struct.pack("<H", following) + part

    def _reading(self, data: bytes) -> Reply:
        number = data[0] if data else -1
        if number not in {sensor.number for sensor in self.present()}:
            return NOT_PRESENT, b""
        if number in TEMPERATURES:
            return OK, bytes([TEMPERATURES[number][1], READABLE, 0xC0])
        if number in FANS:
            return OK, bytes([42, READABLE, 0xC0])
        if number == WATTS_NUMBER:
            if "sensor-unreadable" in state.active_faults():
                return OK, bytes([0, UNREADABLE, 0xC0])
            return OK, bytes([min(round(self._meter.figures().current / CONSUMPTION.step), 255), READABLE, 0xC0])
        return OK, bytes([0, READABLE, self._states(number), 0x80])

    def _states(self, number: int) -> int:
        """Bits of a discrete sensor's states."""
        conditions = state.load_board().supplies
        if number == UNIT_NUMBER:
            return 0x00
        if number == REDUNDANCY_NUMBER:
            return 0x02 if any(conditions.values()) else 0x01
        on = conditions.get(str(number - FIRST_SUPPLY), [])
        return 0x01 | (0x02 if "failure" in on else 0) | (0x08 if "ac-lost" in on else 0)
