"""Sizes and watts with units, as people write them and as code counts them.

Memory is counted in MiB (1 MiB = 2**20 bytes, the unit of ``nvidia-smi``), watts as whole or broken watts,
times in seconds. Text without a unit is refused: a bare 93 says nothing.
"""

from __future__ import annotations

import re

_SIZE_MIB = {
    "B": 1 / 2**20,
    "KiB": 1 / 2**10,
    "MiB": 1,
    "GiB": 2**10,
    "TiB": 2**20,
    "kB": 1000 / 2**20,
    "MB": 1000**2 / 2**20,
    "GB": 1000**3 / 2**20,
    "TB": 1000**4 / 2**20,
}
_DURATION_S = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_QUANTITY = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*$", re.ASCII)


class UnitError(ValueError):
    """Text that is not a quantity; the message names the text and the allowed units."""


def _quantity(text: object, units: dict[str, float], what: str, example: str) -> float:
    match = _QUANTITY.match(text) if isinstance(text, str) else None
    if match is None or match.group(2) not in units:
        raise UnitError(
            "{!r} is not a {}: write a number and one of {}, like {}".format(text, what, ", ".join(units), example)
        )
    return float(match.group(1)) * units[match.group(2)]


def size_mib(text: object) -> float:
    """``"93GiB"`` -> 95232.0. Raises UnitError for numbers without a unit and for unknown units."""
    return _quantity(text, _SIZE_MIB, "size", "93GiB")


def held_size_mib(text: object) -> float:
    """Like `size_mib`, for what must hold something: raises UnitError for less than one byte too."""
    mib = size_mib(text)
    if mib * 2**20 < 1:
        raise UnitError(f"{text!r} holds nothing: write a size above 0, like 93GiB")
    return mib


def duration_s(text: object) -> float:
    """``"10m"`` -> 600.0. Raises UnitError."""
    return _quantity(text, _DURATION_S, "time", "600s")


def watts(text: object) -> float:
    """``"275W"`` -> 275.0. Raises UnitError."""
    return _quantity(text, {"W": 1, "kW": 1000}, "power", "275W")


def gib_text(mib: float) -> str:
    """95232 -> ``"93.0 GiB"``; under one GiB in MiB, so that small remainders do not read as 0.0."""
    return f"{mib / 1024:.1f} GiB" if abs(mib) >= 1024 else f"{round(mib)} MiB"
