"""What the task `site_power` returns: the caps of one host for its role, and the watts of the host's whole site."""

from __future__ import annotations

from typing import Any

from ..declare.fleet import Fleet
from ..declare.host import Host
from ..plan.power import site_power
from ..plan.power.caps import declared_caps
from ..report.findings_json import json_text


def host_power(fleet: Fleet, host_name: str, persistence: str = "auto") -> dict[str, Any]:
    """``{host, site, caps, caps_file, bmc_address, tree, findings}``. Raises KeyError for a host that is not declared.

    caps: for `gpu_power_limit`, one a card. caps_file: the text of the file that the host's tool
    reads, with `persistence` (`apply.gpu_limits.persistence.WAYS`). tree: `SitePower.as_dict` of the worst
    case, every card of every host at its declared limit.
    """
    host = fleet.hosts[host_name]
    site = site_power(fleet, host.site)
    caps = cap_data(host)
    return {
        "host": host_name,
        "site": host.site,
        "caps": caps,
        "caps_file": json_text({"host": host_name, "persistence": persistence, "caps": caps}),
        "bmc_address": host.bmc.address if host.bmc is not None else None,
        "tree": site.as_dict(),
        "findings": [one.as_dict() for one in site.findings],
    }


def cap_data(host: Host) -> list[dict[str, Any]]:
    """The declared caps as the host's own tools read them (`apply.gpu_limits.caps`)."""
    return [cap.as_dict() for cap in declared_caps(host).values()]
