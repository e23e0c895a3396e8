"""Which hosts a play is for, from the seats it names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..declare.selection import select
from .declared_faults import PlayHostError
from .play_fleet import fleet_of_play, seat_names

WITHOUT_SIMULATION = "not_in_lab"
"""Inventory group of hosts that are declared but that this inventory does not run."""


def hosts_of_seats(variables: Mapping[str, Any], seat: object, retired: bool = False, idle: bool = False) -> list[str]:
    """Hosts of the named seats in the order of the selection, each once.

    `all` leaves out hosts that the inventory does not run; naming a seat on one of them raises PlayHostError. With
    `idle`, `all` also covers hosts with cards that have no seat yet. Raises DeclarationError for unknown names and
    broken declarations.
    """
    names = seat_names(seat)
    if not names.strip():
        raise PlayHostError("which seat? write -e seat=flash-next (or a stack, a list a,b, or all)")
    fleet = fleet_of_play(variables)
    selection = select(fleet, names, retired=retired)
    groups = variables.get("groups") or {}
    known, absent = set(groups.get("all", ())), set(groups.get(WITHOUT_SIMULATION, ()))
    if names.strip() == "all":
        without_seats = [name for name, host in fleet.hosts.items() if idle and host.gpus]
        return [host for host in dict.fromkeys([*selection.hosts, *without_seats]) if host in known - absent]
    for host in selection.hosts:
        if host in absent or host not in known:
            raise PlayHostError(_unreachable(host, names, host in absent))
    return selection.hosts


def _unreachable(host: str, names: str, simulated: bool) -> str:
    if simulated:
        return f"{names}: stands on {host}, which this inventory does not run (group {WITHOUT_SIMULATION})"
    return f"{names}: stands on {host}, which is not in this inventory; add it to hosts.yml or give -i"
