"""The worst case of one site: every device with its sum and its limits, what gives first, and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...findings import Finding, by_severity
from .checks import (
    cap_findings,
    claim_findings,
    limit_findings,
    proposal_text,
    recovery_findings,
    unfed_findings,
    unknown_findings,
)
from .devices import DevicePower, device_powers
from .fate import SharedFate, first_to_give, shared_fates
from .view import View, viewed
from .what_if import WhatIf

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ...declare.fleet import Fleet
    from ...declare.host import Host
    from .loads import LoadPower

_AS_DECLARED = WhatIf()
_UNSURE = {"estimate": "an estimate", "assumed": "assumed", "unknown": "not declared in full"}


@dataclass(frozen=True)
class SitePower:
    """What `site_power` found. question: the what-if text, empty for the site as declared.

    unmeasured: ``{load, text}`` of everything that nobody has read. proposal: the proposed feed with the same loads,
    None where none is declared.
    """

    site: str
    summary: str
    question: str
    devices: list[DevicePower]
    loads: list[LoadPower]
    first_to_give: dict[str, Any] | None
    shared_fate: list[SharedFate]
    proposal: dict[str, Any] | None
    unmeasured: list[dict[str, str]]
    readings: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def device(self, name: str) -> DevicePower:
        """Raises KeyError for a device that the site does not have."""
        return {one.name: one for one in self.devices}[name]

    def as_dict(self) -> dict[str, Any]:
        return {
            "site": self.site,
            "summary": self.summary,
            "what_if": self.question,
            "devices": [one.as_dict() for one in self.devices],
            "loads": [{**one.as_dict(), "readings": self.readings.get(one.name, [])} for one in self.loads],
            "first_to_give": self.first_to_give,
            "shared_fate": [one.as_dict() for one in self.shared_fate],
            "proposal": self.proposal,
            "unmeasured": list(self.unmeasured),
            "findings": [one.as_dict() for one in self.findings],
        }


def site_power(
    fleet: Fleet,
    site_name: str,
    what_if: WhatIf = _AS_DECLARED,
    loaded: Mapping[str, Collection[str]] | None = None,
    limits: Mapping[str, Mapping[str, float]] | None = None,
) -> SitePower:
    """The worst case of `site_name`.

    loaded: host -> its cards under load, None for every card of every host; a host that is not in it rests. limits:
    host -> card -> watts that the card enforces now, which count where they are above the cap. Raises KeyError for
    a site that is not declared, WhatIfError for a question that names what is not there.
    """
    site = fleet.sites[site_name]
    view = viewed(fleet, site, what_if, loaded, limits)
    devices = device_powers(view)
    fates = shared_fates(fleet, view, devices)
    first = first_to_give(view, devices)
    proposal = _proposal(fleet, view)
    found = [
        *limit_findings(view, devices),
        *unknown_findings(view),
        *unfed_findings(view),
        *cap_findings(view),
        *claim_findings(fleet, view),
        *recovery_findings(view, fates, first, proposal),
    ]
    hosts = [fleet.hosts[name] for name in view.loads if name in fleet.hosts]
    return SitePower(
        site_name,
        site.summary,
        what_if.text if what_if else "",
        devices,
        list(view.loads.values()),
        first,
        fates,
        proposal,
        _unmeasured(view, hosts),
        {host.host: _readings(host) for host in hosts},
        by_severity(found),
    )


def fleet_power_findings(fleet: Fleet) -> list[Finding]:
    """What is wrong with the circuits of every site that declares any, with every card loaded.

    Shared fate is no fault of a declaration: `gpu-seats power` tells it.
    """
    found = [one for name, site in fleet.sites.items() if site.circuits for one in site_power(fleet, name).findings]
    return [one for one in found if one.code != "power.correlated_recovery"]


def _proposal(fleet: Fleet, view: View) -> dict[str, Any] | None:
    """The proposed feed: its own devices and limits, and whether the way in survives on it."""
    if not view.site.feed_proposal:
        return None
    proposed = view.proposed(fleet)
    devices = device_powers(proposed)
    fates = shared_fates(fleet, proposed, devices)
    found = [*limit_findings(proposed, devices), *unknown_findings(proposed), *unfed_findings(proposed)]
    left_out = [name for name in view.loads if name in view.tree.fed and name not in proposed.tree.fed]
    return {
        "devices": [one.as_dict() for one in devices],
        "shared_fate": [one.as_dict() for one in fates],
        "separates": not any(one.locks_out for one in fates),
        "left_out": left_out,
        "text": proposal_text(devices, left_out),
        "findings": [one.as_dict() for one in by_severity(found)],
    }


def _unmeasured(view: View, hosts: list[Host]) -> list[dict[str, str]]:
    told = [{"load": host.host, "text": text} for host in hosts if host.power for text in host.power.unknown]
    named = {one["load"] for one in told}
    for name, load in view.loads.items():
        if name not in named and load.standing not in ("measured", "derived"):
            told.append({"load": name, "text": f"what it takes is {_UNSURE[load.standing]}"})
    return told


def _readings(host: Host) -> list[dict[str, Any]]:
    """What the machine was read to take as a whole, the highest value of each reading."""
    found = []
    for one in host.power.readings if host.power is not None else ():
        watts = one.maximum if one.maximum is not None else one.instantaneous
        if watts is not None:
            found.append({"source": one.source, "watts": watts, "on": one.date.isoformat()})
    return found
