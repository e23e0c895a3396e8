"""Which hosts a play is for, from the seats it names."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
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


def hosts_with_cards(variables: Mapping[str, Any], host: object = "", site: object = "") -> list[str]:
    """Hosts that declare cards, those of `site` and named in `host` (a name, a comma list, a list) where given.

    Hosts that this inventory does not run are left out; naming one, or one without cards, raises PlayHostError.
    """
    fleet = fleet_of_play(variables)
    groups = variables.get("groups") or {}
    known, absent = set(groups.get("all", ())), set(groups.get(WITHOUT_SIMULATION, ()))
    named = [one.strip() for one in _names("host", host).split(",") if one.strip()]
    sites = [one.strip() for one in _names("site", site).split(",") if one.strip()]
    with_cards = {name: declared.site for name, declared in fleet.hosts.items() if declared.gpus}
    _refuse_unknown("host", named, with_cards, "declares cards")
    _refuse_unknown("site", sites, fleet.sites, "is declared")
    for name in named:
        if name in absent or name not in known:
            raise PlayHostError(_unreachable(name, name, name in absent))
    chosen = named or [name for name in with_cards if name in known - absent]
    found = [name for name in chosen if not sites or with_cards[name] in sites]
    if not found:
        raise PlayHostError(f"no host with cards is left: host {', '.join(named) or 'any'}, site {', '.join(sites)}")
    return found


def _names(option: str, value: object) -> str:
    try:
        return seat_names(value)
    except PlayHostError:
        raise PlayHostError(f"{option}: {value!r} is not a name or a list of names; write -e {option}=a,b") from None


def _refuse_unknown(option: str, names: Iterable[str], known: Collection[str], what: str) -> None:
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(known)) or 'none'}"
            raise PlayHostError(f"-e {option}={name}: no such {option} {what}; {meant}")


def _unreachable(host: str, names: str, simulated: bool) -> str:
    if simulated:
        return f"{names}: stands on {host}, which this inventory does not run (group {WITHOUT_SIMULATION})"
    return f"{names}: stands on {host}, which is not in this inventory; add it to hosts.yml or give -i"
