"""Images are on the host before anything is touched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Callable

from ..findings import Finding, finding
from ..observe.command import CommandResult
from .compose_cli import pull_command
from .compose_errors import call_findings
from .docker_state import ImageState
from .reconcile import Decision

PULL_LIMIT_S = 3600.0
PULL_POLICIES = ("missing", "always", "never")


def images_to_pull(decisions: Iterable[Decision], images: Mapping[str, ImageState | None], policy: str) -> list[str]:
    """Names to pull, each once. `always` asks for every image of a service that runs or is to run."""
    names = []
    for decision in decisions:
        if decision.refused:
            continue
        for action in decision.actions:
            service = decision.stack.services.get(action.service)
            if service is None or action.action in ("remove", "stop"):
                continue
            needed = images.get(service.image) is None and action.action in ("create", "recreate")
            asked = policy == "always" and (service.run == "up" or action.action == "recreate")
            if (needed and policy != "never") or asked:
                names.append(service.image)
    return list(dict.fromkeys(names))


def missing_images(decision: Decision, images: Mapping[str, ImageState | None]) -> list[Finding]:
    """One finding for each service that is to be made of an image the host does not have."""
    return [
        finding(
            "compose.image_missing",
            _subject(decision, action.service),
            f"image {decision.stack.services[action.service].image} of service {action.service} is not on the host",
            {"image": decision.stack.services[action.service].image},
        )
        for action in decision.of("create", "recreate")
        if images.get(decision.stack.services[action.service].image) is None
    ]


def pull(names: Sequence[str], run: Callable[[Sequence[str], float], CommandResult]) -> dict[str, list[Finding]]:
    """Pull one after the other; findings of those that failed, by image name."""
    failed = {}
    for name in names:
        found = call_findings(run(pull_command(name), PULL_LIMIT_S), f"image:{name}")
        if found:
            failed[name] = found
    return failed


def _subject(decision: Decision, service: str) -> str:
    seat = decision.stack.services[service].seat
    return f"seat:{seat}" if seat else f"stack:{decision.stack.name}"


__all__ = ["PULL_POLICIES", "images_to_pull", "missing_images", "pull"]
