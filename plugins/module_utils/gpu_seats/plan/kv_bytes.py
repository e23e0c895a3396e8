"""KV cache sizes as vLLM's parser reads them (``--kv-cache-memory-bytes``, vLLM 0.28 to 0.33).

A lowercase suffix is decimal and takes a fraction (``1.5g`` = 1,500,000,000), an uppercase one is binary and takes
whole numbers only (``14G`` = 14 x 2**30); ``14GiB`` and ``1.5G`` are refused by the engine.
"""

from __future__ import annotations

import re

_DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SUFFIXED = re.compile(r"^(\d+(?:\.\d+)?)([kKmMgGtT])$")
BYTES_IN_MIB = 2**20


class KvBytesError(ValueError):
    """Text that vLLM would refuse; the message says what it takes instead."""


def kv_bytes(text: str) -> int:
    """Bytes that vLLM reads from `text`. Raises KvBytesError where vLLM refuses it."""
    text = text.strip()
    if re.fullmatch(r"\d+", text):
        return int(text)
    match = _SUFFIXED.fullmatch(text)
    if match is None:
        raise KvBytesError(
            f"{text!r} is not a size that vLLM reads: whole bytes, a whole number with K, M, G or T (binary: 14G), "
            "or a number with k, m, g or t (decimal: 1.5g)"
        )
    number, suffix = match.groups()
    if suffix in _DECIMAL:
        whole, _, fraction = number.partition(".")
        scale = _DECIMAL[suffix]
        return int(whole) * scale + (int(fraction) * scale // 10 ** len(fraction) if fraction else 0)
    if "." in number:
        raise KvBytesError(f"{text!r}: vLLM takes no decimals with a binary suffix; write {number}{suffix.lower()}")
    return int(number) * _BINARY[suffix]


def engine_text(bytes_: int) -> str:
    """The shortest text that vLLM reads as exactly `bytes_`: ``15032385536`` -> ``"14G"``."""
    if bytes_ <= 0:
        raise KvBytesError(f"a KV cache of {bytes_} bytes holds nothing; write a size above 0, like 14GiB")
    for suffix, scale in reversed(_BINARY.items()):
        if bytes_ % scale == 0:
            return f"{bytes_ // scale}{suffix}"
    return str(bytes_)


def bytes_of_mib(mib: float) -> int:
    """Whole bytes of a declared size (kept in MiB), so that a decimal unit such as 15GB loses nothing."""
    return round(mib * BYTES_IN_MIB)
