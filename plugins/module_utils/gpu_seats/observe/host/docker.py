"""Docker Engine, Compose, containers and images."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...findings import Finding, finding
from ..command import Run, command_findings
from ..containers.inspect import container_from_api
from ..containers.records import ContainerRecord
from ..engine_api import EngineApi, EngineRefusedError, EngineUnreachableError
from ..records import Parsed

_COMPOSE_LIMIT_S = 15.0
_DAEMON_FILE = Path("/etc/docker/daemon.json")


def observed_docker(engine: EngineApi, run: Run, images: Sequence[str]) -> dict[str, Any]:
    """``{available, engine_version, compose_version, runtimes, containers, images, findings, reason}``.

    images: name -> id, None where the host does not have it. Everything but `available` is None when the engine does
    not answer.
    """
    compose: dict[str, Any] = {}
    asking = threading.Thread(target=lambda: compose.update(_compose(run)))
    asking.start()
    try:
        seen = _engine(engine, images)
    except (EngineUnreachableError, EngineRefusedError) as error:
        denied = getattr(error, "reason", "") == "permission"
        code = "compose.engine_denied" if denied else "compose.engine_unreachable"
        down = finding(code, "host:docker", f"Docker Engine does not answer: {error}")
        seen = {"available": False, "reason": str(error), "containers": None, "images": None, "findings": [down]}
    asking.join()
    findings = [*seen["findings"], *compose["findings"]]
    return {**seen, "compose_version": compose["version"], "findings": [one.as_dict() for one in findings]}


def _engine(engine: EngineApi, images: Sequence[str]) -> dict[str, Any]:
    info = engine.info()
    settings = _daemon_settings()
    runtimes = sorted(info.get("Runtimes") or {})
    parsed = Parsed([], _runtime_findings(settings, runtimes))
    for row in engine.containers():
        inspected = engine.inspect(row["Id"])
        if inspected is not None:
            parsed.add(container_from_api(inspected))
    return {
        "available": True,
        "engine_version": info.get("ServerVersion"),
        "root": info.get("DockerRootDir"),
        "runtimes": runtimes,
        "default_runtime": info.get("DefaultRuntime"),
        "userland_proxy": settings.get("userland-proxy", True) is not False,
        "containers": [one.as_dict() for one in parsed.of(ContainerRecord)],
        "images": {name: (engine.image(name) or {}).get("Id") for name in images},
        "findings": parsed.findings,
    }


def _daemon_settings() -> dict[str, Any]:
    """daemon.json, empty where there is none or it can't be read."""
    try:
        settings = json.loads(_DAEMON_FILE.read_text())
    except (OSError, ValueError):
        return {}
    return settings if isinstance(settings, dict) else {}


def _runtime_findings(settings: dict[str, Any], runtimes: Sequence[str]) -> list[Finding]:
    """daemon.json names the nvidia runtime and the engine that answers lacks it: not restarted, or another engine."""
    configured = settings.get("runtimes")
    if not isinstance(configured, dict) or "nvidia" not in configured or "nvidia" in runtimes:
        return []
    message = "daemon.json names the nvidia runtime and the engine has it not: engine not restarted, or other engine"
    evidence = {"engine_runtimes": list(runtimes), "daemon_json": str(_DAEMON_FILE)}
    return [finding("gpu.runtime_missing", "host:docker", message, evidence)]


def _compose(run: Run) -> dict[str, Any]:
    ended = run(["docker", "compose", "version", "--short"], _COMPOSE_LIMIT_S)
    if ended.ok and ended.stdout.strip():
        return {"version": ended.stdout.strip(), "findings": []}
    findings: list[Finding] = command_findings(ended, "host:docker")
    if not findings:
        message = "docker compose does not answer: " + (ended.text.strip().splitlines() or ["it printed nothing"])[-1]
        findings = [finding("compose.plugin_missing", "host:docker", message, {"rc": ended.rc})]
    return {"version": None, "findings": findings}
