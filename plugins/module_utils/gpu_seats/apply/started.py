"""Waits until a service that was started has its memory, before the next one on its card may start."""

from __future__ import annotations

import http.client
import time
from collections.abc import Mapping
from typing import Any, Callable

from ..observe.engine_api import Engine, EngineRefusedError, EngineUnreachableError
from .wanted import WantedService, WantedStack

POLL_S = 2.0
_ASK_LIMIT_S = 3.0


def wait_started(
    engine: Engine,
    stack: WantedStack,
    service: WantedService,
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """How the wait ended: ready, failed (the container ended or is in a restart loop), timeout.

    Only orders the starts: whether the seat is well is for seat_ready to say.
    """
    check = next((one for one in stack.checks if one.get("service") == service.name), {})
    deadline = clock() + service.load_s
    while True:
        state = _state(engine, service, check)
        if state != "loading":
            return state
        if clock() >= deadline:
            return "timeout"
        pause(POLL_S)


def _state(engine: Engine, service: WantedService, check: Mapping[str, Any]) -> str:
    try:
        data = engine.inspect(service.container)
    except (EngineRefusedError, EngineUnreachableError):
        return "loading"
    state = (data or {}).get("State") or {}
    if data is None or state.get("Status") != "running" or int(data.get("RestartCount") or 0) > 0:
        return "failed"
    if (state.get("Health") or {}).get("Status") == "healthy":
        return "ready"
    return "ready" if _answers(check) else "loading"


def _answers(check: Mapping[str, Any]) -> bool:
    if not check.get("port"):
        return False
    connection = http.client.HTTPConnection(
        str(check.get("address") or "127.0.0.1"), int(check["port"]), timeout=_ASK_LIMIT_S
    )
    try:
        connection.request("GET", str(check.get("health_path") or "/health"))
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


__all__ = ["wait_started"]
