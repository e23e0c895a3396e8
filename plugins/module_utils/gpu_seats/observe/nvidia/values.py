"""Single values as nvidia-smi prints them: numbers with units, and the many ways to say "no value"."""

from __future__ import annotations

import re
from dataclasses import dataclass

_BRACKETED = re.compile(r"^\[.*\]$", re.DOTALL)
_BARE_NO_VALUE = re.compile(
    r"^(?:-|N/?A|NA|ERR!?|none reported|no data|unknown(?: error)?|not (?:supported|found|available)\b.*"
    r"|insufficient permissions?|no permission|function not found|gpu is lost.*"
    r"|gpu (?:access blocked|requires reset)\b.*"
    r"|reset required|requested functionality\b.*|in use by another client|deprecated\b.*|invalid argument"
    r"|(?:driver/library )?version mismatch|timeout|not ready)$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"^([-+]?\d+(?:[.,]\d+)?(?:e[-+]?\d+)?)\s*([A-Za-z%/]*)(?:\s*\[.*\])?$")
_MEMORY_MIB = {
    "": 1.0,
    "B": 2.0**-20,
    "KIB": 2.0**-10,
    "KB": 2.0**-10,
    "MIB": 1.0,
    "MB": 1.0,
    "GIB": 1024.0,
    "GB": 1024.0,
}
_POWER_W = {"": 1.0, "W": 1.0, "MW": 0.001}
_NO_CARD_WATTS = 65535.0
"""No card, and no module of several, takes as much: it is a counter with all bits set."""
_BUS_ID = re.compile(
    r"(?:PCI:)?(?P<domain>[0-9A-Fa-f]{1,8}):(?P<bus>[0-9A-Fa-f]{1,2}):(?P<device>[0-9A-Fa-f]{1,2})(?:\.(?P<function>[0-9A-Fa-f])?)?"
)
BUS_ID = r"(?:PCI:)?[0-9A-Fa-f]{1,8}:[0-9A-Fa-f]{1,2}:[0-9A-Fa-f]{1,2}(?:\.[0-9A-Fa-f]?)?"
"""A bus id in a larger expression: domain of one to eight digits, function sometimes left out."""
UUID = r"(?:GPU|MIG)-[0-9A-Fa-f][0-9A-Fa-f/-]+(?:GPU-[0-9A-Fa-f/-]+)?"
VERSION = re.compile(r"\b\d+\.\d+(?:\.\d+)*\b")


@dataclass(frozen=True)
class Cell:
    """One printed value: text when the tool gave one, else reason (the printed text, as it stood)."""

    text: str | None
    reason: str = ""

    @property
    def is_lost(self) -> bool:
        return "gpu is lost" in self.reason.lower()

    @property
    def is_error(self) -> bool:
        """Whether the reason says that asking went wrong, not that the card has no such value."""
        low = self.reason.lower()
        return "unknown error" in low or low.startswith("err") or self.is_lost or "requires reset" in low


def cell(printed: str | None) -> Cell:
    """A printed value as text or as a reason why there is none.

    Anything in square brackets is a reason; so are the bare forms that XML and the table use.
    """
    if printed is None:
        return Cell(None, "not in this output")
    stripped = printed.strip()
    if not stripped:
        return Cell(None, "empty")
    if _BRACKETED.match(stripped) or _BARE_NO_VALUE.match(stripped):
        return Cell(None, stripped)
    return Cell(stripped)


def _scaled(text: str, scale: dict[str, float]) -> float | None:
    match = _NUMBER.match(text)
    if match is None or match.group(2).upper() not in scale:
        return None
    return float(match.group(1).replace(",", ".")) * scale[match.group(2).upper()]


def mib(text: str) -> float | None:
    """``"97887 MiB"`` or ``"97887"`` -> 97887.0; None for text that is no size."""
    return _scaled(text, _MEMORY_MIB)


def watts(text: str) -> float | None:
    """``"275.00 W"`` or ``"275.00"`` -> 275.0; None for text that is no power."""
    return _scaled(text, _POWER_W)


def card_watts(text: str) -> float | None:
    """Like `watts`, for what a card draws or is limited to; None for what drivers print where they have no value.

    That is 0 (NVML says success and gives 0), and -1 or 4294967.29 W (32 bits of milliwatts, all set).
    """
    value = watts(text)
    return value if value is not None and 0 < value < _NO_CARD_WATTS else None


def number(text: str) -> float | None:
    """The number at the start, whatever unit follows (``"53 C"``, ``"100 %"``, ``"1980 MHz"``)."""
    match = _NUMBER.match(text)
    return float(match.group(1).replace(",", ".")) if match else None


def bus_id(text: str | None) -> str | None:
    """Any spelling of a bus id as eight digits of domain in capitals: ``00000000:41:00.0``.

    >>> bus_id("0000:b3:00.0"), bus_id("PCI:0000:44:00"), bus_id("000:BA:80.0")
    ('00000000:B3:00.0', '00000000:44:00.0', '00000000:BA:80.0')
    """
    match = _BUS_ID.search(text) if text else None
    if match is None:
        return None
    return "{}:{}:{}.{}".format(
        match.group("domain").zfill(8).upper(),
        match.group("bus").zfill(2).upper(),
        match.group("device").zfill(2).upper(),
        (match.group("function") or "0").upper(),
    )


def version(text: str | None) -> str | None:
    """The first token that looks like ``N.N`` or ``N.N.N``; None for ``Deprecated, see ...``."""
    match = VERSION.search(text) if text else None
    return match.group(0) if match else None
