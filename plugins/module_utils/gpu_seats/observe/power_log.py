"""The file of power samples: JSON lines that prove themselves, so that what a power cut tore can be told from the rest.

Each line is one JSON object whose last member, `crc`, is the CRC-32 of the line as it is without that member::

    {"kind":"sample","t":"2026-09-19T10:00:03.120Z","cards":[...],"bmc_watts":1482.0,"crc":"6f1d2c3b"}

A line is whole or counts as torn; a torn one never hides the lines around it.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

_ENDING = re.compile(rb',"crc":"([0-9a-f]{8})"\}$')
_SHOWN = 60

SAMPLE = "sample"


@dataclass(frozen=True)
class TornLine:
    """A line that does not prove itself. number: from 1. offset: its first byte in the file."""

    number: int
    offset: int
    start: str


@dataclass(frozen=True)
class PowerLog:
    """What a file holds, in its order. records: whole lines, without their checksum. torn: the others."""

    records: list[dict[str, Any]] = field(default_factory=list)
    torn: list[TornLine] = field(default_factory=list)

    @property
    def samples(self) -> list[dict[str, Any]]:
        return self.of(SAMPLE)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [one for one in self.records if one.get("kind") == kind]

    def last(self, kind: str) -> dict[str, Any] | None:
        found = self.of(kind)
        return found[-1] if found else None


def log_of(path: Path) -> PowerLog:
    """What the file holds; nothing where there is none yet. Raises OSError."""
    try:
        return read_power_log(path.read_bytes())
    except FileNotFoundError:
        return PowerLog()


def log_line(record: Mapping[str, Any]) -> bytes:
    """One whole line with its checksum and newline. Raises ValueError for NaN and infinities: they are no readings."""
    if not record or "crc" in record:
        raise ValueError("a record has members, and none of them is named crc")
    body = json.dumps(dict(record), separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode("ascii")
    return body[:-1] + b',"crc":"%08x"}\n' % zlib.crc32(body)


def record_of_line(line: bytes) -> dict[str, Any] | None:
    """The record of a line (with or without its newline), None if the line does not prove itself."""
    line = line.rstrip(b"\n")
    ending = _ENDING.search(line)
    if ending is None:
        return None
    body = line[: ending.start()] + b"}"
    if int(ending.group(1), 16) != zlib.crc32(body):
        return None
    try:
        record = json.loads(body)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def read_power_log(content: bytes) -> PowerLog:
    """Every whole line of a file, and which lines are torn; no content makes it raise."""
    log, offset = PowerLog(), 0
    for number, line in enumerate(content.split(b"\n"), 1):
        if line:
            record = record_of_line(line)
            if record is None:
                log.torn.append(TornLine(number, offset, line[:_SHOWN].decode("utf-8", "replace")))
            else:
                log.records.append(record)
        offset += len(line) + 1
    return log


def time_text(epoch_s: float) -> str:
    """Seconds since the epoch as the files write them: UTC, milliseconds."""
    moment = datetime.fromtimestamp(epoch_s, timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def epoch_of(text: object) -> float | None:
    """Seconds since the epoch of a time as the files write it; None if it is none."""
    try:
        moment = datetime.strptime(str(text), "%Y-%m-%dT%H:%M:%S.%fZ")
    except ValueError:
        return None
    return moment.replace(tzinfo=timezone.utc).timestamp()


__all__ = [
    "SAMPLE",
    "PowerLog",
    "TornLine",
    "epoch_of",
    "log_line",
    "log_of",
    "read_power_log",
    "record_of_line",
    "time_text",
]
