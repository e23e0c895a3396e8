"""Declared sites of any size, whose power the planner adds up for a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from gpu_seats.declare.fleet import load_fleet
from gpu_seats.plan.power import parse_what_if, site_power

PROJECT = Path(__file__).resolve().parents[2]


def power_of_fv(question: str = "") -> dict[str, Any]:
    """fv of the production inventory, as declared or as asked."""
    fleet = load_fleet(PROJECT)
    return (site_power(fleet, "fv", parse_what_if(question)) if question else site_power(fleet, "fv")).as_dict()


def power_of_many(root: Path, long_names: bool = False) -> dict[str, Any]:
    """Twelve hosts of two cards on three levels (breaker, PDUs, UPSs), a router and a switch.

    long_names: every name with as many characters as a declaration allows.
    """
    named = _lengthened if long_names else str
    hosts = [named(f"ml{number:02}") for number in range(1, 13)]
    circuits = {named("main"): _circuit("breaker", [named("pdu-a"), named("pdu-b")], amps=100, volts=208)}
    loads = {
        named("edge"): {"summary": "router of the site", "role": "router", "watts": _figure(125, low=90, high=150)},
        named("switch"): {"summary": "top of rack & <trunk>", "role": "switch", "watts": _figure(60)},
    }
    for side, own in (("a", [*hosts[:6], named("edge")]), ("b", [*hosts[6:], named("switch")])):
        circuits[named(f"pdu-{side}")] = _circuit("pdu", [*own[2:], named(f"ups-{side}")], amps=50, volts=208)
        circuits[named(f"ups-{side}")] = _circuit("ups", own[:2], rating_va=3000, power_factor=0.9)
    circuits[named("spare")] = _circuit("breaker", [hosts[0]], amps=30, volts=208, in_use=False)
    _write_site(root, {"loads": loads, "circuits": circuits})
    for host in hosts:
        _write_host(root, host)
    power = site_power(load_fleet(root), "hall").as_dict()
    for load in power["loads"]:
        if load["name"] in hosts[:3]:
            load["measured"] = {"cards_watts": 512.5, "bmc_watts": 830.0, "at": "2026-11-30 12:00"}
    return power


def _lengthened(name: str) -> str:
    return (name + "-rack-seven-upper-left-inference-" + "w" * 63)[:63]


def _figure(watts: float, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    figure: dict[str, Any] = {"watts": f"{watts}W", "standing": "estimate", "how": "of the label"}
    ends = {"low": low, "high": high}
    return figure | {key: f"{value}W" for key, value in ends.items() if value is not None}


def _circuit(kind: str, feeds: list[str], **more: Any) -> dict[str, Any]:
    return {"kind": kind, "feeds": feeds, "standing": "assumed", "reason": "a hall of twelve hosts", **more}


def _write_site(root: Path, site: dict[str, Any]) -> None:
    declared = {"site": "hall", "summary": "A hall of twelve hosts", **site}
    _write(root / "inventories/production/group_vars/site_hall.yml", {"gpu_seats_site": declared})


def _write_host(root: Path, name: str) -> None:
    card = {
        "model": "RTX PRO 6000",
        "vram": "97887MiB",
        "power_limits": {"min": "250W", "default": "300W", "max": "325W"},
    }
    host = {
        "host": name,
        "site": "hall",
        "summary": "Inference host with two cards",
        "gpus": {"0": card, "1": card},
        "power": {
            "under_load": {"watts": "330W", "standing": "measured", "date": "2026-09-19", "how": "a clamp meter"},
            "supply_loss": {"reads": "unknown", "reason": "nobody knows"},
            "caps": {"limit": "275W", "reason": "the circuit"},
        },
    }
    _write(root / f"inventories/production/host_vars/{name}.yml", {"gpu_seats_host": host})


def _write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content, sort_keys=False))
