"""One look at a seat, from its container to a real answer; the controller looks again until it is ready or failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..apply.docker_state import Standing, inspected_container
from ..findings import Finding, finding
from ..observe.engine_api import EngineRefusedError, EngineUnreachableError
from .connects import Connect, connect, reach_address
from .http_answer import ask
from .inside_answer import ask_inside
from .published_ports import WantedPort, binding_finding
from .seat_answers import Ask, completion_step, health_step, model_step
from .seat_container import age_s, container_step, gpus_step, is_looping
from .seat_log import EARLIER_START, TAIL_LINES, LogReading, read_log
from .seat_steps import SeatCheck, Step

CONNECT_LIMIT_S = 3.0
_AT_A_TIME = 8


class ProbeEngine(Protocol):
    """What a look needs of Docker's API (`observe.engine_api.EngineApi`)."""

    def inspect(self, container: str) -> dict[str, Any] | None: ...
    def logs(self, container: str, tail: int = ..., limit_s: float = ..., since: float = ...) -> str: ...
    def execute(self, container: str, command: list[str], limit_s: float = ...) -> tuple[int | None, str]: ...


@dataclass(frozen=True)
class Outside:
    """Where a look gets its facts; tests replace it."""

    engine: ProbeEngine
    connect: Callable[[str, int, float], Connect] = connect
    ask: Ask = ask
    reach: Callable[[str], str] = reach_address
    now_s: Callable[[], float] = time.time


@dataclass
class SeatLook:
    """state: ready, loading (something is awaited) or failed. awaited and source make a progress line.

    elapsed_s: since the container started, at started_s (Unix time). steps: those that were looked at, in order.
    """

    check: SeatCheck
    state: str = "loading"
    awaited: str = ""
    source: str = ""
    elapsed_s: float = 0.0
    started_s: float = 0.0
    steps: list[Step] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {
            "seat": self.check.seat,
            "stack": self.check.stack,
            "container": self.check.container,
            "served_name": self.check.served_name or None,
            "state": self.state,
            "awaited": self.awaited,
            "source": self.source,
            "elapsed_s": round(self.elapsed_s, 1),
            "steps": [step.as_dict() for step in self.steps],
            "findings": [one.as_dict() for one in self.findings],
        }

    def take(self, result: tuple[Step, list[Finding]]) -> bool:
        """Note a step; False if the look ends here."""
        step, findings = result
        self.steps.append(step)
        self.findings += findings
        if step.status in ("waiting", "failed"):
            self.state = "loading" if step.status == "waiting" else "failed"
            self.awaited = step.text
            self.source = step.step
            return False
        return True


def look_at_all(
    checks: Sequence[SeatCheck], outside: Outside, waited_s: float = 0.0, passed: dict[str, Iterable[str]] | None = None
) -> list[SeatLook]:
    """One look at every seat, side by side. passed: steps by seat that an earlier look has seen well."""
    if not checks:
        return []
    with ThreadPoolExecutor(max_workers=min(_AT_A_TIME, len(checks))) as pool:
        return list(pool.map(lambda one: look(one, outside, waited_s, (passed or {}).get(one.seat, ())), checks))


def look(check: SeatCheck, outside: Outside, waited_s: float = 0.0, passed: Iterable[str] = ()) -> SeatLook:
    """One look at one seat. Ends at the first step that is not well; that one says what is awaited or what failed."""
    seen = SeatLook(check)
    try:
        _walk(seen, outside, waited_s, set(passed))
    except (EngineUnreachableError, EngineRefusedError) as problem:
        code = (
            "compose.container_wedged" if getattr(problem, "reason", "") == "timeout" else "compose.engine_unreachable"
        )
        seen.take((Step("container", "failed", str(problem)), [finding(code, check.subject, str(problem))]))
    return seen


def _walk(seen: SeatLook, outside: Outside, waited_s: float, passed: set[str]) -> None:
    check = seen.check
    data = outside.engine.inspect(check.container)
    container = inspected_container(data) if data is not None else None
    if container is not None:
        now_s = outside.now_s()
        seen.elapsed_s = age_s(container, now_s)
        seen.started_s = now_s - seen.elapsed_s
    if not seen.take(container_step(check, container, waited_s)):
        _explain(seen, container, outside)
        return
    assert container is not None
    if check.gpus and "gpus" not in passed:
        if not seen.take(_gpus(check, container, outside)):
            if seen.state == "loading":
                _explain(seen, container, outside)
            return
    elif not check.gpus:
        seen.take((Step("gpus", "skipped", "runs without a card"), []))
    address = outside.reach(check.address)
    if not seen.take(_port(check, container, address, seen.elapsed_s, outside)):
        return
    if not seen.take(health_step(check, address, seen.elapsed_s, outside.ask)):
        if _answers_inside(check, container, outside):
            _blame_the_port(seen, address)
            return
        _explain(seen, container, outside)
        return
    if not seen.take(model_step(check, address, outside.ask)):
        return
    if seen.take(completion_step(check, address, outside.ask)):
        seen.state, seen.awaited, seen.source = "ready", "", ""
    else:
        _explain(seen, container, outside)


def _gpus(check: SeatCheck, container: Standing, outside: Outside) -> tuple[Step, list[Finding]]:
    """The step `gpus`. What nvidia-smi left unsaid because its container ended meanwhile says nothing of the cards."""
    asked = gpus_step(check, ask_inside(outside.engine, check.container))
    if asked[0].status == "ok":
        return asked
    data = outside.engine.inspect(check.container)
    after = inspected_container(data) if data is not None else None
    if after is not None and after.status == "running" and after.started_at == container.started_at:
        return asked
    return Step("gpus", "waiting", f"{container.name} ended while nvidia-smi ran in it"), []


def _port(
    check: SeatCheck, container: Standing, address: str, age: float, outside: Outside
) -> tuple[Step, list[Finding]]:
    """Published by Docker's word, and reachable. Refused is no fault of the port: nobody listens inside yet."""
    if check.port is None:
        return Step("port", "skipped", "publishes no port"), []
    if container.has_own_ports:
        wanted = WantedPort(check.seat, check.container, check.port, check.container_port)
        problem = binding_finding(wanted, container)
        if problem is not None:
            waits = problem.code == "port.unpublished" and age < check.limits.port
            step = Step("port", "waiting" if waits else "failed", problem.message)
            return step, [] if waits else [problem]
    made = outside.connect(address, check.port, min(CONNECT_LIMIT_S, check.limits.port))
    if made.outcome == "open" or (made.outcome == "refused" and check.health_path):
        return Step("port", "ok", f"{address}:{check.port} is published", made.elapsed_s), []
    text = f"a connection to {address}:{check.port} ends with {made.outcome} ({made.detail})"
    if age < check.limits.port or (made.outcome == "refused" and age < check.limits.load):
        return Step("port", "waiting", text, made.elapsed_s), []
    code = "port.nobody_inside" if made.outcome == "refused" else "port.unreachable"
    return Step("port", "failed", text, made.elapsed_s), [finding(code, check.subject, text, {"outside": made.outcome})]


def _answers_inside(check: SeatCheck, container: Standing, outside: Outside) -> bool:
    """Whether the engine is healthy when asked straight at the container's own address."""
    address = next((address for address in container.networks.values() if address), "")
    if not address or check.container_port is None:
        return False
    return outside.ask(address, check.container_port, "GET", check.health_path, check.limits.health).ok


def _blame_the_port(seen: SeatLook, address: str) -> None:
    """Healthy inside and not on the host's address: Docker's rules are gone, the engine does not hang."""
    check, step = seen.check, seen.steps.pop()
    text = f"{check.container} is healthy inside, and {address}:{check.port} gives: {step.text}"
    seen.steps = [one for one in seen.steps if one.step != "port"]
    seen.findings = [one for one in seen.findings if not one.code.startswith("seat.load")]
    seen.take((Step("port", "failed", text), [finding("port.unreachable", check.subject, text)]))


def _explain(seen: SeatLook, container: Standing | None, outside: Outside) -> None:
    """Put the engine's own words to a step that is not well; a cause in the log ends the waiting."""
    if container is None:
        return
    check = seen.check
    ended = container.status != "running"
    # a restarted container appends to one log: while it runs only its last start counts for progress
    since = 0.0 if ended else max(0.0, seen.started_s - 1.0)
    reading = read_log(check.engine, outside.engine.logs(check.container, TAIL_LINES, since=since), check.subject)
    if seen.state == "loading" and is_looping(container) and reading.cause is None:
        reading = _looping_reading(seen, container, outside)
    if reading.serving and seen.steps[-1].silent:
        text = f"{check.container} took the connection, said nothing, and its log says that it serves"
        reading = LogReading(reading.stage, True, finding("seat.hangs", check.subject, text), reading.more)
    if reading.cause is not None:
        seen.state = "failed"
        seen.awaited = reading.cause.message
        seen.source = "engine log"
        seen.findings.insert(0, reading.cause)
    elif seen.state == "loading" and reading.stage:
        seen.awaited, seen.source = reading.stage, "engine log"
    seen.findings += [one for one in reading.more if one.severity != "info"] if seen.state == "failed" else []


def _looping_reading(seen: SeatLook, container: Standing, outside: Outside) -> LogReading:
    """The container was started again and again: what ended the start before stands further up."""
    text = outside.engine.logs(seen.check.container, TAIL_LINES)
    reading = read_log(seen.check.engine, text, seen.check.subject)
    told = f"container {container.name} was started again {container.restart_count} times and was not ready yet"
    facts = {"restart_count": container.restart_count, "log": [one.message for one in reading.more][:5]}
    loop = finding("seat.restart_loop", seen.check.subject, told, facts)
    root = reading.cause or next((one for one in reading.more if one.evidence.get("root_cause")), None)
    if root is None:
        return LogReading(reading.stage, cause=loop, more=reading.more)
    why = f"{root.message.removeprefix(EARLIER_START)} (started again {container.restart_count} times)"
    cause = finding(root.code, root.subject, why, root.evidence, root.remedy)
    return LogReading(reading.stage, cause=cause, more=(loop, *(one for one in reading.more if one is not root)))


__all__ = ["Outside", "ProbeEngine", "SeatLook", "look", "look_at_all"]
