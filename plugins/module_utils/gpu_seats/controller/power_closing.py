"""What a run of the power playbook ends with: cards and measured watts of each host, then the tree of each site."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..report.power_cards import power_cards_text
from ..report.power_tree import power_tree_text
from ..report.terminal import PLAIN, Terminal

OF_POWER = (
    "site_power",
    "systemd_units",
    "gpu_power_limit",
    "systemd_reload",
    "power_verify",
    "bmc_power_info",
    "power_report",
)
"""Tasks whose results are gathered for it."""

Results = Mapping[str, Mapping[str, Any]]


def power_closing_text(hosts: Mapping[str, Results], terminal: Terminal = PLAIN) -> str:
    """hosts: task results by host and task. Empty where no task of power took part."""
    parts = [text for name in sorted(hosts) if (text := _cards_of(name, hosts[name], terminal))]
    trees: dict[str, Mapping[str, Any]] = {}
    for results in hosts.values():
        tree = results.get("power_report", {}).get("tree") or results.get("site_power", {}).get("tree")
        if tree:
            trees[tree["site"]] = tree
    parts += [power_tree_text(trees[site], terminal) for site in sorted(trees)]
    written = [path for results in hosts.values() for path in results.get("power_report", {}).get("written") or ()]
    if written:
        parts.append("".join(f"written: {path}\n" for path in dict.fromkeys(written)))
    return "\n".join(parts)


def _cards_of(host: str, results: Results, terminal: Terminal) -> str:
    report = results.get("power_report")
    if report and "cards" in report:
        return power_cards_text(report, terminal)
    verified = results.get("power_verify")
    if verified and "cards" in verified:
        return power_cards_text({"host": host, "cards": verified["cards"]}, terminal)
    return ""
