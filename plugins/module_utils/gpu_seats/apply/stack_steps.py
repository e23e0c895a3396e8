"""What is done to one stack on the host, one step a method; each notes what changed and what went wrong."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from ..findings import Finding, finding
from ..observe.command import CommandResult
from ..observe.engine_api import Engine, EngineRefusedError, EngineUnreachableError
from .atomic_files import FileChange, FileError, WantedFile, file_change, remove_leftovers, write_file
from .compose_cli import STOP_GRACE_S, up_command
from .compose_errors import call_findings, is_worth_retrying
from .docker_state import Standing, inspected_container
from .made import note_made
from .reconcile import Action, Decision
from .wanted import LABEL_DIGEST, LABEL_STACK, WantedService, WantedStack

RETRIES = 3
RETRY_PAUSE_S = 4.0
UNMANAGED_COPY = ".before-gpu-seats"


def _no_checkpoint(name: str) -> None:
    """Called after each step with its name; tests end a run here."""


@dataclass
class Host:
    """The outside of a run: the engine, commands, waiting. run takes argv and a limit in seconds."""

    engine: Engine
    run: Callable[[Sequence[str], float], CommandResult]
    wait_started: Callable[[WantedStack, WantedService], None] = lambda stack, service: None
    checkpoint: Callable[[str], None] = _no_checkpoint
    pause: Callable[[float], None] = time.sleep
    call_limit_s: float = 300.0


@dataclass
class StackWork:
    """One stack's part of a run, filled step by step."""

    decision: Decision
    files: list[FileChange]
    host: Host
    dropped: list[str] = field(default_factory=list)
    done: list[Action] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    waiting: list[dict[str, str]] = field(default_factory=list)
    compose_calls: threading.Lock = field(default_factory=threading.Lock)

    @property
    def stack(self) -> WantedStack:
        return self.decision.stack

    @property
    def file_removals(self) -> list[Action]:
        """What happens to the files in `dropped`: secret ones that nothing refers to any more."""
        return [Action("", path, "remove", f"{path} holds secrets that are declared no more") for path in self.dropped]

    @property
    def failed(self) -> bool:
        return any(one.fails for one in self.findings)

    @property
    def changed(self) -> bool:
        return any(action.action != "none" for action in self.done)

    def write_files(self) -> None:
        """Bring every file to its wanted content; the first that cannot be written fails the stack."""
        for change in self.files:
            remove_leftovers(Path(change.wanted.path).parent)
            if not change.differs:
                continue
            try:
                self._keep_unmanaged(change)
                write_file(change)
            except FileError as problem:
                self.findings.append(file_finding(self.stack, problem))
                return
            self.done.append(Action("", change.wanted.path, "write", change.why))
            self.host.checkpoint(f"written:{change.wanted.path}")
        self._remove_dropped()

    def remove_and_stop(self) -> None:
        """Stops, and removes what is no service's proper container."""
        for action in self.decision.of("remove", "stop"):
            try:
                self.host.engine.stop(action.container_id, STOP_GRACE_S)
                self.host.checkpoint(f"stopped:{action.container}")
                if action.action == "remove":
                    self.host.engine.remove(action.container_id)
                    self.host.checkpoint(f"removed:{action.container}")
            except (EngineRefusedError, EngineUnreachableError) as problem:
                if not (isinstance(problem, EngineRefusedError) and problem.status == 404):
                    self.findings.append(engine_finding(problem, f"container:{action.container}"))
                    continue
            self.done.append(action)

    def start(self, actions: Sequence[Action]) -> None:
        """Create, recreate or start the services of `actions`; then see that they are what was wanted."""
        if not actions:
            return
        with self.compose_calls:
            for action in actions:
                if action.action == "start":
                    self._start_existing(action)
            for force in (True, False):
                kind = "recreate" if force else "create"
                group = [action for action in actions if action.action == kind]
                if group:
                    self._up([action.service for action in group], force)
            self._look_again(actions)

    def own_containers(self) -> list[Standing]:
        """The project's containers now, inspected."""
        found = []
        for row in self.host.engine.containers():
            labels = row.get("Labels") or {}
            if labels.get("com.docker.compose.project") == self.stack.project:
                data = self.host.engine.inspect(row["Id"])
                if data is not None:
                    found.append(inspected_container(data))
        return [one for one in found if not one.oneoff]

    def _remove_dropped(self) -> None:
        """After the Compose file is written, so that a killed run leaves no reference to nothing."""
        for action in self.file_removals:
            try:
                Path(action.container).unlink()
            except FileNotFoundError:
                continue
            except OSError as error:
                self.findings.append(file_finding(self.stack, FileError(action.container, error, "remove")))
                return
            self.done.append(action)

    def _keep_unmanaged(self, change: FileChange) -> None:
        """A Compose file that was made by hand is kept once beside the new one: it may hold what nobody declared."""
        if change.wanted.path != self.stack.compose_file or not change.before or LABEL_DIGEST in change.before:
            return
        copy = WantedFile(change.wanted.path + UNMANAGED_COPY, change.before, 0o600)
        if not Path(copy.path).exists():
            write_file(file_change(copy))

    def _start_existing(self, action: Action) -> None:
        try:
            data = self.host.engine.inspect(action.container_id)
            if data is not None and inspected_container(data).status == "paused":
                self.host.engine.unpause(action.container_id)
            else:
                self.host.engine.start(action.container_id)
            self.done.append(action)
            self.host.checkpoint(f"started:{action.container}")
        except EngineRefusedError as problem:
            refused = CommandResult(("docker", "start", action.container), 1, "", problem.message)
            self.findings += call_findings(refused, self._subject(action.service))
        except EngineUnreachableError as problem:
            self.findings.append(engine_finding(problem, self._subject(action.service)))

    def _up(self, services: Sequence[str], force_recreate: bool) -> None:
        command = up_command(self.stack.project, self.stack.directory, services, force_recreate)
        result = self.host.run(command, self.host.call_limit_s)
        for _retry in range(RETRIES):
            if result.ok or not is_worth_retrying(result):
                break
            self.host.pause(RETRY_PAUSE_S)
            result = self.host.run(command, self.host.call_limit_s)
        self.host.checkpoint("up:{}/{}".format(self.stack.name, ",".join(services)))
        if not result.ok:
            self.findings += call_findings(result, self._subject(*services))
            self._drop_never_started(services)

    def _drop_never_started(self, services: Iterable[str]) -> None:
        """Remove what a failed call created: started later, it would run without network and ports (moby#51758)."""
        wanted = set(services)
        try:
            for one in self.own_containers():
                if one.service in wanted and one.status == "created" and one.labels.get(LABEL_STACK):
                    self.host.engine.remove(one.id)
        except (EngineRefusedError, EngineUnreachableError) as problem:
            self.findings.append(engine_finding(problem, f"stack:{self.stack.name}"))

    def _look_again(self, actions: Sequence[Action]) -> None:
        """Note what really changed by container ids, read back labels and ports; a lost port is cured once."""
        services = [action.service for action in actions]
        made = [action for action in actions if action.action in ("create", "recreate")]
        try:
            standing = self._of(services)
            self.done += [
                action
                for action in made
                if {one.id for one in standing if one.service == action.service} != {action.container_id} - {""}
            ]
            bare = [one for one in standing if one.lost_ports]
            if bare and not self.failed:
                self._up([one.service for one in bare], True)
                self.done += [
                    Action(one.service, one.name, "recreate", "came up without its published port", one.id)
                    for one in bare
                ]
                standing = self._of(services)
        except (EngineRefusedError, EngineUnreachableError) as problem:
            self.done += [action for action in made if action not in self.done]
            self.findings.append(engine_finding(problem, f"stack:{self.stack.name}"))
            return
        self._note([one for one in standing if one.service in {action.service for action in made}])
        if not self.failed:
            for name in services:
                mine = [one for one in standing if one.service == name]
                self.findings += _standing_findings(self.stack.services[name], mine, self._subject(name))

    def _note(self, made: Sequence[Standing]) -> None:
        if not made:
            return
        try:
            note_made(self.stack.directory, made)
        except FileError as problem:
            self.findings.append(file_finding(self.stack, problem))

    def _of(self, services: Sequence[str]) -> list[Standing]:
        return [one for one in self.own_containers() if one.service in services]

    def _subject(self, *services: str) -> str:
        if len(services) == 1 and self.stack.services[services[0]].seat:
            return f"seat:{self.stack.services[services[0]].seat}"
        return f"stack:{self.stack.name}"


def _standing_findings(service: WantedService, standing: Sequence[Standing], subject: str) -> list[Finding]:
    if not standing:
        return [
            finding(
                "compose.container_missing",
                subject,
                f"Compose ended well and there is no container of service {service.name}",
            )
        ]
    findings = []
    for one in standing:
        if one.labels.get(LABEL_DIGEST) != service.digest:
            findings.append(
                finding(
                    "compose.labels_stale",
                    subject,
                    f"container {one.name} still carries the labels of an older deploy",
                    {"container_id": one.short, "wanted": service.digest, "found": one.labels.get(LABEL_DIGEST)},
                )
            )
        if one.lost_ports:
            findings.append(
                finding(
                    "port.unpublished",
                    subject,
                    "container {} runs and its port {} is not published, also after a recreate".format(
                        one.name, ", ".join(one.lost_ports)
                    ),
                    {"container_id": one.short, "wanted": list(one.lost_ports)},
                )
            )
    return findings


def file_finding(stack: WantedStack, problem: FileError) -> Finding:
    return finding("compose.file_not_written", f"stack:{stack.name}", str(problem), problem.evidence())


def engine_finding(problem: Exception, subject: str) -> Finding:
    """What an API call that failed means. A time-out on one container is the sign of a wedged one."""
    if isinstance(problem, EngineUnreachableError):
        if problem.reason == "timeout" and subject.startswith(("container:", "seat:")):
            return finding("compose.container_wedged", subject, str(problem), {"reason": problem.reason})
        return finding("compose.engine_unreachable", subject, str(problem), {"reason": problem.reason})
    return finding("compose.engine_refused", subject, str(problem))


__all__ = ["Host", "StackWork", "engine_finding", "file_finding"]
