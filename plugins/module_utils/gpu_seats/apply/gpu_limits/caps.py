"""The caps that a host declares, as the role hands them to its target: checked before a card is touched.

One cap is a mapping::

    {"card": "2", "uuid": "GPU-...", "bus_id": "00000000:41:00.0", "limit_watts": 275, "reason": "...",
     "ceiling_watts": 300, "min_watts": 250, "default_watts": 300, "max_watts": 325,
     "above_stock": "2026-01-31: reason"}

card, limit_watts, reason, and one of uuid and bus_id are required; the rest may be left out or null. above_stock is
what allows a limit above the card's stock limit: the day of that decision, a colon, and its reason.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_WATTS = ("limit_watts", "ceiling_watts", "min_watts", "default_watts", "max_watts")
KEYS = ("card", "uuid", "bus_id", *_WATTS, "reason", "above_stock")


class CapsError(ValueError):
    """A declaration of caps that can't be used; the message names where, the value and what is allowed."""


@dataclass(frozen=True)
class Cap:
    """The limit of one card. card: its key in the host file. uuid names it, bus_id only where it declares no UUID."""

    card: str
    uuid: str | None
    bus_id: str | None
    limit_watts: float
    reason: str
    ceiling_watts: float | None = None
    min_watts: float | None = None
    default_watts: float | None = None
    max_watts: float | None = None
    above_stock: str = ""

    @property
    def subject(self) -> str:
        return f"gpu:{self.card}"

    @property
    def id(self) -> str:
        """What ``nvidia-smi -i`` is given."""
        return self.uuid or self.bus_id or ""


def caps_from(data: Any, where: str = "caps") -> list[Cap]:
    """The caps of a list of mappings. where: file or option, for messages. Raises CapsError at the first bad value."""
    if not isinstance(data, list):
        raise CapsError(f"{where} is {_shown(data)}: a list of caps is needed")
    caps = [_cap(one, f"{where}[{number}]") for number, one in enumerate(data)]
    for name in ("card", "uuid", "bus_id"):
        _once(caps, name, where)
    return caps


def _cap(data: Any, where: str) -> Cap:
    if not isinstance(data, Mapping):
        raise CapsError(f"{where} is {_shown(data)}: a mapping is needed")
    unknown = sorted(str(key) for key in data if key not in KEYS)
    if unknown:
        raise CapsError(f"{where} has unknown keys {', '.join(unknown)}: known are {', '.join(KEYS)}")
    card = data.get("card")
    if not isinstance(card, str) or not card.strip():
        raise CapsError(f"{where}.card is {_shown(card)}: the card's key in the host file is needed, as text")
    uuid, bus_id = _text(data, "uuid", where), _text(data, "bus_id", where)
    if not uuid and not bus_id:
        raise CapsError(f"{where} (card {card}) names no card: uuid or bus_id is needed")
    watts = {name: _watts(data, name, where) for name in _WATTS}
    limit = watts.pop("limit_watts")
    if limit is None:
        raise CapsError(f"{where}.limit_watts is missing: a power above 0 W is needed")
    reason = _text(data, "reason", where)
    if not reason:
        raise CapsError(f"{where}.reason is missing: say in a sentence why card {card} has this limit")
    return Cap(card, uuid, _bus(bus_id, where), limit, reason, above_stock=_above_stock(data, where), **watts)


def _text(data: Mapping[str, Any], name: str, where: str) -> str | None:
    value = data.get(name)
    if value is not None and not isinstance(value, str):
        raise CapsError(f"{where}.{name} is {_shown(value)}: text is needed")
    return (value or "").strip() or None


def _bus(bus_id: str | None, where: str) -> str | None:
    from ...observe.nvidia.values import bus_id as normal_form

    if bus_id is not None and normal_form(bus_id) is None:
        raise CapsError(f"{where}.bus_id is {bus_id!r}: a PCI address like 00000000:41:00.0 is needed")
    return normal_form(bus_id)


def _watts(data: Mapping[str, Any], name: str, where: str) -> float | None:
    value = data.get(name)
    if value is None:
        return None
    # bool is an int in Python, and JSON readers take NaN
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
        raise CapsError(f"{where}.{name} is {_shown(value)}: a number of watts above 0 is needed")
    return float(value)


def _above_stock(data: Mapping[str, Any], where: str) -> str:
    """``<day>: <reason>`` of the decision to run above stock; "" where nobody took it."""
    value = data.get("above_stock")
    if value is None:
        return ""
    day, colon, reason = value.partition(":") if isinstance(value, str) else ("", "", "")
    try:
        datetime.date.fromisoformat(day.strip())
    except ValueError:
        day = ""
    if not day or not colon or not reason.strip():
        wanted = "a day and a reason are needed, like '2026-01-31: measured at the wall'"
        raise CapsError(f"{where}.above_stock is {_shown(value)}: {wanted}")
    return str(value)


def _once(caps: Iterable[Cap], name: str, where: str) -> None:
    seen: dict[str, str] = {}
    for cap in caps:
        value = getattr(cap, name)
        if value is not None and value in seen:
            raise CapsError(f"{where}: cards {seen[value]} and {cap.card} both have the {name} {value}")
        if value is not None:
            seen[value] = cap.card


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


__all__ = ["KEYS", "Cap", "CapsError", "caps_from"]
