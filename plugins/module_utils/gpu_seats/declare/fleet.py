"""The whole fleet as declared: every site, host and stack, loaded and checked against each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from .host import Host
from .plain_words import problems_of
from .problems import DeclarationError, Problem, did_you_mean, listed
from .seat import Seat
from .site import Site
from .stack import Stack
from .workload import Workload
from .yaml_source import Source, read_source

HOST_KEY = "gpu_seats_host"
SITE_KEY = "gpu_seats_site"
_Record = TypeVar("_Record", bound=BaseModel)


@dataclass(frozen=True)
class Fleet:
    """Everything declared. `origins` maps ``stack:x``, ``host:x`` and ``site:x`` to the file it stands in."""

    sites: dict[str, Site] = field(default_factory=dict)
    hosts: dict[str, Host] = field(default_factory=dict)
    stacks: dict[str, Stack] = field(default_factory=dict)
    origins: dict[str, Source] = field(default_factory=dict, repr=False)

    def stacks_of(self, host: str) -> dict[str, Stack]:
        """Stacks of one host by name."""
        return self._by_host.get(host, {})

    def workloads(self, host: str | None = None) -> Iterator[tuple[Stack, str, Workload]]:
        """(stack, name, workload) of every seat and service, of one host or of all; seats first in each stack."""
        stacks = self.stacks if host is None else self.stacks_of(host)
        for stack in stacks.values():
            for name, workload in stack.workloads.items():
                yield stack, name, workload

    def seats(self, host: str | None = None) -> Iterator[tuple[Stack, str, Seat]]:
        """(stack, name, seat) of every seat, of one host or of all."""
        for stack in (self.stacks if host is None else self.stacks_of(host)).values():
            for name, seat in stack.seats.items():
                yield stack, name, seat

    def seat(self, name: str) -> tuple[Stack, Seat]:
        """The stack and seat of that name. Raises KeyError with the nearest names."""
        found = self._seat_index.get(name)
        if found is None:
            raise KeyError(f"no seat {name} is declared; {did_you_mean(name, self._seat_index)}")
        return found

    def where(self, subject: str, *path: str | int) -> str:
        """``where("stack:x", "seats", "y", "port")`` -> ``"stacks/x/stack.yml:12"``; empty for records made by code."""
        source = self.origins.get(subject)
        return "" if source is None else f"{source.file}:{source.value_line(path)}"

    @cached_property
    def _by_host(self) -> dict[str, dict[str, Stack]]:
        found: dict[str, dict[str, Stack]] = {}
        for name, stack in self.stacks.items():
            found.setdefault(stack.host, {})[name] = stack
        return found

    @cached_property
    def _seat_index(self) -> dict[str, tuple[Stack, Seat]]:
        return {name: (stack, seat) for stack in self.stacks.values() for name, seat in stack.seats.items()}


@dataclass
class _Loading:
    """What one load has found so far. `seen` names records whose file exists, also when it is faulty."""

    root: FilePath
    problems: list[Problem] = field(default_factory=list)
    origins: dict[str, Source] = field(default_factory=dict)
    seen: dict[str, set[str]] = field(default_factory=lambda: {"site": set(), "host": set(), "stack": set()})

    def shown(self, path: FilePath) -> str:
        """The file to edit: an inventory may reach another one's files by links."""
        path = path.resolve()
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)

    def fault(self, path: FilePath, message: str, allowed: str = "", remedy: str = "") -> None:
        self.problems.append(Problem(self.shown(path), None, "", None, message, allowed, remedy))

    def record(self, kind: str, name: str, path: FilePath, record: type[_Record], below: str) -> _Record | None:
        """The record of one file, or None; its faults are kept. `kind` is also the key that repeats the name."""
        try:
            source = read_source(path, self.shown(path), below)
        except DeclarationError as error:
            self.seen[kind].add(name)
            self.problems += error.problems
            return None
        if source is None:
            return None
        self.seen[kind].add(name)
        self.origins[f"{kind}:{name}"] = source
        made = self._validated(source, record)
        if isinstance(source.data, dict) and source.data.get(kind, name) != name:
            remedy = f"write {kind}: {name}"
            if path.resolve() != path.absolute():
                remedy = f"remove the link {path.absolute().relative_to(self.root)}, which leads here"
            self.problems.append(source.problem((kind,), f"is not the name that its place gives: {name}", name, remedy))
            return None
        return None if source.problems else made

    def _validated(self, source: Source, record: type[_Record]) -> _Record | None:
        made = None
        try:
            made = record.model_validate(source.data, context={"written": True})
        except ValidationError as error:
            known = {(problem.line, problem.key) for problem in source.problems}
            found = problems_of(error, record, source)
            better = {(problem.line, problem.key) for problem in found}
            source.problems = [p for p in source.problems if (p.line, p.key) not in better & known] + found
        self.problems += source.problems
        return made


def load_fleet(
    root: FilePath, inventory: FilePath | None = None, stacks_dirs: Sequence[FilePath] | None = None
) -> Fleet:
    """Loads `inventory` (default ``inventories/production``) and every stack below `stacks_dirs` (default ``stacks``).

    Relative paths are below `root`. Raises DeclarationError with every problem of every file at once.
    """
    root = FilePath(root).resolve()
    loading = _Loading(root)
    inventory = root / (inventory or "inventories/production")
    sites = _records_of(loading, inventory / "group_vars", "site", Site, SITE_KEY, prefix="site_")
    hosts = _records_of(loading, inventory / "host_vars", "host", Host, HOST_KEY)
    if not loading.seen["host"]:
        loading.fault(inventory, "declares no host", remedy=f"add host_vars/<host>.yml with the key {HOST_KEY}")
    stacks: dict[str, Stack] = {}
    for directory in stacks_dirs or [FilePath("stacks")]:
        _add_stacks(loading, root / directory, stacks)
    fleet = Fleet(sites, hosts, stacks, loading.origins)
    from .cross_checks import cross_problems  # the checks read Fleet, so they come after it
    from .inventory_groups import inventory_problems

    loading.problems += cross_problems(fleet, loading.seen)
    loading.problems += inventory_problems(fleet, inventory)
    if loading.problems:
        raise DeclarationError(_with_cards(problem, loading.origins, hosts) for problem in loading.problems)
    return fleet


def _records_of(
    loading: _Loading, directory: FilePath, kind: str, record: type[_Record], below: str, prefix: str = ""
) -> dict[str, _Record]:
    """Records by name: ``<prefix><name>.yml``, or any file in a directory ``<prefix><name>/`` (beside a vault)."""
    found: dict[str, _Record] = {}
    for entry in sorted(directory.iterdir()) if directory.is_dir() else ():
        name = entry.stem if entry.suffix in (".yml", ".yaml") else entry.name
        if not name.startswith(prefix) or entry.name.startswith("."):
            continue
        files = sorted(entry.rglob("*.y*ml")) if entry.is_dir() else [entry] if entry.suffix else []
        for path in files:
            if _is_vault(path):
                continue
            made = loading.record(kind, name.removeprefix(prefix), path, record, below)
            if made is not None:
                found[name.removeprefix(prefix)] = made
    return found


def _is_vault(path: FilePath) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(14) == b"$ANSIBLE_VAULT"
    except OSError:
        return False


def _add_stacks(loading: _Loading, directory: FilePath, stacks: dict[str, Stack]) -> None:
    if not directory.is_dir():
        loading.fault(directory, "is no directory of stacks", remedy="one folder a stack, each with a stack.yml")
        return
    for entry in sorted(directory.iterdir()):
        if not entry.is_dir() or entry.name.startswith((".", "_")):
            continue
        path = entry / "stack.yml"
        if not path.is_file():
            _no_stack_file(loading, entry)
            continue
        if entry.name in loading.seen["stack"]:
            loading.fault(path, f"is a second stack named {entry.name}", remedy="give each stack its own name")
            continue
        made = loading.record("stack", entry.name, path, Stack, "")
        if made is not None:
            stacks[entry.name] = made


def _no_stack_file(loading: _Loading, entry: FilePath) -> None:
    path = entry / "stack.yml"
    if path.is_symlink() or path.exists():
        what = "is a link that leads nowhere" if path.is_symlink() else "is no file"
        loading.problems.append(Problem(f"{loading.shown(entry)}/stack.yml", None, "", None, what))
        return
    if entry.is_symlink():
        name = str(entry.absolute().relative_to(loading.root))
        message = "is a link to a directory without a stack.yml"
        loading.problems.append(Problem(name, None, "", None, message, remedy="remove the link"))
        return
    others = sorted(p.name for p in entry.iterdir() if p.suffix in (".yml", ".yaml"))
    remedy = f"rename {listed(others)} to stack.yml" if others else "add one, or remove the directory"
    loading.fault(entry, "has no stack.yml", remedy=remedy)


def _with_cards(problem: Problem, origins: dict[str, Source], hosts: dict[str, Host]) -> Problem:
    """A faulty card id names the cards that the stack's host has."""
    if not re.search(r"\.gpus\[\d+\]$", problem.key) or not problem.allowed.startswith("the key of a card"):
        return problem
    source = next((source for source in origins.values() if source.file == problem.file), None)
    host = hosts.get(str(source.data.get("host"))) if source is not None else None
    if host is None or not host.gpus:
        return problem
    cards = listed(f'"{card}"' for card in host.gpus)
    return replace(problem, allowed=f"a card of {host.host}, in quotes: {cards}")
