"""Who the BMC says it is: device ID, GUID, and a FRU that calls it a simulator."""

from __future__ import annotations

import struct
import uuid

from .replies import INVALID_COMMAND, NOT_PRESENT, OK, TOO_MANY_BYTES, WRONG_LENGTH, Commands, Handler, Reply

GUID = uuid.uuid5(uuid.NAMESPACE_DNS, "bmc.gpu-seats-lab.invalid")
MANUFACTURER = 0
"""IANA number "unspecified"; ipmitool calls it Unknown."""
PRODUCT_TEXTS = ("gpu-seats lab", "SIMULATED BMC", "bmc-sim", "1.0", "none")
"""FRU: manufacturer, name, part number, version, serial number."""
LARGEST_READ = 32


def device_id(data: bytes) -> Reply:
    # device 32, provides SDRs, firmware 1.00, IPMI 2.0; SEL, SDR repository, sensors, FRU, chassis
    head = bytes([0x20, 0x81, 0x01, 0x00, 0x02, 0x80 | 0x0F])
    return OK, head + MANUFACTURER.to_bytes(3, "little") + struct.pack("<H", 0) + bytes(4)


def text_field(text: str) -> bytes:
    return bytes([0xC0 | len(text)]) + text.encode("ascii")


def with_checksum(area: bytes) -> bytes:
    """A FRU area padded to whole groups of eight bytes, its length and its checksum set."""
    padded = area.ljust(-(-(len(area) + 1) // 8) * 8 - 1, b"\0")
    padded = padded[:1] + bytes([(len(padded) + 1) // 8]) + padded[2:]
    return padded + bytes([-sum(padded) & 0xFF])


def fru() -> bytes:
    """Header and product area."""
    head = bytes([1, 0, 0, 0, 1, 0, 0])
    product = bytes([1, 0, 0]) + b"".join(text_field(text) for text in PRODUCT_TEXTS) + bytes([0xC0, 0xC0, 0xC1])
    return head + bytes([-sum(head) & 0xFF]) + with_checksum(product)


def fru_size(data: bytes) -> Reply:
    if data[:1] != b"\0":
        return NOT_PRESENT, b""
    return OK, struct.pack("<HB", len(fru()), 0)


def fru_bytes(data: bytes) -> Reply:
    if len(data) < 4:
        return WRONG_LENGTH, b""
    number, offset, count = struct.unpack("<BHB", data[:4])
    if number != 0:
        return NOT_PRESENT, b""
    if count > LARGEST_READ:
        return TOO_MANY_BYTES, b""
    part = fru()[offset : offset + count]
    return OK, bytes([len(part)]) + part


def fixed(reply: bytes) -> Handler:
    return lambda data: (OK, reply)


def commands() -> Commands:
    return {
        (0x06, 0x01): device_id,
        (0x06, 0x04): fixed(b"\x55\x00"),  # self test passed
        (0x06, 0x37): fixed(GUID.bytes_le),
        (0x06, 0x2F): fixed(b"\x08"),  # global enables: event log
        (0x0A, 0x10): fru_size,
        (0x0A, 0x11): fru_bytes,
    }


def unknown(data: bytes) -> Reply:
    return INVALID_COMMAND, b""
