"""Checks of a site's circuits: ratings, names, cycles, and loads that nothing feeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from .problems import Path, Problem, did_you_mean, listed
from .site import BMC_SUFFIX

if TYPE_CHECKING:
    from .fleet import Fleet
    from .host import Host
    from .site import Circuit, Site
    from .yaml_source import Source

_NEEDED = {
    "breaker": ("amps", "volts"),
    "inlet": ("amps", "volts"),
    "pdu": ("amps", "volts"),
    "ups": ("rating_va", "power_factor"),
}
_EXAMPLES = {"amps": "20", "volts": "120", "rating_va": "1500", "power_factor": "0.6"}
_SHOWN_IN_RING = 16
_OF_A_UPS = ("rating_va", "power_factor", "efficiency", "bypass")


def circuit_problems(fleet: Fleet, seen: dict[str, set[str]]) -> Iterator[Problem]:
    """Every fault of the devices of every site, as they are and as they are proposed.

    A host whose own file is faulty may be named: that is no problem of this one.
    """
    for name, site in fleet.sites.items():
        source = fleet.origins[f"site:{name}"]
        known = _load_names(fleet, site)
        elsewhere = seen["host"] - {one for one, host in fleet.hosts.items() if host.site in seen["site"]}
        yield from _name_problems(fleet, source, site, elsewhere)
        for key, circuits in (("circuits", site.circuits), ("feed_proposal", site.feed_proposal)):
            for device, circuit in circuits.items():
                path: Path = (key, device)
                yield from _rating_problems(source, path, circuit)
                yield from _feed_problems(fleet, source, path, circuit, circuits, known, elsewhere)
            yield from _cycle_problems(source, key, circuits)
            yield from _orphan_problems(source, key, circuits)
        yield from _unfed_problems(fleet, source, site)
        yield from _left_out_problems(source, site)


def _left_out_problems(source: Source, site: Site) -> Iterator[Problem]:
    """A proposal that leaves loads out promises room that is not there."""
    left_out = _fed_loads(site.circuits) - _fed_loads(site.feed_proposal)
    if site.feed_proposal and left_out:
        names = ", ".join(sorted(left_out))
        message = f"does not feed {names}, which the circuits of the site feed: its sums would be too low"
        remedy = f"add {names} to one of its devices, or remove feed_proposal"
        yield source.problem(("feed_proposal",), message, remedy=remedy, value=False)


def _fed_loads(circuits: Mapping[str, Circuit]) -> set[str]:
    return {name for one in circuits.values() for name in (*one.feeds, *one.bypass)} - set(circuits)


def _load_names(fleet: Fleet, site: Site) -> list[str]:
    """What a device of the site may feed: its hosts, its other loads, the management controllers of its hosts."""
    hosts = [host for host in fleet.hosts.values() if host.site == site.site]
    return [
        *(host.host for host in hosts),
        *site.loads,
        *(f"{host.host}{BMC_SUFFIX}" for host in hosts if host.bmc is not None),
    ]


def _name_problems(fleet: Fleet, source: Source, site: Site, elsewhere: set[str]) -> Iterator[Problem]:
    """One name, one thing: feeds name hosts, loads and devices alike."""
    for key, names in (("circuits", site.circuits), ("loads", site.loads), ("feed_proposal", site.feed_proposal)):
        for name in names:
            if name in fleet.hosts:
                message = f"the name {name} is that of a host, and feeds could mean either"
                yield source.problem((key, name), message, remedy="rename it", value=False)
            if key != "loads" and name in site.loads:
                message = f"the name {name} is that of a load too, and feeds could mean either"
                yield source.problem((key, name), message, remedy="rename one", value=False)
    routers = [host.host for host in fleet.hosts.values() if host.site == site.site]
    routers += [name for name, load in site.loads.items() if load.role == "router"]
    if site.router is not None and site.router not in (*routers, *elsewhere):
        message = "is no host of the site, and no load with role: router"
        yield source.problem(("router",), message, listed(routers), did_you_mean(site.router, routers))


def _rating_problems(source: Source, path: Path, circuit: Circuit) -> Iterator[Problem]:
    missing = [key for key in _NEEDED[circuit.kind] if getattr(circuit, key) is None]
    if missing:
        what = " and ".join(missing)
        message = f"a {circuit.kind} without {what} has no rating, so nothing can be held against it"
        remedy = f"read its label, and add {', '.join(f'{key}: {_EXAMPLES[key]}' for key in missing)}"
        yield source.problem((*path, "kind"), message, remedy=remedy, value=False)
    for key in _OF_A_UPS if circuit.kind != "ups" else ():
        if key in circuit.model_fields_set:
            message = f"the key {key} is of a ups, and this is a {circuit.kind}"
            yield source.problem((*path, key), message, remedy="remove it, or say kind: ups", value=False)


def _feed_problems(
    fleet: Fleet,
    source: Source,
    path: Path,
    circuit: Circuit,
    circuits: Mapping[str, Circuit],
    known: list[str],
    elsewhere: set[str],
) -> Iterator[Problem]:
    fed: set[str] = set()
    for key in ("feeds", "bypass"):
        for index, name in enumerate(getattr(circuit, key)):
            where: Path = (*path, key, index)
            if name in fed:
                yield source.problem(where, "is named twice", remedy="name each load once a device")
            elif name not in circuits and name not in known and name.removesuffix(BMC_SUFFIX) not in elsewhere:
                yield _unknown_feed(fleet, source, where, name, [*circuits, *known])
            fed.add(name)


def _unknown_feed(fleet: Fleet, source: Source, where: Path, name: str, known: list[str]) -> Problem:
    host: Host | None = fleet.hosts.get(name.removesuffix(BMC_SUFFIX))
    if host is not None and name in fleet.hosts:
        return source.problem(where, f"is a host of site {host.site}", listed(known), "correct its site, or this name")
    if host is not None and host.bmc is None:
        return source.problem(
            where, f"names a BMC, and {host.host} declares none", listed(known), "add bmc to the host"
        )
    return source.problem(
        where,
        "is no host, load or circuit of this site",
        listed(known),
        did_you_mean(name, known) or "declare it under loads, with its watts, or correct the name",
    )


def _cycle_problems(source: Source, key: str, circuits: Mapping[str, Circuit]) -> Iterator[Problem]:
    """One problem for each feed that closes a ring of devices. Walks without calling itself: chains may be long."""
    done: set[str] = set()
    for start in circuits:
        way: dict[str, Iterator[tuple[Path, str]]] = {start: _outlets(circuits[start])} if start not in done else {}
        while way:
            name = next(reversed(way))
            where, fed = next(way[name], ((), ""))
            if not where:
                done.add(name)
                del way[name]
            elif fed in way:
                names = list(way)
                ring = _shown_ring([*names[names.index(fed) :], fed])
                message = f"closes a ring of devices ({ring}): a device cannot feed itself"
                yield source.problem((key, name, *where), message, remedy="remove one of these feeds")
            elif fed in circuits and fed not in done:
                way[fed] = _outlets(circuits[fed])


def _orphan_problems(source: Source, key: str, circuits: Mapping[str, Circuit]) -> Iterator[Problem]:
    """A device in use below nothing but devices out of use: what it carries would be missing above."""
    above: dict[str, list[str]] = {name: [] for name in circuits}
    for name, circuit in circuits.items():
        for fed in (*circuit.feeds, *circuit.bypass):
            if fed in above:
                above[fed].append(name)
    for name, feeders in above.items():
        if circuits[name].in_use and feeders and not any(circuits[one].in_use for one in feeders):
            message = f"{name} is in use, and all that feeds it is not ({listed(feeders)}), so no sum above counts it"
            yield source.problem((key, name), message, remedy="correct in_use of one of them", value=False)


def _outlets(circuit: Circuit) -> Iterator[tuple[Path, str]]:
    """(key and position, name) of everything that is plugged in."""
    for key in ("feeds", "bypass"):
        for index, fed in enumerate(getattr(circuit, key)):
            yield (key, index), fed


def _shown_ring(names: list[str]) -> str:
    """The devices of a ring; a long one without its middle."""
    shown = names if len(names) <= _SHOWN_IN_RING else [*names[:8], f"{len(names) - 12} more", *names[-4:]]
    return " -> ".join(shown)


def _unfed_problems(fleet: Fleet, source: Source, site: Site) -> Iterator[Problem]:
    """Loads on no device: where circuits are declared, whoever is forgotten there is counted nowhere."""
    fed = {name for circuit in site.circuits.values() for name in (*circuit.feeds, *circuit.bypass)}
    for name in site.loads:
        if name not in fed:
            message = f"the load {name} hangs below no circuit, so no sum counts it"
            allowed = f"feeds of {listed(site.circuits)}" if site.circuits else "feeds of a circuit of this site"
            yield source.problem(("loads", name), message, allowed, "add it where it is plugged in", value=False)
    for name, host in fleet.hosts.items() if site.circuits else ():
        if host.site != site.site or name in fed or not (host.gpus or host.power):
            continue
        what = "has cards" if host.gpus else "declares power"
        message = f"{name} {what} and hangs below no circuit of site {site.site}, so no sum counts it"
        where = fleet.where(f"site:{site.site}", "circuits")
        yield fleet.origins[f"host:{name}"].problem(
            ("host",),
            message,
            f"feeds of {listed(site.circuits)} ({where})",
            "add it where it is plugged in",
            value=False,
        )
