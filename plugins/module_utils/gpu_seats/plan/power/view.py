"""One site as it is to be summed up: its devices and what each load takes, as declared or as asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...declare.site import BMC_SUFFIX
from .figures import Term, exactly
from .loads import LoadPower, bmc_load, host_load, other_load
from .situation import PlannedCard, planned_cards, with_count, with_limit, with_loaded
from .tree import Tree
from .what_if import WhatIf, WhatIfError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ...declare.fleet import Fleet
    from ...declare.host import Host
    from ...declare.site import Circuit, Site
    from .what_if import AskedLoad


@dataclass(frozen=True)
class View:
    """site: as declared. tree: its devices. loads: by name, those of the site whether anything feeds them or not."""

    site: Site
    tree: Tree
    loads: dict[str, LoadPower]

    def proposed(self, fleet: Fleet) -> View:
        """The same loads on the proposed feed."""
        tree = Tree(self.site.feed_proposal)
        named = {name for circuit in tree.circuits.values() for name in (*circuit.feeds, *circuit.bypass)}
        return View(self.site, tree, {**self.loads, **_fed_apart(fleet, named - set(tree.circuits) - set(self.loads))})


def viewed(
    fleet: Fleet,
    site: Site,
    what_if: WhatIf,
    loaded: Mapping[str, Collection[str]] | None = None,
    limits: Mapping[str, Mapping[str, float]] | None = None,
) -> View:
    """The site as the question has it. Raises WhatIfError for a question that names what is not there."""
    hosts = {name: host for name, host in fleet.hosts.items() if host.site == site.site}
    asked = _asked_hosts(fleet, hosts, what_if)
    loads: dict[str, LoadPower] = {}
    fed = [name for one in site.circuits.values() for name in (*one.feeds, *one.bypass) if name not in site.circuits]
    circuits = _asked_circuits(site, what_if, list(dict.fromkeys([*hosts, *site.loads, *fed])))
    named = {name for one in circuits.values() for name in (*one.feeds, *one.bypass)} - set(circuits)
    for name, host in hosts.items():
        if name in named or host.gpus or host.power is not None:
            on = None if loaded is None else loaded.get(name, ())
            cards = planned_cards(host, on, (limits or {}).get(name))
            loads[name] = host_load(host, _asked_cards(host, cards, what_if, name in asked), name == site.router)
    for name, load in site.loads.items():
        loads[name] = other_load(name, load)
    loads |= _fed_apart(fleet, named - set(loads))
    for one in what_if.loads:
        circuits = _with_asked_load(circuits, loads, one)
    for name in what_if.out:
        loads.pop(name, None)
    return View(site, Tree(circuits), loads)


def _fed_apart(fleet: Fleet, names: Collection[str]) -> dict[str, LoadPower]:
    """Management controllers that a circuit names; whatever else is named and not declared is an unknown load."""
    found = {}
    for name in sorted(names):
        host = fleet.hosts.get(name.removesuffix(BMC_SUFFIX))
        if host is not None and name.endswith(BMC_SUFFIX):
            found[name] = bmc_load(host)
        else:
            found[name] = LoadPower(name, "load", "other", "not declared", [], [f"anything of {name}"])
    return found


def _asked_hosts(fleet: Fleet, hosts: Mapping[str, Host], what_if: WhatIf) -> list[str]:
    """The hosts whose cards the question is about. None of them may be taken away, or be given its watts as a whole."""
    asked = _named_hosts(fleet, hosts, what_if)
    fixed = dict.fromkeys(what_if.out, "out") | {one.name: "load" for one in what_if.loads}
    for name in asked if what_if.host is not None or len(asked) == 1 else ():
        if name in fixed:
            raise WhatIfError(
                f"{fixed[name]}={name} leaves nothing of its cards to ask about; leave out gpus, limit and loaded, or "
                f"{fixed[name]}"
            )
    return asked


def _named_hosts(fleet: Fleet, hosts: Mapping[str, Host], what_if: WhatIf) -> list[str]:
    with_cards = [name for name, host in hosts.items() if host.gpus]
    if what_if.host is not None:
        elsewhere = fleet.hosts.get(what_if.host)
        if what_if.host in hosts and what_if.host not in with_cards:
            raise WhatIfError(f"host={what_if.host} declares no cards; allowed: {', '.join(with_cards) or 'no host'}")
        if elsewhere is not None and what_if.host not in hosts:
            raise WhatIfError(f"host={what_if.host} is of site {elsewhere.site}; allowed: {', '.join(with_cards)}")
        if what_if.host not in with_cards:
            raise unknown_name("host", what_if.host, with_cards)
        if not what_if.asks_of_cards:
            raise WhatIfError(f"host={what_if.host} asks nothing by itself; add gpus, limit or loaded")
        return [what_if.host]
    if not what_if.asks_of_cards:
        return []
    if not with_cards:
        raise WhatIfError("gpus, limit and loaded are about cards, and no host of this site declares any")
    if len(with_cards) > 1 and (what_if.gpus is not None or what_if.loaded is not None):
        raise WhatIfError(f"gpus and loaded are about one host; add host=<host>, one of {', '.join(with_cards)}")
    return with_cards


def _asked_cards(host: Host, cards: list[PlannedCard], what_if: WhatIf, is_asked: bool) -> list[PlannedCard]:
    if not is_asked:
        return cards
    if what_if.gpus is not None:
        cards = with_count(cards, what_if.gpus)
    if what_if.limit_watts is not None:
        cards = with_limit(cards, what_if.limit_watts)
    if what_if.loaded is not None:
        if what_if.loaded > len(cards):
            raise WhatIfError(f"loaded={what_if.loaded}: {host.host} then has {len(cards)} cards; allowed: 0 to that")
        cards = with_loaded(cards, what_if.loaded)
    return cards


def _asked_circuits(site: Site, what_if: WhatIf, known: list[str]) -> dict[str, Circuit]:
    for name in what_if.in_use:
        if name not in site.circuits:
            raise unknown_name("in_use", name, site.circuits)
    for name in what_if.out:
        if name not in site.circuits and name not in known:
            raise unknown_name("out", name, [*site.circuits, *known])
    circuits = {}
    asked = _with_what_feeds(site, what_if)
    for name, circuit in site.circuits.items():
        in_use = name not in what_if.out and (circuit.in_use or name in asked)
        feeds = [fed for fed in circuit.feeds if fed in site.circuits or fed not in what_if.out]
        bypass = [fed for fed in circuit.bypass if fed in site.circuits or fed not in what_if.out]
        circuits[name] = circuit.model_copy(update={"in_use": in_use, "feeds": feeds, "bypass": bypass})
    return _powered(circuits, what_if)


def _with_what_feeds(site: Site, what_if: WhatIf) -> set[str]:
    """The devices that are to come in use: a ups whose inlet is out of use brings that along."""
    tree = Tree(site.circuits)
    asked = set(what_if.in_use)
    for name in reversed(tree.in_order()):
        above = [one for one in tree.parents(name) if one not in what_if.out]
        if name in asked and not any(site.circuits[one].in_use or one in asked for one in above):
            asked |= set(above)
    return asked


def _powered(circuits: dict[str, Circuit], what_if: WhatIf) -> dict[str, Circuit]:
    """A device all of whose feeds are out of use is out of use too: it would stand there as if fed by nothing."""
    tree = Tree(circuits)
    for name in tree.in_order():
        above = tree.parents(name)
        if not circuits[name].in_use or not above or any(circuits[one].in_use for one in above):
            continue
        if name in what_if.in_use:
            raise WhatIfError(f"in_use={name} hangs below {', '.join(above)} alone, which out takes away")
        circuits[name] = circuits[name].model_copy(update={"in_use": False})
    return circuits


def _with_asked_load(circuits: dict[str, Circuit], loads: dict[str, LoadPower], asked: AskedLoad) -> dict[str, Circuit]:
    """Puts the asked watts into `loads`; a new load also hangs below a device then."""
    if asked.name in circuits:
        raise WhatIfError(f"load={asked.name} is a device, not a load; allowed: {', '.join(loads)} or a new name")
    known = loads.get(asked.name)
    term = Term("asked", exactly(asked.watts), "assumed", "what is asked")
    if known is not None and asked.device is None:
        loads[asked.name] = LoadPower(known.name, known.kind, known.role, known.summary, [term], [], known.cards)
        return circuits
    if known is not None:
        raise WhatIfError(f"load={asked.name} hangs where it is declared; leave @{asked.device} out")
    device = asked.device or _only_root(circuits, asked.name)
    if device not in circuits:
        raise unknown_name(f"load={asked.name}@{device}: the device", device, circuits)
    loads[asked.name] = LoadPower(asked.name, "load", "other", "asked", [term])
    grown = circuits[device].model_copy(update={"feeds": [*circuits[device].feeds, asked.name]})
    return {**circuits, device: grown}


def _only_root(circuits: dict[str, Circuit], name: str) -> str:
    """The one device in use that nothing else in use feeds."""
    tree = Tree(circuits)
    roots = [one for one in tree.used if not any(above in tree.used for above in tree.parents(one))]
    if len(roots) != 1:
        every = ", ".join(tree.used) or "none is in use"
        raise WhatIfError(f"load={name}: say where the new load hangs, load={name}@<device>:<watts>; devices: {every}")
    return roots[0]
