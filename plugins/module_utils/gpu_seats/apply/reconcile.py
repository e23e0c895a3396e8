"""Which containers of a stack must change, and why. Pure: wanted, standing and images in, decision out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..findings import Finding, finding
from .docker_state import REPLACES, HostState, ImageState, Standing
from .made import Made, is_remade_by_hand
from .wanted import LABEL_DIGEST, LABEL_STACK, WantedService, WantedStack

_HASH_PREFIXED = re.compile(r"^[0-9a-f]{12}_.")
_ALIVE = ("running", "restarting", "paused")
STARTS = ("create", "recreate", "start")
"""Actions after which a service runs that did not run so before."""


@dataclass(frozen=True)
class Action:
    """What is done to one container: none, create, recreate, start, stop, remove (and write, for a file).

    container: its name (a path for write). container_id: of the one that stands, empty where none does.
    """

    service: str
    container: str
    action: str
    why: str
    container_id: str = ""

    def as_dict(self) -> dict[str, str]:
        return {"service": self.service, "container": self.container, "action": self.action, "why": self.why}


@dataclass(frozen=True)
class Decision:
    """All of one stack. refused: nothing of it is touched, findings say why."""

    stack: WantedStack
    actions: tuple[Action, ...]
    findings: tuple[Finding, ...] = ()
    refused: bool = False

    @property
    def changes(self) -> bool:
        return any(action.action != "none" for action in self.actions)

    def of(self, *kinds: str) -> list[Action]:
        return [action for action in self.actions if action.action in kinds]


def decide(
    stack: WantedStack,
    host: HostState,
    take_over: bool = False,
    retire: bool = False,
    made: Made | None = None,
    going: Collection[str] = (),
) -> Decision:
    """What must happen so that `stack` stands as wanted.

    Containers outside its project are never acted on, save those of an older spelling of it (`project_aliases`), and
    these only with `take_over`. With `retire` only containers of absent services are acted on, without it never these.
    made: what deploys noted of the containers they made. going: ids of containers that other stacks of the run remove.
    """
    if retire:
        return _decide_retire(stack, host)
    own = [one for one in host.containers if one.project == stack.project and not one.oneoff]
    actions: list[Action] = []
    findings: list[Finding] = []
    for service in stack.services.values():
        mine = [one for one in own if one.service == service.name]
        if service.run == "absent":
            findings += [_still_there(service, one) for one in mine]
        else:
            actions += _service_actions(service, mine, host.images, made or {})
    orphans, stranger_findings = _not_of_any_service(stack, own)
    findings += stranger_findings
    actions += orphans
    elsewhere, other_findings = _other_spelling(stack, host.containers, take_over, actions)
    findings += other_findings
    standing = [one for one in host.containers if one.id not in going]
    findings += _taken_names(stack, [*elsewhere, *actions], standing)
    if any(one.fails for one in findings):
        return Decision(stack, (), tuple(findings), refused=True)
    return Decision(stack, (*elsewhere, *_untangled(stack, actions, own)), tuple(findings))


def _decide_retire(stack: WantedStack, host: HostState) -> Decision:
    absent = {service.name: service for service in stack.services.values() if service.run == "absent"}
    projects = {stack.project, *stack.project_aliases}
    found = [one for one in host.containers if one.project in projects and one.service in absent and not one.oneoff]
    actions = [Action(one.service, one.name, "remove", "is retired", one.id) for one in found]
    gone = set(absent) - {one.service for one in found}
    actions += [Action(name, absent[name].container, "none", "there is no container") for name in sorted(gone)]
    return Decision(stack, tuple(actions))


def _still_there(service: WantedService, container: Standing) -> Finding:
    return finding(
        "seat.retired_still_there",
        f"seat:{service.name}",
        f"{service.name} is declared retired, and its container {container.name} still exists ({container.status})",
        {"container_id": container.short, "status": container.status},
    )


def is_leftover(container: Standing, name: str) -> bool:
    """A container of a recreate that was cut short: Compose names it ``<12 hex>_<name>`` until the old one is gone.

    The label com.docker.compose.replace alone is no sign: it stays on a container that was recreated properly.
    """
    if container.name == name:
        return False
    return bool(_HASH_PREFIXED.match(container.name)) or REPLACES in container.labels


def renew_reasons(
    service: WantedService, container: Standing, images: Mapping[str, ImageState | None], made: Made
) -> list[str]:
    """Why `container` is not what `service` wants, by what it was created with; empty if it is."""
    digest = container.labels.get(LABEL_DIGEST)
    if digest is None:
        return [f"made outside gpu-seats (no label {LABEL_DIGEST})"]
    reasons = _label_reasons(service, container)
    image = images.get(service.image)
    if container.image != service.image:
        reasons.insert(0, f"image {container.image} -> {service.image}")
    elif image is not None and not image.made(container):
        reasons.insert(0, f"image {service.image} was pulled anew: {container.image_id[:19]} -> {image.id[:19]}")
    if not reasons and digest != service.digest:
        reasons.append("configuration (see the diff of the Compose file)")
    if not reasons and is_remade_by_hand(container, made):
        reasons.append("was made anew by hand from a Compose file that was edited on the host")
    return reasons


def _label_reasons(service: WantedService, container: Standing) -> list[str]:
    return [
        f"label {key}: {_shown(container.labels.get(key))} -> {_shown(value)}"
        for key, value in sorted(service.labels.items())
        if key != LABEL_DIGEST and container.labels.get(key) != value
    ]


def _shown(value: str | None) -> str:
    if value is None:
        return "(none)"
    return repr(value if len(value) <= 60 else value[:57] + "...")


def state_reason(container: Standing) -> tuple[str, str]:
    """(action, why) for a container that is configured as wanted and is to run."""
    if container.lost_ports:
        return "recreate", "runs without its published port {}; a restart does not bring it back".format(
            ", ".join(container.lost_ports)
        )
    if container.status == "running":
        return "none", "runs as wanted"
    if container.status == "paused":
        return "start", "is paused"
    if container.status == "restarting":
        loop = f"is in a restart loop ({container.restart_count} restarts, exit code {container.exit_code})"
        return "recreate", loop
    if container.status == "exited" and container.networks:
        return "start", f"has exited with code {container.exit_code}"
    # a start that failed leaves no network: starting it again runs it without a port (moby#51758)
    return "recreate", "is {}{}{}".format(
        container.status,
        "" if container.networks else " and attached to no network",
        f": {container.error}" if container.error else "",
    )


def _service_actions(
    service: WantedService, mine: Sequence[Standing], images: Mapping[str, ImageState | None], made: Made
) -> list[Action]:
    leftovers = [one for one in mine if is_leftover(one, service.container)]
    proper = [one for one in mine if one not in leftovers]
    proper.sort(key=lambda one: (one.name != service.container, one.status not in _ALIVE, one.name))
    main = proper[0] if proper else None
    actions = [
        Action(service.name, one.name, "remove", "is left over from a recreate that was cut short", one.id)
        for one in leftovers
    ]
    actions += [
        Action(service.name, one.name, "remove", "is a second container of the service", one.id) for one in proper[1:]
    ]
    kind, why = _main_action(service, main, images, made)
    actions.append(Action(service.name, main.name if main else service.container, kind, why, main.id if main else ""))
    return actions


def _main_action(
    service: WantedService, main: Standing | None, images: Mapping[str, ImageState | None], made: Made
) -> tuple[str, str]:
    if main is None:
        if service.run == "up":
            return "create", "there is no container"
        return "none", "there is no container, and none is wanted now"
    alive = main.status in _ALIVE
    if service.run == "stopped":
        return ("stop", service.why or "is not to run now") if alive else ("none", "is stopped as wanted")
    if service.run == "leave":
        return "none", "was not asked for"
    if service.run == "keep" and not alive:
        return "none", "is not running; it is started when it is named"
    reasons = renew_reasons(service, main, images, made)
    if reasons:
        return "recreate", "; ".join(reasons)
    if main.name != service.container:
        return "recreate", f"is named {main.name}, {service.container} is wanted"
    return state_reason(main)


def _untangled(stack: WantedStack, actions: Sequence[Action], own: Iterable[Standing]) -> list[Action]:
    """Removals first. A container whose name another service is to get is removed and created, not recreated.

    Compose gives the new container its name while the holder of that name still stands, and fails.
    """
    names = {one.id: one.name for one in own}
    taken = {
        stack.services[action.service].container: action.container_id
        for action in actions
        if action.action in ("create", "recreate")
    }
    removed, others = [], []
    for action in actions:
        wanted_by = taken.get(names.get(action.container_id, ""))
        if action.action == "recreate" and wanted_by is not None and wanted_by != action.container_id:
            name = stack.services[action.service].container
            removed.append(Action(action.service, action.container, "remove", action.why, action.container_id))
            others.append(Action(action.service, name, "create", f"{action.container} made way for another service"))
        else:
            (removed if action.action in ("remove", "stop") else others).append(action)
    return [*removed, *others]


def ids_without_service(stack: WantedStack, host: HostState) -> list[str]:
    """Containers of the stack's project that a deploy of it removes, because it has no such service any more."""
    own = [one for one in host.containers if one.project == stack.project and not one.oneoff]
    return [action.container_id for action in _not_of_any_service(stack, own)[0]]


def _not_of_any_service(stack: WantedStack, own: Iterable[Standing]) -> tuple[list[Action], list[Finding]]:
    actions, findings = [], []
    for one in own:
        if one.service in stack.services:
            continue
        if one.labels.get(LABEL_STACK) == stack.name:
            actions.append(
                Action(one.service, one.name, "remove", "is of a service that the stack no longer has", one.id)
            )
        else:
            findings.append(
                finding(
                    "compose.stranger_in_project",
                    f"container:{one.name}",
                    "service {} of Compose project {} is not declared in stack {}; it is left alone".format(
                        one.service or "?", stack.project, stack.name
                    ),
                    {"container_id": one.short, "status": one.status, "image": one.image},
                )
            )
    return actions, findings


def _is_other_spelling(stack: WantedStack, one: Standing) -> bool:
    """Of the same stack, under another project name."""
    if one.project == stack.project or one.oneoff:
        return False
    return one.project in stack.project_aliases or one.labels.get(LABEL_STACK) == stack.name


def _other_spelling(
    stack: WantedStack, containers: Iterable[Standing], take_over: bool, actions: Iterable[Action]
) -> tuple[list[Action], list[Finding]]:
    """The same stack running under another project name: old Compose dropped the dots of a directory's name."""
    names = {service.container for service in stack.services.values()}
    found = [one for one in containers if _is_other_spelling(stack, one)]
    in_the_way = [
        one
        for one in found
        if one.service in stack.services or one.name in names or one.labels.get(LABEL_STACK) == stack.name
    ]
    starts_something = any(service.run == "up" for service in stack.services.values()) or any(
        action.action in STARTS for action in actions
    )
    if take_over:
        why = "belongs to the same stack under project name %s"
        return [Action(o.service, o.name, "remove", why % o.project, o.id) for o in in_the_way], []
    return [], [
        finding(
            "compose.project_other_spelling",
            f"container:{one.name}",
            f"stack {stack.name} is Compose project {stack.project}, "
            f"and container {one.name} of it exists under project {one.project}",
            {"container_id": one.short, "status": one.status, "service": one.service, "project": one.project},
            severity="error" if starts_something and one in in_the_way else "warning",
        )
        for one in found
    ]


def _taken_names(stack: WantedStack, actions: Iterable[Action], containers: Iterable[Standing]) -> list[Finding]:
    """Container names are unique on a host: one that a stranger holds cannot be made."""
    leaving = {action.container_id for action in actions if action.action in ("remove", "recreate")}
    holders = {one.name: one for one in containers if one.id not in leaving}
    findings = []
    for action in actions:
        if action.action not in ("create", "recreate"):
            continue
        name = stack.services[action.service].container
        holder = holders.get(name)
        if holder is None or _is_other_spelling(stack, holder):
            continue
        of = f"Compose project {holder.project}" if holder.project else "no Compose project"
        findings.append(
            finding(
                "compose.container_name_taken",
                f"container:{name}",
                f"service {action.service} of stack {stack.name} is to be named {name}, "
                f"a name that a container of {of} holds",
                {"container_id": holder.short, "status": holder.status, "image": holder.image},
            )
        )
    return findings


__all__ = [
    "STARTS",
    "Action",
    "Decision",
    "decide",
    "ids_without_service",
    "is_leftover",
    "renew_reasons",
    "state_reason",
]
