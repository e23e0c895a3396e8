"""One run over any number of stacks of a host: look once, decide, touch only what differs, look again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ..findings import Finding, finding
from . import images as image_steps
from .atomic_files import FileError, file_change
from .docker_state import HostState, host_state
from .last_good import (
    archive_retired,
    dropped_secret_files,
    is_last_good,
    keep_last_good,
    read_last_good,
    rollback_target,
)
from .made import read_made
from .reconcile import STARTS, Action, decide, ids_without_service
from .stack_steps import Host, StackWork, file_finding
from .start_order import Start, chains
from .wanted import WantedStack

PARALLEL = 4
"""Stacks worked on at a time: Compose calls mostly wait, and an engine works off its requests one by one anyway."""


@dataclass(frozen=True)
class RunOptions:
    """take_over: also containers under another spelling of a project's name. sequence: see `start_order.chains`.

    wait_chain: wait for a seat before the next one on its card starts; otherwise only the first of each card starts,
    and the results name those that have to wait for it.
    """

    pull: str = "missing"
    check_mode: bool = False
    take_over: bool = False
    rollback: bool = False
    sequence: tuple[str, ...] = ()
    wait_chain: bool = True


@dataclass
class StackResult:
    """What happened (in check mode: would happen) to one stack."""

    name: str
    changed: bool = False
    failed: bool = False
    actions: list[dict[str, str]] = field(default_factory=list)
    last_good: bool = False
    kept: bool = False
    findings: list[Finding] = field(default_factory=list)
    diff: list[dict[str, str]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    archived: str = ""
    waiting: list[dict[str, str]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "changed": self.changed,
            "failed": self.failed,
            "actions": list(self.actions),
            "last_good": self.last_good,
            "kept": self.kept,
            "archived": self.archived,
            "waiting": list(self.waiting),
            "findings": [one.as_dict() for one in self.findings],
        }


def apply_stacks(stacks: Sequence[WantedStack], host: Host, options: RunOptions) -> list[StackResult]:
    """Bring `stacks` to what is wanted; one result each, in order. One that fails does not stop the others.

    Raises EngineUnreachableError if the engine cannot even be looked at.
    """
    results = {stack.name: StackResult(stack.name) for stack in stacks}
    if options.rollback:
        stacks = _last_good_stacks(stacks, results, promote=not options.check_mode)
    state = _look(stacks, host)
    works = _works(stacks, state, host, options)
    state, works = _with_images(works, state, host, options)
    if not options.check_mode:
        _carry_out([work for work in works if not work.failed], host, options)
    for work in works:
        _fill(results[work.stack.name], work, options.check_mode)
    return list(results.values())


def keep_stacks(stacks: Sequence[WantedStack], check_mode: bool) -> list[StackResult]:
    """Keep the files of `stacks`, which were just verified, for a rollback."""
    results = []
    for stack in stacks:
        result = StackResult(stack.name, last_good=True)
        try:
            result.changed = not is_last_good(stack) if check_mode else keep_last_good(stack)
        except FileError as problem:
            result.last_good, result.failed = False, True
            result.findings.append(file_finding(stack, problem))
        if result.changed:
            result.actions.append(Action("", stack.directory, "write", "is kept as the last good deploy").as_dict())
        results.append(result)
    return results


def retire_stacks(stacks: Sequence[WantedStack], host: Host, options: RunOptions) -> list[StackResult]:
    """Remove the containers of services that are `absent`; archive the files where no service is left."""
    results = []
    state = _look(stacks, host)
    for stack in stacks:
        work = _work_files(StackWork(decide(stack, state, retire=True), [], host))
        if not options.check_mode and not work.failed:
            work.remove_and_stop()
            if not work.failed:
                work.write_files()
        result = StackResult(stack.name)
        _fill(result, work, options.check_mode)
        if _is_retired(stack) and not work.failed:
            _archive(stack, result, options.check_mode)
        results.append(result)
    return results


def _is_retired(stack: WantedStack) -> bool:
    return all(service.run == "absent" for service in stack.services.values())


def _archive(stack: WantedStack, result: StackResult, check_mode: bool) -> None:
    try:
        there = file_change(stack.all_files[-1]).exists
        result.archived = "" if check_mode or not there else archive_retired(stack) or ""
    except FileError as problem:
        result.failed = True
        result.findings.append(file_finding(stack, problem))
        return
    if there:
        result.changed = True
        target = result.archived or "the directory of retired stacks"
        result.actions.append(Action("", stack.directory, "remove", f"files are moved to {target}").as_dict())


def _last_good_stacks(
    stacks: Sequence[WantedStack], results: Mapping[str, StackResult], promote: bool
) -> list[WantedStack]:
    """What is kept for each stack, with today's run states; a stack without any gets a finding and is left out."""
    kept_stacks = []
    for stack in stacks:
        try:
            kept = rollback_target(stack.directory, promote)
        except FileError as problem:
            results[stack.name].failed = True
            results[stack.name].findings.append(file_finding(stack, problem))
            continue
        if kept is None:
            results[stack.name].failed = True
            results[stack.name].findings.append(
                finding("compose.no_last_good", f"stack:{stack.name}", "no verified deploy of it is kept")
            )
            continue
        kept_stacks.append(kept.with_runs({name: service.run for name, service in stack.services.items()}))
    return kept_stacks


def _look(stacks: Sequence[WantedStack], host: Host) -> HostState:
    projects = [stack.project for stack in stacks]
    wanted = [service.image for stack in stacks for service in stack.services.values() if service.run in ("up", "keep")]
    return host_state(host.engine, projects, (), wanted)


def _works(stacks: Sequence[WantedStack], state: HostState, host: Host, options: RunOptions) -> list[StackWork]:
    going = {one for stack in stacks for one in ids_without_service(stack, state)}
    return [_work(stack, state, host, options, going) for stack in stacks]


def _work(stack: WantedStack, state: HostState, host: Host, options: RunOptions, going: Collection[str]) -> StackWork:
    decision = decide(stack, state, options.take_over, made=read_made(stack.directory), going=going)
    work = StackWork(decision, [], host, findings=list(decision.findings))
    return work if decision.refused else _work_files(work)


def _work_files(work: StackWork) -> StackWork:
    """The work with its files compared; a stack of which every service is retired has none to write."""
    if _is_retired(work.stack):
        return work
    try:
        work.files = [file_change(wanted) for wanted in work.stack.all_files]
        work.dropped = dropped_secret_files(work.stack)
    except FileError as problem:
        work.findings.append(file_finding(work.stack, problem))
    return work


def _with_images(
    works: list[StackWork], state: HostState, host: Host, options: RunOptions
) -> tuple[HostState, list[StackWork]]:
    """Pull what is needed; stacks whose image cannot be had fail here, before anything of them is touched."""
    decisions = [work.decision for work in works]
    names = image_steps.images_to_pull(decisions, state.images, options.pull)
    failed: dict[str, list[Finding]] = {}
    if names and not options.check_mode:
        failed = image_steps.pull(names, host.run)
        stacks = [work.stack for work in works]
        state = _look(stacks, host)
        works = _works(stacks, state, host, options)
    for work in works:
        used = {service.image for service in work.stack.services.values()}
        for name in names:
            if name in used and name in failed:
                work.findings += failed[name]
            elif name in used and options.check_mode:
                work.findings.append(
                    finding("compose.image_to_pull", f"stack:{work.stack.name}", f"image {name} would be pulled")
                )
        if not (names and options.check_mode) and not any(name in used and name in failed for name in names):
            work.findings += image_steps.missing_images(work.decision, state.images)
    return state, works


def _carry_out(works: Sequence[StackWork], host: Host, options: RunOptions) -> None:
    """Files and removals first, then starts: those that share a card one after the other, all others side by side."""
    pending = [work for work in works if work.decision.changes or work.dropped or any(c.differs for c in work.files)]
    if not pending:
        return
    with ThreadPoolExecutor(max_workers=PARALLEL) as pool:
        list(pool.map(_prepare, pending))
        alive = {work.stack.name: work for work in pending if not work.failed}
        waiting = chains(
            [
                Start(work.stack.name, work.stack.services[action.service])
                for work in alive.values()
                for action in work.decision.of(*STARTS)
            ],
            options.sequence,
        )
        chained = {start.name for chain in waiting for start in chain}
        jobs = [pool.submit(_start_chain, chain, alive, host, options.wait_chain) for chain in waiting]
        jobs += [pool.submit(_start_free, work, chained) for work in alive.values()]
        for job in jobs:
            job.result()


def _prepare(work: StackWork) -> None:
    work.write_files()
    if not work.failed:
        work.remove_and_stop()


def _start_free(work: StackWork, chained: set[str]) -> None:
    work.start([action for action in work.decision.of(*STARTS) if f"{work.stack.name}/{action.service}" not in chained])


def _start_chain(chain: Sequence[Start], alive: Mapping[str, StackWork], host: Host, wait: bool) -> None:
    for position, start in enumerate(chain):
        work = alive[start.stack]
        work.start([action for action in work.decision.of(*STARTS) if action.service == start.service.name])
        if position + 1 == len(chain):
            return
        if not wait:
            for later in chain[position + 1 :]:
                alive[later.stack].waiting.append({"service": later.service.name, "behind": start.service.container})
            return
        host.wait_started(work.stack, start.service)


def _fill(result: StackResult, work: StackWork, check_mode: bool) -> None:
    result.findings += work.findings
    result.failed = result.failed or work.failed
    result.checks = [dict(check) for check in work.stack.checks]
    result.waiting = list(work.waiting)
    differing = [change for change in work.files if change.differs]
    result.diff = [change.diff() for change in differing]
    planned = [action for action in work.decision.actions if action.action != "none"]
    told = [*work.file_removals, *planned]
    if told:
        result.diff.append({"prepared": "".join(_planned_line(work.stack, action) for action in told)})
    if check_mode:
        writes = [Action("", change.wanted.path, "write", change.why) for change in differing]
        writes += work.file_removals
        result.actions = [action.as_dict() for action in [*writes, *work.decision.actions]]
        pulls = any(one.code == "compose.image_to_pull" for one in work.findings)
        result.changed = bool(writes or planned or pulls) and not work.failed
    else:
        idle = [action for action in work.decision.actions if action.action == "none"]
        result.actions = [action.as_dict() for action in [*work.done, *idle]]
        result.changed = work.changed
    try:
        result.last_good = is_last_good(work.stack)
        result.kept = read_last_good(work.stack.directory) is not None
    except OSError:
        result.last_good = False


def _planned_line(stack: WantedStack, action: Action) -> str:
    return f"{stack.name}: {action.action} {action.container}: {action.why}\n"


__all__ = [
    "RunOptions",
    "StackResult",
    "apply_stacks",
    "keep_stacks",
    "retire_stacks",
]
