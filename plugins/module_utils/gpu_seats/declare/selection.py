"""Which workloads a verb is about: ``-e seat=flash-next``, a list, a stack, or ``all``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from .fleet import Fleet
from .problems import DeclarationError, Problem, did_you_mean, listed
from .stack import Stack
from .workload import Workload

ALL = "all"


@dataclass(frozen=True)
class Selected:
    """One workload of the selection. `named`: asked for by its own or its stack's name, not by ``all``."""

    host: str
    stack: str
    workload: str
    is_seat: bool
    named: bool


@dataclass(frozen=True)
class Selection:
    """`asked` is the operator's text. `passed_over` tells why a workload that the text covers is left out."""

    asked: str
    selected: tuple[Selected, ...]
    passed_over: dict[str, str] = field(default_factory=dict)

    @property
    def hosts(self) -> list[str]:
        return list(dict.fromkeys(one.host for one in self.selected))

    @property
    def stacks(self) -> list[str]:
        return list(dict.fromkeys(one.stack for one in self.selected))

    def on(self, host: str) -> list[Selected]:
        """What is selected on one host."""
        return self._by_host.get(host, [])

    def of(self, stack: str) -> list[Selected]:
        """What is selected of one stack."""
        return self._by_stack.get(stack, [])

    def find(self, stack: str, workload: str) -> Selected | None:
        """The entry of one workload, None when it is not selected."""
        return next((one for one in self.of(stack) if one.workload == workload), None)

    @cached_property
    def _by_host(self) -> dict[str, list[Selected]]:
        return _grouped(self.selected, lambda one: one.host)

    @cached_property
    def _by_stack(self) -> dict[str, list[Selected]]:
        return _grouped(self.selected, lambda one: one.stack)


def _grouped(selected: Iterable[Selected], key: Callable[[Selected], str]) -> dict[str, list[Selected]]:
    groups: dict[str, list[Selected]] = {}
    for one in selected:
        groups.setdefault(key(one), []).append(one)
    return groups


def select(fleet: Fleet, asked: str, retired: bool = False) -> Selection:
    """What `asked` covers: seat, stack and service names joined by commas, or ``all``.

    A name that is both a stack and one of its seats means the whole stack. Naming something retired is refused
    unless `retired` is set (the retire verb); a stack with retired members passes them over. Raises
    DeclarationError with every unknown name and its nearest ones.
    """
    names = [name for name in (part.strip() for part in asked.split(",")) if name]
    if names == [ALL]:
        return _everything(fleet, asked, retired)
    problems: list[Problem] = []
    if not names or ALL in names:
        said = "names nothing" if not names else "all stands alone"
        raise DeclarationError([_problem(asked, said, "a seat, a stack, a list of them joined by commas, or all")])
    found: dict[tuple[str, str], Selected] = {}
    passed_over: dict[str, str] = {}
    for name in dict.fromkeys(names):
        members = list(_members(fleet, name))
        if not members:
            problems.append(_unknown(fleet, name))
            continue
        if not retired and all(workload.state == "retired" for _, _, workload in members):
            problems.append(_retired(name, members))
        for stack, workload_name, workload in members:
            if retired or workload.state != "retired":
                found[(stack.stack, workload_name)] = _selected(stack, workload_name, named=True)
            else:
                passed_over[workload_name] = f"retired: {workload.reason}"
    if problems:
        raise DeclarationError(problems)
    return Selection(asked, tuple(found.values()), passed_over)


def _everything(fleet: Fleet, asked: str, retired: bool) -> Selection:
    every = list(fleet.workloads())
    kept = [_selected(stack, name, named=False) for stack, name, w in every if retired or w.state != "retired"]
    passed_over = {} if retired else {name: f"retired: {w.reason}" for _, name, w in every if w.state == "retired"}
    return Selection(asked, tuple(kept), passed_over)


def _members(fleet: Fleet, name: str) -> Iterator[tuple[Stack, str, Workload]]:
    """Workloads that `name` means: of the stack of that name, else the seat, else the service."""
    if name in fleet.stacks:
        stack = fleet.stacks[name]
        yield from ((stack, member, workload) for member, workload in stack.workloads.items())
        return
    seats = [(stack, seat_name, seat) for stack, seat_name, seat in fleet.seats() if seat_name == name]
    if seats:
        yield from seats
        return
    for stack in fleet.stacks.values():
        if name in stack.services:
            yield stack, name, stack.services[name]


def _selected(stack: Stack, name: str, named: bool) -> Selected:
    return Selected(stack.host, stack.stack, name, name in stack.seats, named)


def _unknown(fleet: Fleet, name: str) -> Problem:
    known = sorted({*fleet.stacks, *(workload for _, workload, _ in fleet.workloads())})
    return _problem(name, "is no seat, stack or service that is declared", listed(known), did_you_mean(name, known))


def _retired(name: str, members: list[tuple[Stack, str, Workload]]) -> Problem:
    reasons = listed(dict.fromkeys(str(workload.reason) for _, _, workload in members))
    stack = members[0][0].stack
    return _problem(
        name,
        f"is retired ({reasons}) and is not deployed",
        remedy=f"to remove what is left of it: ansible-playbook playbooks/retire-seat.yml -e seat={name}; "
        f"to bring it back: set its state in stacks/{stack}/stack.yml",
    )


def _problem(value: str, message: str, allowed: str = "", remedy: str = "") -> Problem:
    return Problem("command line", None, "seat", value or '""', message, allowed, remedy)
