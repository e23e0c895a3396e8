"""Sites, hosts and loads for the tests of watts, made by code from the declaration records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import plan_cases

from gpu_seats.declare.fleet import Fleet, load_fleet
from gpu_seats.declare.host import Host
from gpu_seats.declare.site import Site
from gpu_seats.declare.stack import Stack

ROOT = Path(__file__).parents[3]
LIMITS = {"min": "250W", "default": "300W", "max": "325W"}


def production() -> Fleet:
    return load_fleet(ROOT)


def figure(watts: float, **over: Any) -> dict[str, Any]:
    """An estimate; ``low=``, ``high=`` in watts."""
    bounds = {key: f"{over.pop(key)}W" for key in ("low", "high") if key in over}
    return {"watts": f"{watts}W", "standing": "estimate", **bounds, **over}


def gpu_host(name: str = "fv-ml1", cards: int = 4, **power: Any) -> Host:
    """A host with capped cards of 275 W and a machine of 400 W; a key of `power` given as None is left out."""
    data: dict[str, Any] = {
        "baseline": figure(313),
        "under_load": figure(400),
        "card_idle": figure(10),
        "caps": {"limit": "275W", "ceiling": "300W", "reason": "the circuit"},
        **power,
    }
    host = plan_cases.host(name, cards, power={key: value for key, value in data.items() if value is not None})
    gpus = {card: {**gpu.model_dump(exclude_none=True), "power_limits": LIMITS} for card, gpu in host.gpus.items()}
    return Host.model_validate({**host.model_dump(exclude_unset=True), "gpus": gpus, "power": host.power})


def small_host(name: str, watts: float, **over: Any) -> Host:
    """A host without cards."""
    power = {"under_load": figure(watts, **over)}
    return Host.model_validate({"host": name, "site": "fv", "summary": name, "power": power})


def breaker(*feeds: str, amps: float = 20, **over: Any) -> dict[str, Any]:
    data = {"kind": "breaker", "amps": amps, "volts": 120, "feeds": list(feeds), "standing": "confirmed", "reason": "r"}
    return {**data, **over}


def ups(*feeds: str, **over: Any) -> dict[str, Any]:
    data = {"kind": "ups", "rating_va": 1500, "power_factor": 0.6, "feeds": list(feeds), "standing": "assumed"}
    return {**data, "reason": "r", **over}


def site(circuits: dict[str, Any], **over: Any) -> Site:
    return Site.model_validate({"site": "fv", "summary": "a site", "circuits": circuits, **over})


def fleet(declared: Site, *hosts: Host, stacks: tuple[Stack, ...] = ()) -> Fleet:
    return Fleet(
        sites={declared.site: declared},
        hosts={host.host: host for host in hosts},
        stacks={stack.stack: stack for stack in stacks},
    )
