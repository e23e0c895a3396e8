"""Converters for flag values: the same spellings are taken and refused as by vLLM's own."""

from __future__ import annotations

import argparse
import json
import re
from typing import Any, Callable

DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
CONFIG_FIELDS = {"EngramConfig": {"cpu_offload", "embedding_across_dp", "dp_shared_memory", "use_thp"}}


def human_readable_int(text: str) -> int:
    """``14G`` = 14 * 2^30, ``1.5g`` = 1.5 * 10^9, plain digits; ``14GiB`` and ``1.5G`` raise."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmMgGtT])", text.strip())
    if match is None:
        return int(text)
    number, suffix = match.groups()
    if suffix in DECIMAL:
        return int(float(number) * DECIMAL[suffix])
    if "." in number:
        raise argparse.ArgumentTypeError(
            f"Decimals are not allowed with binary suffixes like {suffix}. "
            f"Did you mean to use {number}{suffix.lower()} instead?"
        )
    return int(number) * BINARY[suffix]


def human_readable_int_or_auto(text: str) -> int:
    """Like `human_readable_int`; ``auto`` (or -1) is -1: as much context as memory allows."""
    return -1 if text.strip().lower() == "auto" else human_readable_int(text)


def union_dict_and_str(text: str) -> Any:
    return json.loads(text) if re.match(r"(?s)^\s*{.*}\s*$", text) else text


def config_of(name: str) -> Callable[[str], dict[str, Any]]:
    """Converter for a ``json:<Class>`` flag; unknown keys are refused where the class's fields are known."""

    def convert(text: str) -> dict[str, Any]:
        value = json.loads(text)
        if not isinstance(value, dict):
            raise ValueError(f"{name} takes a JSON object")
        unknown = set(value) - CONFIG_FIELDS.get(name, set(value))
        if unknown:
            raise ValueError(f"{name}: unexpected keyword argument {sorted(unknown)[0]!r}")
        return value

    return convert


SIMPLE: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "loads": json.loads,
    "human_readable_int": human_readable_int,
    "human_readable_int_or_auto": human_readable_int_or_auto,
    "union_dict_and_str": union_dict_and_str,
}


def converter(kind: str | None) -> Callable[[str], Any]:
    """The argparse type for a table's `type`; errors read as vLLM's do."""
    if kind is None:
        return str
    optional = re.fullmatch(r"optional\[(.*)\]", kind)
    inner = optional[1] if optional else kind
    base = config_of(inner[5:]) if inner.startswith("json:") else SIMPLE.get(inner, str)

    def convert(text: str) -> Any:
        if optional and text in ("", "None"):
            return None
        try:
            return base(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"Value {text} cannot be converted to <function {inner}>.") from error

    return convert
