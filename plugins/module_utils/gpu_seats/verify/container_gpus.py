"""Do running containers still have the GPUs that they were started with?

After ``systemctl daemon-reload`` systemd may apply its device rules anew and take the cards from running containers
(nvidia-container-toolkit#48): the process goes on until it opens a card again, and health checks may stay green. Only
nvidia-smi run inside tells, and only a restart of the container gives the cards back.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ..apply.host_lock import LOCK_PATH, HostLock, LockHeldError
from ..findings import Finding, finding
from ..observe.command import Run, command_findings
from ..observe.containers.inspect import container_from_api
from ..observe.containers.records import ContainerRecord, GpuRequest
from ..observe.engine_api import EngineRefusedError, EngineUnreachableError
from .inside_answer import QUERY, QUERY_LIMIT_S, InsideAnswer, InsideEngine, ask_inside, read_inside

RESTART_GRACE_S = 30
_LOCK_WAIT_S = 120.0
_AT_A_TIME = 8
_SEES_AGAIN = "Nothing now. Use CDI, or the cgroupfs driver, so that a daemon-reload can't take its GPUs again."
_HOST_FIRST = "Clear what nvidia-smi on the host says first; a container that is restarted before may not come up."
_AGAIN_LATER = "Wait until the other run has ended, then restart the container."
_NOT_UP = "Read why it does not run: docker logs NAME; then deploy its seat again."
_RECREATE = "Recreate the container (deploy its seat again); compare its device request with nvidia-smi -L of the host."
_GIVEN_CARDS = ("device_ids", "count", "all", "cdi", "device_nodes")


class ContainersEngine(InsideEngine, Protocol):
    """What a check of all containers needs of Docker's API."""

    def containers(self) -> list[dict[str, Any]]: ...
    def inspect(self, container: str) -> dict[str, Any] | None: ...
    def restart(self, container: str, grace_s: int = ...) -> None: ...


@dataclass(frozen=True)
class InsideLook:
    """One container and its cards.

    state: ``ok``, ``lost`` (a restart gives the cards back), ``failing`` (nvidia-smi tells another fault, which a
    restart does not cure), ``hung``, ``unknown`` (paused, or no nvidia-smi inside) or ``ended`` (no longer running).
    restarted: it was restarted by `repaired`.
    """

    container: str
    state: str
    text: str
    seen: tuple[str, ...] = ()
    wanted: GpuRequest | None = None
    restarted: bool = False
    findings: tuple[Finding, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "container": self.container,
            "state": self.state,
            "text": self.text,
            "seen": list(self.seen),
            "restarted": self.restarted,
        }


@dataclass
class ContainersChecked:
    """The answer of `check_containers`. changed: a container was restarted. ok: no finding fails."""

    looks: list[InsideLook] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return any(look.restarted for look in self.looks)

    @property
    def ok(self) -> bool:
        return not any(one.fails for one in self.findings)

    def as_dict(self) -> dict[str, Any]:
        return {
            "changed": self.changed,
            "ok": self.ok,
            "containers": [look.as_dict() for look in self.looks],
            "findings": [one.as_dict() for one in self.findings],
        }


def check_containers(
    engine: ContainersEngine,
    run: Run,
    repair: bool = False,
    settle_s: float = 0.0,
    lock_path: str = LOCK_PATH,
    query_limit_s: float = QUERY_LIMIT_S,
    grace_s: int = RESTART_GRACE_S,
) -> ContainersChecked:
    """Look inside every running container that has GPUs; with `repair` restart those that lost them and look again.

    run: `observe.command.run`; asks nvidia-smi of the host before a restart, because a container that is restarted
    while the host's own driver fails loses what it still has. settle_s: waited first; systemd applies device rules
    shortly after a reload has returned. Restarts hold the host's lock, so that they never cross a deploy.
    An engine that gives no answer is a finding; without Docker on the host there is nothing to check.
    """
    if settle_s > 0:
        time.sleep(settle_s)
    try:
        looks = gpus_inside(engine, gpu_containers(engine), query_limit_s)
        if repair and any(look.state == "lost" for look in looks):
            looks = _repaired_under_lock(engine, run, looks, lock_path, query_limit_s, grace_s)
    except EngineUnreachableError as problem:
        if problem.reason == "no_socket":
            return ContainersChecked()
        return ContainersChecked([], [finding("compose.engine_unreachable", "tool:docker", str(problem))])
    except EngineRefusedError as refused:
        return ContainersChecked([], [finding("compose.engine_refused", "tool:docker", str(refused))])
    return ContainersChecked(looks, [one for look in looks for one in look.findings])


def gpu_containers(engine: ContainersEngine) -> list[ContainerRecord]:
    """Every container that was given GPUs and runs or is paused, by name.

    By a device request, CDI, device nodes, or the nvidia runtime. NVIDIA_VISIBLE_DEVICES alone gives none: CUDA images
    carry it whatever runtime they run with.
    """
    ids = [str(row["Id"]) for row in engine.containers() if row.get("State") in ("running", "paused")]
    if not ids:
        return []
    with ThreadPoolExecutor(min(_AT_A_TIME, len(ids))) as pool:
        inspected = [data for data in pool.map(engine.inspect, ids) if data is not None]
    records = [record for data in inspected for record in container_from_api(data).of(ContainerRecord)]
    return sorted((one for one in records if has_gpus(one)), key=lambda one: one.name or one.id or "")


def has_gpus(container: ContainerRecord) -> bool:
    request = container.gpu_request
    if not container.running or request is None:
        return False
    by_runtime = request.kind == "runtime_env" and (container.runtime or "").startswith("nvidia")
    return by_runtime or request.kind in _GIVEN_CARDS


def gpus_inside(
    engine: ContainersEngine, containers: Sequence[ContainerRecord], limit_s: float = QUERY_LIMIT_S
) -> list[InsideLook]:
    """One look inside each container, side by side, in the order given. Raises EngineUnreachableError."""
    if not containers:
        return []
    with ThreadPoolExecutor(min(_AT_A_TIME, len(containers))) as pool:
        return list(pool.map(lambda one: _look(engine, one, limit_s), containers))


def repaired(
    engine: ContainersEngine,
    looks: Iterable[InsideLook],
    limit_s: float = QUERY_LIMIT_S,
    grace_s: int = RESTART_GRACE_S,
) -> list[InsideLook]:
    """The looks, those with state ``lost`` restarted once, one after another, and looked at again.

    Engines reload their weights at a restart; at the same time they would fight for the host's memory. One that hangs
    is left alone: stopping a process that hangs in the driver wedges the engine too.
    """
    return [_restarted(engine, look, limit_s, grace_s) if look.state == "lost" else look for look in looks]


def _look(engine: ContainersEngine, container: ContainerRecord, limit_s: float) -> InsideLook:
    name = container.name or container.id or ""
    if container.status == "paused":
        text = f"{name} is paused: whether it still has its cards is not known until it goes on"
        remedy = f"docker unpause {name}, then look again."
        paused = finding("seat.gpus_unknown", f"container:{name}", text, remedy=remedy, severity="info")
        return _told(name, "unknown", text, container.gpu_request, paused)
    look = _classified(name, container.gpu_request, ask_inside(engine, container.id or name, limit_s))
    if look.state == "ok":
        return look
    # what nvidia-smi left unsaid because its container ended meanwhile says nothing of the cards
    data = engine.inspect(container.id or name)
    after = next(iter(container_from_api(data).of(ContainerRecord)), None) if data is not None else None
    if after is None or not after.running or after.started_at != container.started_at:
        return InsideLook(name, "ended", f"{name} ended or was restarted while nvidia-smi ran in it")
    return look


def _classified(name: str, wanted: GpuRequest | None, answer: InsideAnswer) -> InsideLook:
    subject = f"container:{name}"
    facts: dict[str, Any] = {"rc": answer.rc, "output": answer.output[:400]}
    if answer.hung:
        text = f"nvidia-smi inside {name} gave no answer within {answer.limit_s:.0f} s"
        return _told(name, "hung", text, wanted, finding("command.hung", subject, text))
    if answer.absent:
        text = f"{name} has no nvidia-smi: whether it still has its cards is not known"
        return _told(name, "unknown", text, wanted, finding("seat.gpus_unknown", subject, text, facts, severity="info"))
    lost = [one for one in answer.problems if one.code in ("gpu.container_lost_device", "gpu.no_devices")]
    if lost:
        text = f"{name} has lost its GPUs: nvidia-smi inside says {answer.output.strip()[:120]!r}"
        return _told(name, "lost", text, wanted, finding("gpu.container_lost_device", subject, text, facts))
    if answer.problems:
        first = answer.problems[0]
        text = f"inside {name}: {first.message}"
        found = finding(first.code, subject, text, {**first.evidence, **facts}, first.remedy, first.severity)
        return _told(name, "failing", text, wanted, found)
    if not answer.seen:
        text = f"inside {name} nvidia-smi ends with {answer.rc} and lists no card: {answer.output.strip()[:120]!r}"
        return _told(name, "failing", text, wanted, finding("command.failed", subject, text, facts))
    missing = _missing(wanted, answer.seen)
    if missing:
        text = f"{name} {missing}"
        facts = {**facts, "seen": list(answer.seen), "wanted": list(wanted.ids) if wanted else []}
        lacking = finding("gpu.container_lost_device", subject, text, facts)
        return replace(_told(name, "lost", text, wanted, lacking), seen=answer.seen)
    return InsideLook(name, "ok", f"{name} sees {len(answer.seen)} card(s)", answer.seen, wanted)


def _told(name: str, state: str, text: str, wanted: GpuRequest | None, found: Finding) -> InsideLook:
    return InsideLook(name, state, text, wanted=wanted, findings=(found,))


def _missing(wanted: GpuRequest | None, seen: tuple[str, ...]) -> str:
    """What a container sees less than it was given; "" where nothing is missing or the request names no number."""
    if wanted is not None and wanted.keyed_by == "uuid":
        gone = [one for one in wanted.ids if not any(card.startswith(one) for card in seen)]
        return f"no longer sees {', '.join(gone)}" if gone else ""
    count = wanted.count if wanted is not None and wanted.kind == "count" else None
    if wanted is not None and wanted.keyed_by == "index":
        count = len(set(wanted.ids))
    least = max(1, count or 1)
    return f"sees {len(seen)} of {least} card(s)" if len(seen) < least else ""


def _repaired_under_lock(
    engine: ContainersEngine, run: Run, looks: list[InsideLook], lock_path: str, limit_s: float, grace_s: int
) -> list[InsideLook]:
    why = _host_fault(run, limit_s)
    if why:
        text = f"not restarted, because nvidia-smi fails on the host too: {why}"
        return [_left(look, text, _HOST_FIRST) for look in looks]
    try:
        with HostLock("restart containers that lost their GPUs", lock_path, _LOCK_WAIT_S):
            # whoever held the lock meanwhile may have restarted them already, or made them anew
            return repaired(engine, _looked_again(engine, looks, limit_s), limit_s, grace_s)
    except LockHeldError as held:
        return [_left(look, f"not restarted: {held}", _AGAIN_LATER) for look in looks]


def _looked_again(engine: ContainersEngine, looks: Sequence[InsideLook], limit_s: float) -> list[InsideLook]:
    """The looks, those with state ``lost`` by a new one; without those whose container is gone."""
    now = {one.name or one.id or "": one for one in gpu_containers(engine)}
    lost = [now[look.container] for look in looks if look.state == "lost" and look.container in now]
    again = {look.container: look for look in gpus_inside(engine, lost, limit_s)}
    return [again.get(look.container, look) for look in looks if look.state != "lost" or look.container in again]


def _host_fault(run: Run, limit_s: float) -> str:
    """Why the host's own nvidia-smi lists no card; "" when it does."""
    ended = run(QUERY, limit_s)
    problems = command_findings(ended, "tool:nvidia-smi")
    if problems:
        return problems[0].message
    answer = read_inside(ended.rc, ended.text)
    if answer.problems:
        return answer.problems[0].message
    return "" if answer.seen else "it lists no card"


def _left(look: InsideLook, why: str, remedy: str = "") -> InsideLook:
    """A look that stays lost, with the reason. remedy: instead of what is said of a container that nobody restarted."""
    if look.state != "lost":
        return look
    text = f"{look.text}; {why}"
    told = tuple(replace(one, message=text, remedy=remedy or one.remedy) for one in look.findings)
    return replace(look, text=text, findings=told)


def _restarted(engine: ContainersEngine, look: InsideLook, limit_s: float, grace_s: int) -> InsideLook:
    """The look at a container after its restart. One that was seen lost and sees its cards again is a warning."""
    name, subject = look.container, f"container:{look.container}"
    try:
        engine.restart(name, grace_s)
        data = engine.inspect(name)
    except EngineRefusedError as refused:
        return _left(look, f"Docker refused to restart it: {refused.message}")
    except EngineUnreachableError as problem:
        if problem.reason != "timeout":
            raise
        text = f"{look.text}; it did not restart in time: {problem}"
        return replace(look, state="hung", text=text, findings=(finding("compose.container_wedged", subject, text),))
    after = next(iter(container_from_api(data).of(ContainerRecord)), None) if data is not None else None
    if after is None or not after.running:
        remedy = _NOT_UP.replace("NAME", name)
        return replace(_left(look, "it was restarted and does not run", remedy), restarted=True)
    again = _look(engine, after, limit_s)
    if again.state == "ok":
        text = f"{name} had lost its GPUs, was restarted and sees {len(again.seen)} card(s) again"
        told = finding("gpu.container_lost_device", subject, text, {"before": look.text}, _SEES_AGAIN, "warning")
        return replace(again, text=text, restarted=True, findings=(told,))
    text = f"{again.text}; a restart did not help"
    remedy = _RECREATE if again.state == "lost" else ""
    changed = tuple(replace(one, message=text, remedy=remedy or one.remedy) for one in again.findings or look.findings)
    return replace(again, text=text, restarted=True, findings=changed)


__all__ = [
    "ContainersChecked",
    "ContainersEngine",
    "InsideLook",
    "check_containers",
    "gpu_containers",
    "gpus_inside",
    "has_gpus",
    "repaired",
]
