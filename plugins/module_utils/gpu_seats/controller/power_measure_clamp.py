"""A clamp meter's reading that comes after a measurement: which one it belongs to, and what it was around."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..declare.fleet import Fleet
from ..declare.host import Host
from ..declare.problems import did_you_mean
from ..plan.power.measurement import Clamp, load_words
from ..plan.power.site import site_power
from .declared_faults import PlayHostError

CLAMP_IS_OF_BEFORE = (
    "clamp_watts= is a reading that was taken at a measurement of before, and loads nothing; fresh=true and clamp=ask"
    " measure anew. Give one of them: clamp=ask asks for the reading while the highest step is held"
)


def clamp_afterwards(fleet: Fleet, host: Host, watts: float, around: str) -> Clamp:
    """The reading as it was given. Raises PlayHostError for one that is none, or around what does not feed the host."""
    if not 0 < watts < 1e6:
        raise PlayHostError(f"clamp_watts={watts:g}: watts above 0 are wanted, amps x volts")
    places = ["host", *_devices_above(fleet, host)]
    if around and around not in places:
        near = did_you_mean(around, places) or f"there are {', '.join(places)}"
        raise PlayHostError(f"clamp_at={around}: nothing above {host.host} has that name; {near}")
    return Clamp(watts, around)


def _devices_above(fleet: Fleet, host: Host) -> list[str]:
    if host.site not in fleet.sites:
        return []
    devices = site_power(fleet, host.site).devices
    return [one.name for one in devices if any(term.name == host.host for term in one.terms)]


def no_run_text(host: str, folder: str) -> str:
    return (
        f"clamp_watts=: no measurement of {host} in {folder} came to its end within the last 24 hours, so the reading"
        " belongs to nothing. Measure with -e clamp=ask, which asks for it while the highest step is held; one that was"
        " cut off is resumed without clamp_watts"
    )


def taken_text(host: str, clamp: Clamp, run: Mapping[str, Any]) -> str:
    """``fv-ml1  takes 1480 W around host to the measurement that ended ..., cards 0, 1 loaded by ...``"""
    around = f" around {clamp.around}" if clamp.around else ""
    cards = ", ".join(run["cards"]) or "no"
    return (
        f"{host}  takes the clamp meter's {clamp.watts:g} W{around} to the measurement that ended {run['ended']}, cards"
        f" {cards} loaded by {load_words(run['load'])} ({run['log']}); nothing is loaded"
    )


__all__ = ["CLAMP_IS_OF_BEFORE", "clamp_afterwards", "no_run_text", "taken_text"]
