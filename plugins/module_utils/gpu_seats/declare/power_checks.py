"""Checks of what hosts and loads draw: figures that contradict themselves, caps that no card or circuit takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .problems import Path, Problem, did_you_mean, listed

if TYPE_CHECKING:
    from .fleet import Fleet
    from .host import Gpu, Host
    from .power import Caps, WattsFigure
    from .site import Circuit
    from .yaml_source import Source


def power_problems(fleet: Fleet, seen: dict[str, set[str]]) -> Iterator[Problem]:
    """Every contradiction in the declared watts of hosts and of the sites' other loads."""
    for name, host in fleet.hosts.items():
        source = fleet.origins[f"host:{name}"]
        for path, figure in _figures(host):
            yield from _figure_problems(source, path, figure)
        yield from _loss_problems(source, host)
        yield from _cap_problems(source, host)
    for name, site in fleet.sites.items():
        source = fleet.origins[f"site:{name}"]
        for load, declared in site.loads.items():
            yield from _figure_problems(source, ("loads", load, "watts"), declared.watts)
    yield from _sole_claims(fleet, seen)


def _figures(host: Host) -> Iterator[tuple[Path, WattsFigure]]:
    power, bmc = host.power, host.bmc
    for key in ("baseline", "under_load", "card_idle") if power is not None else ():
        figure: WattsFigure | None = getattr(power, key)
        if figure is not None:
            yield ("power", key), figure
    if bmc is not None and bmc.draw is not None:
        yield ("bmc", "draw"), bmc.draw


def _figure_problems(source: Source, path: Path, figure: WattsFigure) -> Iterator[Problem]:
    if figure.low is not None and figure.low > figure.watts:
        message = "is more than the figure itself"
        yield source.problem((*path, "low"), message, f"at most {figure.watts:g}W (watts)", "swap them, or correct one")
    if figure.high is not None and figure.high < figure.watts:
        message = "is less than the figure itself"
        yield source.problem(
            (*path, "high"), message, f"at least {figure.watts:g}W (watts)", "swap them, or correct one"
        )
    for key in ("date", "how") if figure.standing == "measured" else ():
        if getattr(figure, key) is None:
            message = f"needs the key {key}: a measured figure says when and how it was read"
            remedy = f"add {key}, or say standing: estimate"
            yield source.problem((*path, "standing"), message, remedy=remedy)


def _loss_problems(source: Source, host: Host) -> Iterator[Problem]:
    loss = host.power.supply_loss if host.power is not None else None
    if loss is not None and loss.low > loss.high:
        path: Path = ("power", "supply_loss", "low")
        yield source.problem(path, "is more than the most that is lost", f"at most {loss.high:g} (high)")


def _cap_problems(source: Source, host: Host) -> Iterator[Problem]:
    caps = host.power.caps if host.power is not None else None
    if caps is None:
        return
    path: Path = ("power", "caps")
    known = listed(f'"{card}"' for card in host.gpus)
    if not host.gpus:
        message = f"caps cards, and {host.host} declares none"
        yield source.problem(path, message, remedy="declare gpus, or remove caps", value=False)
    for card in caps.cards:
        if card not in host.gpus and host.gpus:
            message = f"the card {card} is no card of {host.host}"
            yield source.problem((*path, "cards", card), message, known, did_you_mean(card, host.gpus), value=False)
    told: set[tuple[Path, str]] = set()
    for card, gpu in host.gpus.items():
        where: Path = (*path, "cards", card) if card in caps.cards else (*path, "limit")
        for message, allowed, remedy in _limit_faults(caps, caps.limit_of(card), card, gpu):
            if (where, allowed) not in told:
                told.add((where, allowed))
                yield source.problem(where, message, allowed, remedy)


def _limit_faults(caps: Caps, limit: float, card: str, gpu: Gpu) -> Iterator[tuple[str, str, str]]:
    """(message, allowed, remedy) of each rule that the cap of one card breaks."""
    limits = gpu.power_limits
    if caps.ceiling is not None and limit > caps.ceiling:
        remedy = "lower the cap; raise the ceiling only after the circuit was calculated anew"
        yield "is above the ceiling of caps", f"at most {caps.ceiling:g}W (power.caps.ceiling)", remedy
        return
    if limits is None:
        return
    allowed = f"{limits.min:g}W to {limits.max:g}W (power_limits of card {card})"
    if limit < limits.min:
        yield "is below what the card takes, which nvidia-smi refuses", allowed, "raise the cap"
    elif limit > limits.max:
        yield "is above what the card takes", allowed, "lower the cap"
    elif limit > limits.default and caps.above_stock is None:
        allowed = f"at most {limits.default:g}W (power_limits.default of card {card})"
        remedy = "lower the cap, or add above_stock: {date: <day>, reason: <why the circuit takes it>}"
        yield "is above the card's stock limit without a dated reason", allowed, remedy


def _sole_claims(fleet: Fleet, seen: dict[str, set[str]]) -> Iterator[Problem]:
    """A circuit that a host claims alone: it exists, nobody else claims it, and nothing else hangs below it."""
    first: dict[tuple[str, str], str] = {}
    for name, host in fleet.hosts.items():
        claimed = host.power.circuit_alone if host.power is not None else None
        site = fleet.sites.get(host.site)
        if claimed is None or (site is None and host.site in seen["site"]):
            continue
        source, path = fleet.origins[f"host:{name}"], ("power", "circuit_alone")
        circuits = site.circuits if site is not None else {}
        if claimed not in circuits:
            known = listed(circuits) or f"site {host.site} declares no circuits"
            yield source.problem(path, "is no circuit of the site", known, did_you_mean(claimed, circuits))
            continue
        holder = first.setdefault((host.site, claimed), name)
        others = [other for other in loads_below(circuits, claimed) if other not in (name, f"{name}/bmc")]
        if holder != name:
            message = f"is a circuit that {holder} claims alone too ({fleet.where(f'host:{holder}', *path)})"
            yield source.problem(path, message, remedy="remove the claim of one, or give each its own circuit")
        elif others:
            message = f"is claimed alone, and {listed(others)} hangs below it too"
            where = fleet.where(f"site:{host.site}", "circuits", claimed, "feeds")
            yield source.problem(path, message, remedy=f"remove the claim, or change feeds in {where}")


def loads_below(circuits: dict[str, Circuit], top: str) -> list[str]:
    """Every load below `top`, whether its devices are in use or not, each once; a cycle ends the walk."""
    found: dict[str, None] = {}
    done: set[str] = set()
    pending = [top]
    while pending:
        name = pending.pop(0)
        if name in done:
            continue
        done.add(name)
        for fed in (*circuits[name].feeds, *circuits[name].bypass):
            if fed in circuits:
                pending.append(fed)
            else:
                found[fed] = None
    return list(found)
