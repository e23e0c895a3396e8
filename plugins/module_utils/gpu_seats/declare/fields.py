"""Field types of the declarations: text with units in, numbers with a unit in their name out.

Every type is strict. YAML 1.1 turns unquoted ``no``, ``1.10``, ``22:22`` and dates into other things than
text; such a value is refused where text is meant, with the advice to quote it.
"""

from __future__ import annotations

import datetime
import ipaddress
import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
)

from ..units import UnitError, duration_s, held_size_mib, size_mib, watts

MOST_WATTS = 1e9
"""No figure is above it, so that sums stay numbers."""


class Record(BaseModel):
    """Base of all declarations: unknown keys are errors, nothing is coerced, nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True, allow_inf_nan=False)


def _date(value: object) -> object:
    """A quoted date is a date too; a time of day is not."""
    if isinstance(value, str):
        try:
            return datetime.date.fromisoformat(value)
        except ValueError:
            raise ValueError(f"{value!r} is not a date: write a day like 2026-09-30") from None
    return value


def _address(value: str) -> str:
    """A name of digits and dots is an address that lacks a part; whatever has a colon is IPv6, not a port."""
    try:
        ipaddress.ip_address(value)
    except ValueError:
        if re.match(r"^[0-9.]+$", value) or not re.match(r"^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$", value):
            raise ValueError(
                f"{value!r} is no address: write an IP address or a host name, without a port or a path"
            ) from None
    return value


def _ip_address(value: str) -> str:
    """Docker binds to addresses alone: a name, or a part out of range, fails when the container starts."""
    try:
        ipaddress.ip_address(value)
    except ValueError:
        raise ValueError(f"{value!r} is no IP address: write an address of the host, like 127.0.0.1") from None
    return value


def _with_unit(parse: Any) -> Any:
    def convert(value: object, info: ValidationInfo) -> object:
        written = bool(info.context and info.context.get("written"))
        if isinstance(value, float) and not written:
            return value  # already counted: records made by code, not by YAML
        try:
            return parse(value)
        except UnitError as error:
            raise ValueError(str(error)) from None

    return convert


def _watts(text: object) -> float:
    """`watts`, with words of its own for a minus sign and for what no sum can hold."""
    if isinstance(text, (str, int, float)) and not isinstance(text, bool) and str(text).strip().startswith("-"):
        raise UnitError(f"{text!r} is negative: nothing draws less than 0W")
    found = watts(text)
    if found > MOST_WATTS:
        raise UnitError(f"{_cut(text)!r} is more than any site has: at most {MOST_WATTS / 1000:.0f}kW")
    return found


def _cut(text: object, length: int = 40) -> str:
    shown = str(text)
    return shown if len(shown) <= length else f"{shown[: length - 3]}..."


def _cap_watts(text: object) -> float:
    """`watts` of something that takes load: a limit of nothing would count a card as nothing."""
    found = _watts(text)
    if found == 0:
        raise UnitError(f"{text!r} is no limit: no card works at 0W, and sums would count it as nothing")
    return found


SERVED_NAME = r"^[A-Za-z0-9._/][^\s]*$"
_SIZE_PATTERN = r"^\d+(\.\d+)?\s*([KMGT]iB|[kMGT]?B)$"
SizeMib = Annotated[
    float,
    BeforeValidator(_with_unit(size_mib)),
    WithJsonSchema({"type": "string", "pattern": _SIZE_PATTERN, "examples": ["93GiB"]}),
]
HeldSizeMib = Annotated[
    float,
    BeforeValidator(_with_unit(held_size_mib)),
    WithJsonSchema({"type": "string", "pattern": _SIZE_PATTERN, "examples": ["93GiB"]}),
]
"""A size that can't be 0."""
Watts = Annotated[
    float,
    BeforeValidator(_with_unit(_watts)),
    WithJsonSchema({"type": "string", "pattern": r"^\d+(\.\d+)?\s*k?W$", "examples": ["275W"]}),
]
LimitWatts = Annotated[
    float,
    BeforeValidator(_with_unit(_cap_watts)),
    WithJsonSchema({"type": "string", "pattern": r"^\d+(\.\d+)?\s*k?W$", "examples": ["275W"]}),
]
"""Watts that can't be 0."""
Seconds = Annotated[
    float,
    BeforeValidator(_with_unit(duration_s)),
    WithJsonSchema({"type": "string", "pattern": r"^\d+(\.\d+)?\s*(ms|s|m|min|h|d)$", "examples": ["600s"]}),
]
Date = Annotated[datetime.date, BeforeValidator(_date)]
Port = Annotated[int, Field(ge=1, le=65535, examples=[8022])]
Fraction = Annotated[float, Field(gt=0, le=1)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=63)]
CardId = Annotated[str, StringConstraints(pattern=r"^\d+$")]
"""The card's key in the host file, a quoted digit: ``"2"``."""
Image = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][\w./:@-]*$", min_length=3)]
AbsolutePath = Annotated[str, StringConstraints(pattern=r"^/")]
Address = Annotated[str, AfterValidator(_address)]
"""An IP address or a host name, without a port."""
ServedName = Annotated[str, StringConstraints(pattern=SERVED_NAME, max_length=200)]
"""What clients send as the model: no blanks, and no leading dash, which the engine would read as a flag."""
IpAddress = Annotated[str, AfterValidator(_ip_address)]
EnvName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
SeatState = Literal["serving", "on_demand", "dormant", "retired"]
Engine = Literal["vllm", "llamacpp", "other"]
Task = Literal["chat", "completion", "embedding", "rerank", "reward", "transcription", "none"]
Assumed = dict[str, str]
"""Keys of the same record that no source gives, each with why the value was chosen."""
