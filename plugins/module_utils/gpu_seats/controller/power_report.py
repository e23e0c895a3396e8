"""What a run of the power playbook found on one host, and the picture of its site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..apply.atomic_files import WantedFile, file_change, write_file
from ..declare.fleet import Fleet
from ..findings import Finding, finding, finding_from_dict
from ..observe.records import on_host
from ..plan.power import site_power
from ..report.finding_list import count_text, distinct
from .closing_table import joined_findings
from .power_state import counted_limits

_TOLD_ANEW = ("site_power", "gpu_power_limit")
"""The report counts the site anew, with the limits that hold; what was wrong with setting them `power_verify` tells."""

_RESTARTING = "systemd_reload"
"""It is joined last: of a container that still lacks its cards it alone knows that a restart did not help."""


@dataclass(frozen=True)
class PowerReport:
    """tree: of the host's site with the limits that hold. cards: rows of `power_verify`. bmc: of `bmc_power_info`."""

    host: str
    tree: Mapping[str, Any]
    cards: Sequence[Mapping[str, Any]]
    bmc: Mapping[str, Any] | None
    findings: list[Finding]

    @property
    def ok(self) -> bool:
        return not any(one.fails for one in self.findings)

    @property
    def worst_watts(self) -> float | None:
        """What the host takes at its worst, of the tree; None where a part of it is not known."""
        mine = next((one for one in self.tree["loads"] if one["name"] == self.host), None)
        return None if mine is None or mine["unknown"] else mine["watts"]

    def as_result(self) -> dict[str, Any]:
        return {
            "host": self.host,
            "site": self.tree["site"],
            "tree": dict(self.tree),
            "cards": [dict(one) for one in self.cards],
            "bmc": None if self.bmc is None else dict(self.bmc),
            "worst_watts": self.worst_watts,
            "findings": [one.as_dict() for one in self.findings],
            "msg": f"{self.host}: {count_text(self.findings) if self.findings else 'no findings'}",
        }


def power_report(
    fleet: Fleet,
    host_name: str,
    results: Mapping[str, Mapping[str, Any]],
    looks: Sequence[Mapping[str, Any]] = (),
) -> PowerReport:
    """results: task results of the host by the task's name. looks: results of `power_verify` on every host of the run.

    The site is added up with the limits that hold on all of them: where a cap does not hold, that counts, and where
    nobody knows, the stock limit.
    """
    verified = results.get("power_verify", {})
    limits = {
        str(one["host"]): counted_limits(fleet.hosts[str(one["host"])], one["limits"])
        for one in (*looks, {"host": host_name, **verified})
        if one.get("limits") is not None
    }
    site = site_power(fleet, fleet.hosts[host_name].site, limits=limits)
    told_anew = _TOLD_ANEW if "findings" in verified else _TOLD_ANEW[:1]
    seen = {
        name: _naming_host(results[name], host_name)
        for name in sorted(results, key=_RESTARTING.__eq__)
        if name not in told_anew
    }
    found = joined_findings(seen)
    bmc = verified.get("bmc")
    measured = {
        str(one["host"]): measured_watts(one.get("cards") or (), one.get("bmc"))
        for one in (*looks, {**verified, "host": host_name})
        if one.get("host")
    }
    tree = _with_measured(site.as_dict(), measured)
    found += [*above_worst_findings(host_name, tree, bmc), *site.findings]
    return PowerReport(host_name, tree, list(verified.get("cards") or ()), bmc, distinct(found))


def _naming_host(result: Mapping[str, Any], host: str) -> dict[str, Any]:
    """The result with its findings below their host: only some tasks name it, and two of them may tell of one thing."""
    found = on_host((finding_from_dict(data) for data in result.get("findings") or ()), host)
    return {**result, "findings": [one.as_dict() for one in found]}


def above_worst_findings(host: str, tree: Mapping[str, Any], bmc: Mapping[str, Any] | None) -> list[Finding]:
    """A machine that takes more than its site is added up with: then the sums of every device above it are too low."""
    load = next((one for one in tree["loads"] if one["name"] == host and not one["unknown"]), None)
    watts = None if bmc is None else bmc.get("watts")
    if load is None or watts is None or watts <= load["high_watts"]:
        return []
    text = (
        f"{host} draws {watts:g} W by its BMC, and its site is added up with {load['watts']:g} W for it, "
        f"{load['high_watts']:g} W at most ({load['how']})"
    )
    return [finding("power.above_worst_case", f"host:{host}", text, {"watts": watts, "how": load["how"]})]


def measured_watts(cards: Sequence[Mapping[str, Any]], bmc: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a host takes now: its cards together and the whole machine; None for what was not read wholly."""
    draws = [card.get("draw_watts") for card in cards]
    known = [draw for draw in draws if draw is not None]
    return {
        "cards_watts": sum(known) if draws and len(known) == len(draws) else None,
        "bmc_watts": None if bmc is None else bmc.get("watts"),
    }


def _with_measured(tree: dict[str, Any], measured: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The tree whose hosts also say what they take now, which the picture marks beside their worst case."""
    loads = [
        {**load, "measured": measured[load["name"]]} if load["name"] in measured else load for load in tree["loads"]
    ]
    return {**tree, "loads": loads}


def written_pictures(report: PowerReport, directory: str) -> list[str]:
    """Writes ``<site>.html`` and ``<site>.svg`` of the tree; the paths of both."""
    from ..report.power_picture import power_html, power_svg  # most runs of a play draw nothing

    tree = dict(report.tree)
    texts = {f"{tree['site']}.html": power_html(tree), f"{tree['site']}.svg": power_svg(tree)}
    paths = []
    for name, text in texts.items():
        path = (Path(directory) / name).resolve()
        write_file(file_change(WantedFile(str(path), text)))
        paths.append(str(path))
    return paths
