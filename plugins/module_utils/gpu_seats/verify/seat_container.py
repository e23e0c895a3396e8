"""Does the container of a seat run, is it the declared one, and does it have its cards?"""

from __future__ import annotations

import datetime
import re

from ..apply.docker_state import Standing
from ..apply.made import WORKING_DIRECTORY, is_remade_by_hand, read_made
from ..apply.wanted import LABEL_DIGEST
from ..findings import Finding, finding
from .inside_answer import InsideAnswer
from .seat_steps import SeatCheck, Step

LOOPING = 2
"""So many restarts before the seat was ready once: another one will not help."""
_FRACTION = re.compile(r"\.\d+")


def container_step(check: SeatCheck, container: Standing | None, waited_s: float) -> tuple[Step, list[Finding]]:
    """The step `container`. A container that has ended fails at once: waiting does not bring it back."""
    if container is None:
        text = f"there is no container {check.container}"
        found = finding("seat.container_missing", check.subject, text)
        return _not_yet(check, text, waited_s, found)
    if container.status == "running":
        return Step("container", "ok", "runs"), _drift(check, container)
    facts = _facts(container)
    if container.status == "restarting":
        text = f"container {container.name} is in a restart loop ({container.restart_count} restarts"
        text += f", last exit code {container.exit_code})"
        return Step("container", "failed", text), [finding("seat.restart_loop", check.subject, text, facts)]
    if container.status == "created" and not container.error:
        text = f"container {container.name} is created and not started"
        return _not_yet(check, text, waited_s, finding("seat.container_ended", check.subject, text, facts))
    why = f": {container.error}" if container.error else f" with code {container.exit_code}"
    text = f"container {container.name} is {container.status}{why}"
    return Step("container", "failed", text), [finding("seat.container_ended", check.subject, text, facts)]


def is_looping(container: Standing) -> bool:
    return container.restart_count >= LOOPING


def age_s(container: Standing, now_s: float) -> float:
    """Seconds since the container's last start, by the host's own clock; 0 where Docker does not say."""
    text = _FRACTION.sub("", container.started_at).replace("Z", "+00:00")
    try:
        started = datetime.datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    return max(0.0, now_s - started.timestamp()) if started.year > 1 else 0.0


def gpus_step(check: SeatCheck, answer: InsideAnswer) -> tuple[Step, list[Finding]]:
    """The step `gpus`, from ``nvidia-smi -L`` run inside the container."""
    if answer.hung:
        text = f"nvidia-smi inside {check.container} gave no answer within {answer.limit_s:.0f} s"
        return Step("gpus", "failed", text), [finding("command.hung", check.subject, text)]
    if answer.absent:
        text = "nvidia-smi is not in the container: which cards it sees is not known"
        return Step("gpus", "skipped", text), [finding("seat.gpus_unknown", check.subject, text, {"rc": answer.rc})]
    seen, wanted = list(answer.seen), list(check.gpus)
    by_uuid = all(one.startswith(("GPU-", "MIG-")) for one in wanted)
    if seen and (set(seen) == set(wanted) if by_uuid else len(seen) == len(wanted)):
        return Step("gpus", "ok", f"sees {len(seen)} card(s): {', '.join(seen)}"), []
    if answer.problems:
        about = [
            finding(one.code, check.subject, f"inside {check.container}: {one.message}", one.evidence, one.remedy)
            for one in answer.problems
        ]
        return Step("gpus", "failed", about[0].message), about
    text = f"{check.container} sees {', '.join(seen) or 'no card'}, {', '.join(wanted)} is declared"
    facts = {"wanted": wanted, "seen": seen, "rc": answer.rc, "output": answer.output[:400]}
    return Step("gpus", "failed", text), [finding("seat.gpus_differ", check.subject, text, facts)]


def _drift(check: SeatCheck, container: Standing) -> list[Finding]:
    """A container of an older deploy may serve well and is still not what is declared."""
    digest = container.labels.get(LABEL_DIGEST)
    if not check.digest:
        return []
    if digest == check.digest:
        directory = container.labels.get(WORKING_DIRECTORY)
        if not directory or not is_remade_by_hand(container, read_made(directory)):
            return []
        text = f"container {container.name} was made anew by hand from a Compose file that was edited on the host"
        return [finding("seat.not_as_declared", check.subject, text, {"container_id": container.short})]
    text = f"container {container.name} was made " + ("from another declaration" if digest else "outside gpu-seats")
    return [finding("seat.not_as_declared", check.subject, text, {"wanted": check.digest, "found": digest})]


def _not_yet(check: SeatCheck, text: str, waited_s: float, late: Finding) -> tuple[Step, list[Finding]]:
    if waited_s < check.limits.container:
        return Step("container", "waiting", text), []
    return Step("container", "failed", text), [late]


def _facts(container: Standing) -> dict[str, object]:
    return {
        "container_id": container.short,
        "status": container.status,
        "exit_code": container.exit_code,
        "restart_count": container.restart_count,
        "error": container.error,
    }


__all__ = ["age_s", "container_step", "gpus_step", "is_looping"]
