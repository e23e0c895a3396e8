"""Findings from a container's state: why it does not run, and whether what it promises is there."""

from __future__ import annotations

import re
from typing import Any

from ...findings import Finding, finding
from ..jsontext import as_list, as_mapping, as_text
from .ports import is_published
from .records import ContainerRecord, PortBinding

_LEFTOVER_NAME = re.compile(r"^[0-9a-f]{12}_(?P<name>.+)$")
_REPLACE_LABEL = "com.docker.compose.replace"
_LOOPING = 3
"""So many restarts of one container count as a loop."""
_SIGNALS = {
    125: "the engine refused to start it",
    126: "its program can't be executed",
    127: "its program was not found",
    128: "it could not be started",
    130: "it was interrupted",
    132: "illegal instruction: the program is not made for this processor",
    134: "the program aborted",
    137: "it was killed (SIGKILL)",
    139: "the program crashed (segmentation fault)",
    143: "it was stopped (SIGTERM)",
}
_WANTS_TO_RUN = ("always", "unless-stopped")


def state_findings(container: ContainerRecord, health: dict[str, Any]) -> list[Finding]:
    """All findings that follow from one container alone, without knowing what was declared."""
    subject = subject_of(container)
    found = [*_leftover(container, subject), *_unpublished(container, subject)]
    if container.status == "restarting" or (container.restart_count or 0) >= _LOOPING:
        found.append(_loop(container, subject))
    elif container.status == "dead":
        found.append(
            finding("container.dead", subject, "the container is dead: Docker could not remove it", _facts(container))
        )
    elif container.status == "paused":
        found.append(finding("container.paused", subject, "the container is paused", _facts(container)))
    elif container.status == "created" and (container.error or container.exit_code):
        found.append(_stopped(container, subject, "container.never_started", "created but never started"))
    elif container.status == "exited" or (container.status is None and container.running is False):
        found.append(_exited(container, subject))
    if container.oom_killed:
        found.append(finding("container.oom_killed", subject, "the kernel ended it: out of memory", _facts(container)))
    found.extend(_health(container, health, subject))
    return found


def subject_of(container: ContainerRecord) -> str:
    return f"container:{container.name or (container.id or 'unknown')[:12]}"


def _facts(container: ContainerRecord) -> dict[str, Any]:
    return {
        "status": container.status,
        "exit_code": container.exit_code,
        "error": container.error,
        "restart_count": container.restart_count,
        "restart_policy": container.restart_policy,
    }


def has_own_ports(container: ContainerRecord) -> bool:
    """False where ports are not published at all: host network, none, or another container's network."""
    mode = container.network_mode or ""
    return not (mode in ("host", "none") or mode.startswith("container:") or "host" in container.networks)


def missing_ports(container: ContainerRecord) -> list[PortBinding]:
    """Wanted bindings that the running container does not have; [] where it publishes none by design.

    Docker calls a container running that waits for its next start: it has no ports then, and that is no fault of them.
    """
    if not container.running or container.status == "restarting" or not has_own_ports(container):
        return []
    return [one for one in container.wanted_ports if not is_published(one, container.published_ports)]


def _unpublished(container: ContainerRecord, subject: str) -> list[Finding]:
    missing = missing_ports(container)
    by_port = {(one.container, one.host_port): one for one in missing}
    word = f", {container.health}," if container.health else ""
    found = []
    for one in by_port.values():
        place = f"port {one.host_port} of the host is not" if one.host_port else "no port of the host is"
        message = f"running{word} but {place} published for {one.container}"
        evidence = {
            "wanted": f"{one.host_ip or '*'}:{one.host_port or ''}->{one.container}",
            "published": [f"{p.host_ip}:{p.host_port}->{p.container}" for p in container.published_ports],
            "networks": sorted(container.networks),
            "health": container.health,
            "started_at": container.started_at,
        }
        found.append(finding("port.unpublished", subject, message, evidence))
    return found


def _leftover(container: ContainerRecord, subject: str) -> list[Finding]:
    """Compose names a new container ``<12 hex>_<name>`` until the old one is gone.

    The label com.docker.compose.replace alone is no sign: Compose leaves it on what it recreated (seen with 2.26.1).
    """
    name = _LEFTOVER_NAME.match(container.name or "")
    if name is None:
        return []
    message = f"left over from an interrupted recreate of {name.group('name')}"
    evidence = {"name": container.name, "replace": container.labels.get(_REPLACE_LABEL)}
    return [finding("container.recreate_leftover", subject, message, evidence)]


def replace_label_notes(containers: list[ContainerRecord]) -> list[Finding]:
    """A note for each container with the label of a recreate; its labels show whether that was finished."""
    return [
        finding(
            "container.recreate_leftover",
            subject_of(one),
            "made by a recreate (label com.docker.compose.replace): compare its labels with the wanted ones",
            {"name": one.name, "replace": one.labels[_REPLACE_LABEL]},
            severity="info",
        )
        for one in containers
        if _REPLACE_LABEL in one.labels and not _LEFTOVER_NAME.match(one.name or "")
    ]


def _classified(error: str) -> Finding | None:
    # the tables of causes are large, and few containers have an error
    from ..compose.failures import first_cause

    return first_cause(error)


def _cause_of(container: ContainerRecord) -> tuple[str, dict[str, Any]]:
    """(words, evidence) for why it ended: Docker's error text first, then the exit code."""
    cause = _classified(container.error) if container.error else None
    if cause is not None:
        return cause.message, {"cause": cause.code, "retry": cause.evidence.get("retry"), "cause_remedy": cause.remedy}
    if container.error:
        return container.error, {}
    if container.exit_code in _SIGNALS:
        return _SIGNALS[container.exit_code], {}
    return "its program ended" + (" with an error" if container.exit_code else ""), {}


def _stopped(container: ContainerRecord, subject: str, code: str, how: str, severity: str = "") -> Finding:
    why, evidence = _cause_of(container)
    ending = "" if container.exit_code is None else f" with code {container.exit_code}"
    return finding(code, subject, f"{how}{ending}: {why}", {**_facts(container), **evidence}, severity=severity)


def _exited(container: ContainerRecord, subject: str) -> Finding:
    """An end with an error, or an end that the restart policy does not want, is an error; a stop is a note."""
    on_purpose = container.exit_code in (0, 130, 143, None) and not container.error
    quiet = on_purpose and container.restart_policy not in _WANTS_TO_RUN
    return _stopped(container, subject, "container.exited", "exited", "info" if quiet else "")


def _loop(container: ContainerRecord, subject: str) -> Finding:
    why, evidence = _cause_of(container)
    now = "restarting" if container.status == "restarting" else container.status or "unknown"
    message = f"started again {container.restart_count or 'many'} times, now {now}: {why}"
    severity = "warning" if container.status == "running" else ""
    return finding("container.restart_loop", subject, message, {**_facts(container), **evidence}, severity=severity)


def _health(container: ContainerRecord, health: dict[str, Any], subject: str) -> list[Finding]:
    word = as_text(health.get("Status"))
    if word in (None, "none"):
        return []
    if container.running is False:
        message = f"health {word!r} is from before the container ended"
        return [finding("container.health_stale", subject, message, {"health": word, "status": container.status})]
    if word != "unhealthy":
        return []
    outputs = [(as_text(as_mapping(one).get("Output")) or "").strip()[:200] for one in as_list(health.get("Log"))[-3:]]
    evidence = {"failing_streak": health.get("FailingStreak"), "last_outputs": outputs}
    return [finding("container.unhealthy", subject, "the health check fails", evidence)]
