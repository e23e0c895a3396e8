"""What a simulated card reports at this moment: figures made from its claims, sentinels made from its faults."""

from __future__ import annotations

from dataclasses import dataclass

from .claims import Claim, live_claims
from .faults import Fault, hits
from .machine import Card, Machine
from .persistence import is_persistent
from .power import BUSY_ABOVE_W, drawn_watts, enforced_watts

NA = "N/A"
DEPRECATED = "Requested functionality has been deprecated"
UNKNOWN = "Unknown Error"
LIMITS = ("limit_w", "enforced_w", "default_w", "min_w", "max_w")


@dataclass(frozen=True)
class Reading:
    """One card, now. Numbers in the unit of their name; a text instead of a number is NVML's word for 'no value'."""

    card: Card
    claims: list[Claim]
    used_mib: int | str
    free_mib: int | str
    draw_w: float | str
    limit_w: float | str
    enforced_w: float | str
    default_w: float | str
    min_w: float | str
    max_w: float | str
    util_percent: int | str
    fan_percent: int | str
    temperature_c: int | str
    persistent: bool
    mig_mode: str
    pstate: str
    driver_version: str
    cuda_version: str


def read_card(card: Card, machine: Machine, faults: dict[str, Fault]) -> Reading:
    claims = live_claims(card.uuid)
    used = min(sum(c.mib for c in claims), card.memory_total_mib - card.reserve_mib)
    draw = drawn_watts(card, claims, faults)
    busy = draw > BUSY_ABOVE_W
    values: dict[str, float | int | str] = {
        "used_mib": used,
        "free_mib": card.memory_total_mib - card.reserve_mib - used,
        "draw_w": draw,
        "limit_w": card.limit_w,
        "enforced_w": enforced_watts(card, faults),
        "default_w": card.default_w,
        "min_w": card.min_w,
        "max_w": card.max_w,
        "util_percent": 97 if busy else 0,
        "fan_percent": 30 + (25 if busy else 0),
        "temperature_c": 30 + round(draw / 6),
    }
    for name, keys, word in (
        ("mig-enabled", ("util_percent",), NA),
        ("na-values", ("draw_w", *LIMITS), NA),
        ("deprecated-values", LIMITS, DEPRECATED),
        ("err-values", ("draw_w", "util_percent", "fan_percent", "temperature_c", "used_mib", "free_mib"), UNKNOWN),
    ):
        if hits(faults, name, card):
            values.update(dict.fromkeys(keys, word))
    new_driver = "driver-610" in faults
    return Reading(
        card=card,
        claims=claims,
        persistent=is_persistent(card),
        mig_mode="Enabled" if hits(faults, "mig-enabled", card) else "Disabled",
        pstate="P1" if busy else "P8",
        driver_version="610.57.04" if new_driver else machine.driver_version,
        cuda_version="13.3" if new_driver else machine.cuda_version,
        **values,  # type: ignore[arg-type]
    )
