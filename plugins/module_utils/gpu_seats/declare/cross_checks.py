"""Checks across records: references, names that must be unique, keys that contradict each other.

What needs arithmetic (VRAM, ports, watts, project names) belongs to plan, not here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .circuit_checks import circuit_problems
from .fleet import Fleet
from .host import Host
from .host_checks import host_problems
from .power_checks import power_problems
from .problems import Path, Problem, did_you_mean, dotted, listed
from .seat import Seat
from .site import Site
from .stack import Stack
from .workload import Workload
from .yaml_source import Source

RUNNABLE = ("serving", "on_demand")
"""States in which the container is meant to run, always or at times."""


def cross_problems(fleet: Fleet, seen: dict[str, set[str]]) -> list[Problem]:
    """Every problem that one record alone does not show. `seen` names records whose files exist, faulty or not."""
    problems: list[Problem] = []
    for name, host in fleet.hosts.items():
        if host.site not in seen["site"]:
            source = fleet.origins[f"host:{name}"]
            problems.append(_unknown(source, ("site",), "site", host.site, seen["site"]))
    for stack in fleet.stacks.values():
        problems += _stack_problems(fleet, stack, seen)
    problems += host_problems(fleet)
    problems += power_problems(fleet, seen)
    problems += circuit_problems(fleet, seen)
    problems += _assumed_without_a_key(fleet)
    problems += _repeated_names(fleet)
    problems += _repeated_aliases(fleet)
    problems += _repeated_containers(fleet)
    problems += _seats_named_like_other_stacks(fleet)
    return problems


def _assumed_without_a_key(fleet: Fleet) -> Iterator[Problem]:
    """`assumed` tells which keys no source gives: one that names no key marks nothing."""
    for subject, source in fleet.origins.items():
        for path, record in _records_with_assumed(fleet, subject):
            for key in record.assumed:
                fields = type(record).model_fields
                if key.partition(".")[0] not in fields:
                    known = [name for name in fields if name not in ("assumed", "count", "device_ids")]
                    message = f"marks {key} as assumed, and there is no such key"
                    where: Path = (*path, "assumed", key)
                    yield source.problem(where, message, listed(known), did_you_mean(key, known), value=False)


def _records_with_assumed(fleet: Fleet, subject: str) -> Iterator[tuple[Path, Any]]:
    kind, _, name = subject.partition(":")
    by_kind: dict[str, Mapping[str, Site | Host | Stack]] = {
        "site": fleet.sites,
        "host": fleet.hosts,
        "stack": fleet.stacks,
    }
    record = by_kind[kind].get(name)
    if record is None:
        return
    yield (), record
    if isinstance(record, Stack):
        for member, workload in record.workloads.items():
            yield ("seats" if member in record.seats else "services", member), workload


def _unknown(source: Source, path: Path, what: str, name: str, known: Iterable[str]) -> Problem:
    known = sorted(known)
    return source.problem(path, f"is no {what} that is declared", listed(known), did_you_mean(name, known))


def _stack_problems(fleet: Fleet, stack: Stack, seen: dict[str, set[str]]) -> Iterator[Problem]:
    source = fleet.origins[f"stack:{stack.stack}"]
    if stack.host not in seen["host"]:
        yield _unknown(source, ("host",), "host", stack.host, seen["host"])
    for name in stack.seats.keys() & stack.services.keys():
        yield source.problem(("services", name), "is also the name of a seat of this stack", value=False)
    if not stack.seats and not stack.services:
        yield source.problem(("stack",), "declares neither seats nor services", remedy="add one, or remove the stack")
    for kind, members in (("seats", stack.seats), ("services", stack.services)):
        for name, workload in members.items():
            path: Path = (kind, name)
            yield from _state_problems(source, path, workload)
            yield from _card_problems(fleet, stack, source, path, workload)
            yield from _container_problems(source, path, workload)
            yield from _yield_problems(fleet, source, path, workload, seen)
            yield from _former_names(fleet, stack, source, path, workload)
            if isinstance(workload, Seat):
                yield from _engine_problems(source, path, workload)


def _state_problems(source: Source, path: Path, workload: Workload) -> Iterator[Problem]:
    if workload.state == "retired" and not workload.reason:
        yield source.problem(
            path, "is retired without a reason", remedy="add reason: why it went, and what took its place", value=False
        )
    if workload.state in RUNNABLE and workload.image is None:
        yield source.problem(
            path,
            f"the key image is missing: a {workload.state} workload needs one",
            "an image with its tag",
            "add image: <name>:<tag>",
            value=False,
        )
    if workload.image is not None and _floating(workload.image):
        yield source.problem(
            (*path, "image"), "does not pin a version", "a tag other than latest, or a digest", "name the version"
        )
    if workload.image is not None and _broken_digest(workload.image):
        yield source.problem(
            (*path, "image"), "has a digest that is none", "@sha256: and 64 of 0-9, a-f", "copy it from docker inspect"
        )
    if workload.on_demand is not None and workload.state not in ("on_demand", "dormant", "retired"):
        yield source.problem(
            (*path, "on_demand"),
            f"belongs to state on_demand, and the state is {workload.state}",
            remedy="set state: on_demand or remove the key",
            value=False,
        )


def _floating(image: str) -> bool:
    name, _, digest = image.partition("@")
    tag = name.rsplit("/", 1)[-1].partition(":")[2]
    return not digest and tag in ("", "latest")


def _broken_digest(image: str) -> bool:
    _, at, digest = image.partition("@")
    return bool(at) and re.match(r"^sha256:[0-9a-f]{64}$", digest) is None


def _card_problems(fleet: Fleet, stack: Stack, source: Source, path: Path, workload: Workload) -> Iterator[Problem]:
    written = workload.model_fields_set
    host = fleet.hosts.get(stack.host)
    cards = list(host.gpus) if host is not None else []
    shown = listed(f'"{card}"' for card in cards) if cards else f"{stack.host} declares no cards"
    for key in ("count", "device_ids"):
        if key in written:
            yield _count_or_ids(source, path, key, written)
    if isinstance(workload, Seat) and "gpus" not in written and workload.state in RUNNABLE:
        hand = "count" in written or "device_ids" in written
        if not hand:
            yield source.problem(
                path,
                "the key gpus is missing: a seat names its cards",
                f"cards of {stack.host}: {shown}; [] for a seat on the CPU",
                'add gpus: ["<card>"]',
                value=False,
            )
    chosen = "gpus" in written or not (isinstance(workload, Seat) or {"count", "device_ids"} & written)
    if chosen and not workload.gpus and workload.claim.vram is not None and workload.state in RUNNABLE:
        message = "claims memory of a card, and the workload names none"
        yield source.problem((*path, "claim", "vram"), message, shown, 'add gpus: ["<card>"], or remove the claim')
    for index, card in enumerate(workload.gpus):
        where: Path = (*path, "gpus", index)
        if host is not None and card not in host.gpus:
            yield source.problem(where, f"is no card of {stack.host}", shown)
        if card in workload.gpus[:index]:
            yield source.problem(where, "is named twice", remedy="name each card once")


def _count_or_ids(source: Source, path: Path, key: str, written: set[str]) -> Problem:
    where = (*path, key)
    if {"count", "device_ids"} <= written:
        message = "count and device_ids exclude each other, and neither is declared by hand: gpus pins the cards"
    elif key == "count":
        message = "lets Docker choose the cards, so two seats can land on one; cards are pinned by id"
    else:
        message = "is made from gpus and is not declared by hand"
    return source.problem(where, message, "gpus", f'remove {key} and write gpus: ["<card>"]')


def _container_problems(source: Source, path: Path, workload: Workload) -> Iterator[Problem]:
    for index, name in enumerate(workload.secrets):
        if name in workload.environment:
            yield source.problem(
                (*path, "secrets", index), "is a secret and also stands in environment", remedy="keep it in one"
            )
    if workload.resources.ipc == "host" and workload.resources.shm_size is not None:
        yield source.problem(
            (*path, "resources", "shm_size"), "has no effect with ipc: host", remedy="remove one of the two"
        )
    targets: set[str] = set()
    for index, mount in enumerate(workload.mounts):
        if mount.target.rstrip("/") in targets:
            message = "is the place of another mount of this container"
            yield source.problem((*path, "mounts", index, "target"), message, remedy="give each mount its own target")
        targets.add(mount.target.rstrip("/"))
    if workload.network_mode == "host" and workload.ports:
        yield source.problem(
            (*path, "ports"),
            "cannot be published with network_mode: host, where the container opens ports of the host itself",
            remedy="remove ports or network_mode",
            value=False,
        )


def _yield_problems(
    fleet: Fleet, source: Source, path: Path, workload: Workload, seen: dict[str, set[str]]
) -> Iterator[Problem]:
    rule = workload.on_demand
    if rule is None:
        return
    seats = [name for stack in fleet.stacks.values() for name in stack.seats]
    complete = seen["stack"] == set(fleet.stacks)  # a seat of a faulty file is not known, and no problem of this key
    if rule.yields_to != "full-size" and rule.yields_to not in seats and complete:
        where = (*path, "on_demand", "yields_to")
        yield source.problem(where, "is no seat", f"full-size, {listed(seats)}", did_you_mean(rule.yields_to, seats))
    if rule.lands_on is None:
        return
    host_name, _, card = rule.lands_on.partition("/")
    where = (*path, "on_demand", "lands_on")
    if host_name not in seen["host"]:
        yield source.problem(
            where, "names no declared host", "<host>/<card>", did_you_mean(host_name, seen["host"]) or "name a host"
        )
    elif host_name in fleet.hosts and card not in fleet.hosts[host_name].gpus:
        cards = [f"{host_name}/{known}" for known in fleet.hosts[host_name].gpus]
        yield source.problem(where, "names no declared card", listed(cards) or f"{host_name} declares no cards")


def _engine_problems(source: Source, path: Path, seat: Seat) -> Iterator[Problem]:
    for block in ("vllm", "llamacpp"):
        if getattr(seat, block) is not None and seat.engine != block:
            yield source.problem(
                (*path, block),
                f"holds options of {block}, and the engine of this seat is {seat.engine}",
                remedy=f"set engine: {block} or remove the key",
                value=False,
            )
    if seat.port is None and seat.state in RUNNABLE:
        yield source.problem(
            path, "the key port is missing: a seat answers on one", "1 to 65535", "add port: 8022", value=False
        )


def _former_names(fleet: Fleet, stack: Stack, source: Source, path: Path, workload: Workload) -> Iterator[Problem]:
    """Addresses and names from before a renumber: what still carries one points nowhere."""
    dead = {name: host for host in fleet.hosts.values() for name in host.former_names}
    for key in ("environment", "labels", "command", "entrypoint", "homepage", "healthcheck", "vllm", "llamacpp"):
        if not dead or key not in workload.model_fields_set or workload.state == "retired":
            continue
        node = _below(source.data, (*path, key))
        for below, text in _texts(node):
            for name, host in dead.items():
                if name in text:
                    now = host.address or host.host
                    yield source.problem(
                        (*path, key, *below), f"names {name}, a former name of {host.host}", now, f"write {now}"
                    )


def _below(data: Any, path: Path) -> Any:
    for part in path:
        data = data[part]
    return data


def _texts(data: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    if isinstance(data, str):
        yield path, data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from _texts(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _texts(value, (*path, index))


def _repeated_names(fleet: Fleet) -> Iterator[Problem]:
    first: dict[str, Stack] = {}
    for stack, name, _ in fleet.seats():
        if name in first:
            source = fleet.origins[f"stack:{stack.stack}"]
            where = fleet.where(f"stack:{first[name].stack}", "seats", name)
            yield source.problem(
                ("seats", name),
                f"a seat named {name} is declared already, in {where}",
                remedy="rename one",
                value=False,
            )
        first.setdefault(name, stack)


def _seats_named_like_other_stacks(fleet: Fleet) -> Iterator[Problem]:
    for stack, name, _ in fleet.seats():
        other = fleet.stacks.get(name)
        if other is not None and other is not stack:
            source = fleet.origins[f"stack:{stack.stack}"]
            yield source.problem(
                ("seats", name),
                f"the seat {name} has the name of another stack, so -e seat={name} would mean both",
                remedy="rename the seat or the stack",
                value=False,
            )


def _repeated_aliases(fleet: Fleet) -> Iterator[Problem]:
    """One alias, one seat; a dormant or retired seat may keep the alias that a running one took over."""
    first: dict[str, str] = {}
    for stack, name, seat in fleet.seats():
        for alias in seat.gateway if seat.state in RUNNABLE else ():
            if alias in first:
                source = fleet.origins[f"stack:{stack.stack}"]
                yield source.problem(
                    ("seats", name, "gateway", alias),
                    f"the alias {alias} points at seat {first[alias]} already",
                    remedy="keep it at one of the two",
                    value=False,
                )
            first.setdefault(alias, name)


def _repeated_containers(fleet: Fleet) -> Iterator[Problem]:
    """A stopped container holds its name too; only a retired one has given it back."""
    first: dict[tuple[str, str], str] = {}
    for stack, name, workload in fleet.workloads():
        if workload.state == "retired":
            continue
        container = workload.container_name or name
        kind = "seats" if name in stack.seats else "services"
        here = f"{stack.stack}: {dotted((kind, name))}"
        other = first.setdefault((stack.host, container), here)
        if other != here:
            path: Path = (kind, name, "container_name") if workload.container_name else (kind, name)
            yield fleet.origins[f"stack:{stack.stack}"].problem(
                path,
                f"the container name {container} is taken on {stack.host} by {other}",
                remedy="give container_name another name",
                value=False,
            )
