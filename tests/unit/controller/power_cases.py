"""A host with two capped cards on a breaker, and what its tools would say of it."""

from __future__ import annotations

from typing import Any

from controller_cases import HOST, UUIDS

from gpu_seats.declare.fleet import Fleet
from gpu_seats.declare.host import Host
from gpu_seats.declare.site import Site

LIMITS = {"min": "250W", "default": "300W", "max": "325W"}
POWER: dict[str, Any] = {
    "under_load": {"watts": "400W", "standing": "estimate", "how": "a guess"},
    "caps": {"limit": "275W", "cards": {"1": "260W"}, "ceiling": "300W", "reason": "one breaker"},
}
SITE = {
    "site": "lab",
    "summary": "A site",
    "circuits": {
        "b1": {"kind": "breaker", "amps": 10, "volts": 120, "feeds": ["box1"], "standing": "confirmed", "reason": "r"}
    },
}
UNITS = [{"name": "caps.service", "enabled": True}, {"name": "watch.timer", "enabled": True, "started": True}]
UNITS_FINE = {
    "caps.service": {"name": "caps.service", "load": "loaded", "active": "inactive", "enabled": "enabled"},
    "watch.timer": {"name": "watch.timer", "load": "loaded", "active": "active", "enabled": "enabled"},
}


def power_fleet(**caps: Any) -> Fleet:
    """caps: on top of those of POWER."""
    gpus = {
        key: {**gpu, "power_limits": LIMITS, "bus_id": f"00000000:0{int(key) + 1}:00.0"}
        for key, gpu in HOST["gpus"].items()
    }
    host = Host.model_validate({**HOST, "gpus": gpus, "power": {**POWER, "caps": {**POWER["caps"], **caps}}})
    return Fleet(sites={"lab": Site.model_validate(SITE)}, hosts={"box1": host}, stacks={})


def power_host() -> Host:
    return power_fleet().hosts["box1"]


def card(key: str, limit: float | None, draw: float | None = 20.0, **more: Any) -> dict[str, Any]:
    """One card as `power_look` lists it."""
    return {
        "uuid": UUIDS[key],
        "bus_id": f"00000000:0{int(key) + 1}:00.0",
        "enforced_power_limit_watts": limit,
        "power_limit_watts": limit,
        "power_draw_watts": draw,
        "unknown": {} if limit is not None else {"enforced_power_limit_watts": "[N/A]"},
        **more,
    }


def look(*cards: dict[str, Any], units: dict[str, Any] | None = None, findings: Any = ()) -> dict[str, Any]:
    return {"cards": list(cards), "units": UNITS_FINE if units is None else units, "findings": list(findings)}


def applied(key: str, before: float | None, wanted: float, **more: Any) -> dict[str, Any]:
    """One card in a result of `gpu_power_limit`."""
    changed = before is not None and before != wanted
    return {
        "card": key,
        "uuid": UUIDS[key],
        "wanted_watts": wanted,
        "before_watts": before,
        "after_watts": wanted,
        "changed": changed,
        "ok": True,
        "reason": "",
        **more,
    }


SET = {"cards": [applied("0", 300.0, 275.0), applied("1", 260.0, 260.0)], "findings": []}
