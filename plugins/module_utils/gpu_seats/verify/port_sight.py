"""Gathers what the join of ports needs: containers, listeners, connects, and whether the userland proxy is on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..apply.docker_state import Standing, inspected_container
from ..findings import Finding, finding
from ..observe.command import CommandResult, command_findings, run
from ..observe.engine_api import Engine
from ..observe.listeners import Listener, parse_ss
from .connects import LIMIT_S, Connect, connect_all, reach_address, speaks
from .published_ports import Observed, WantedPort

SS = ("ss", "-Hltnp")
_SS_LIMIT_S = 10.0
_ENGINE = "dockerd"
_DAEMON_CONFIG = "/etc/docker/daemon.json"


@dataclass(frozen=True)
class PortSight:
    """Where the facts come from; tests replace it. address: of the host, as declared."""

    engine: Engine
    address: str = ""
    run: Callable[[Sequence[str], float], CommandResult] = run
    connects: Callable[[Iterable[tuple[str, int]], float], dict[tuple[str, int], Connect]] = connect_all
    speaks: Callable[[str, int, float], bool] = speaks
    reach: Callable[[str], str] = reach_address
    daemon_config: str = _DAEMON_CONFIG
    connect_limit_s: float = LIMIT_S


def observed_ports(wanted: Sequence[WantedPort], sight: PortSight) -> tuple[Observed, list[Finding]]:
    """One look. Raises EngineUnreachableError; what else cannot be read is a finding and unknown."""
    containers = _running_and_wanted(wanted, sight.engine)
    by_name = {one.name: one for one in containers}
    address = sight.reach(sight.address)
    inside = {one.container: target for one in wanted if (target := _inside(one, by_name.get(one.container)))}
    made = sight.connects([*((address, one.port) for one in wanted), *inside.values()], sight.connect_limit_s)
    listeners, findings = _listeners(sight)
    outside = {one.port: made[(address, one.port)] for one in wanted}
    for one in wanted:
        if one.container in inside and _is_held_by_engine(one.port, listeners):
            outside[one.port] = _spoken_to(outside[one.port], inside[one.container], sight)
    seen = Observed(
        containers,
        listeners,
        outside,
        {name: made[target] for name, target in inside.items()},
        userland_proxy(_text(sight.daemon_config)),
    )
    return seen, findings


def wanted_ports(checks: Iterable[Mapping[str, Any]]) -> list[WantedPort]:
    """The declared port of every check that has one."""
    return [
        WantedPort(
            seat=str(check["seat"]),
            container=str(check["container"]),
            port=int(check["port"]),
            container_port=int(check["container_port"]) if check.get("container_port") else None,
            stack=str(check.get("stack") or ""),
        )
        for check in checks
        if check.get("port")
    ]


def userland_proxy(daemon_config: str | None) -> bool | None:
    """Whether the engine runs a docker-proxy for each port: on unless its configuration says otherwise.

    daemon_config: text of daemon.json, None if there is none. None: the file cannot be read as JSON.
    """
    if daemon_config is None or not daemon_config.strip():
        return True
    try:
        data = json.loads(daemon_config)
    except ValueError:
        return None
    value = data.get("userland-proxy", True) if isinstance(data, dict) else None
    return value if isinstance(value, bool) else None


def _running_and_wanted(wanted: Sequence[WantedPort], engine: Engine) -> list[Standing]:
    """Every running container (their ports tell whose proxy is whose), and the wanted ones in any state."""
    names = {one.container for one in wanted}
    found = []
    for row in engine.containers():
        named = {str(name).lstrip("/") for name in row.get("Names") or ()}
        if row.get("State") == "running" or named & names:
            data = engine.inspect(row["Id"])
            if data is not None:
                found.append(inspected_container(data))
    return found


def _inside(one: WantedPort, container: Standing | None) -> tuple[str, int] | None:
    """Where the port can be asked without any of Docker's rules: the container's own address."""
    if container is None or container.status != "running" or one.container_port is None:
        return None
    address = next((address for address in container.networks.values() if address), "")
    return (address, one.container_port) if address else None


def _is_held_by_engine(port: int, listeners: Sequence[Listener] | None) -> bool:
    """The engine's own socket keeps the port reserved and is never read: a connection to it opens and means nothing."""
    return any(one.port == port and one.process == _ENGINE for one in listeners or ())


def _spoken_to(made: Connect, inside: tuple[str, int], sight: PortSight) -> Connect:
    """`made`, or silent where the container itself speaks and the host's address does not."""
    limit_s = sight.connect_limit_s
    if made.outcome != "open" or sight.speaks(made.address, made.port, limit_s) or not sight.speaks(*inside, limit_s):
        return made
    return replace(made, outcome="silent", detail="opened, and nothing came back")


def _listeners(sight: PortSight) -> tuple[list[Listener] | None, list[Finding]]:
    ended = sight.run(SS, _SS_LIMIT_S)
    if ended.timed_out or ended.missing:
        return None, [
            finding("port.listeners_unknown", "tool:ss", one.message, one.evidence)
            for one in command_findings(ended, "tool:ss")
        ]
    parsed = parse_ss(ended.text, ended.rc)
    failed = [one for one in parsed.findings if one.code == "port.listeners_unknown"]
    return (None if failed else parsed.of(Listener)), [one for one in parsed.findings if one.severity != "info"]


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return None


__all__ = ["PortSight", "observed_ports", "userland_proxy", "wanted_ports"]
