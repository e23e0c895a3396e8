"""What ``host_info`` saw, as planning reads it. A part that it could not read is None, never empty or zero."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PROJECT = "com.docker.compose.project"
_SERVICE = "com.docker.compose.service"


@dataclass(frozen=True)
class ObservedContainer:
    """One container. ports: (host port, protocol, address) that it publishes now."""

    id: str
    name: str
    running: bool
    project: str | None
    service: str | None
    stack_label: str | None
    workload_label: str | None
    ports: list[tuple[int, str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Listener:
    """One listening socket; process None where ss named none."""

    port: int
    protocol: str
    address: str
    process: str | None
    pid: int | None


@dataclass(frozen=True)
class ObservedCard:
    """One card as nvidia-smi lists it; memory and the enforced power limit None where it gave no value."""

    index: int | None
    uuid: str | None
    bus_id: str | None
    total_mib: float | None
    free_mib: float | None
    unknown: dict[str, str] = field(default_factory=dict)
    limit_watts: float | None = None


@dataclass(frozen=True)
class CardProcess:
    """One process that holds memory of a card. container: name or id of the container it runs in, None on the host
    or where nobody could tell (`container_known` False)."""

    pid: int | None
    name: str | None
    gpu_uuid: str | None
    used_mib: float | None
    container: str | None
    container_known: bool


@dataclass(frozen=True)
class Observed:
    """The host as seen. docker_available and compose_version None: not looked at.

    cards_reason: why `cards` is None after a look; empty where nobody looked.
    """

    docker_available: bool | None
    compose_version: str | None
    docker_reason: str
    containers: list[ObservedContainer]
    images: Mapping[str, str | None] | None
    listeners: list[Listener]
    cards: list[ObservedCard] | None
    processes: list[CardProcess] | None
    memory_total_mib: float | None
    memory_available_mib: float | None
    disks: Mapping[str, Mapping[str, Any]]
    addresses: list[str] | None = None
    cards_reason: str = ""


def observed_host(data: Mapping[str, Any]) -> Observed:
    """The record of one ``host_info`` result."""
    docker = data.get("docker") or {}
    gpus = data.get("gpus") or {}
    containers = [_container(one) for one in docker.get("containers") or ()]
    ids = {one.id: one.name for one in containers}
    cards, processes = gpus.get("cards"), gpus.get("processes")
    return Observed(
        docker_available=docker.get("available"),
        compose_version=docker.get("compose_version"),
        docker_reason=str((docker.get("unknown") or {}).get("engine_version") or docker.get("reason") or ""),
        containers=containers,
        images=docker.get("images"),
        listeners=[_listener(one) for one in data.get("listeners") or () if one.get("port")],
        cards=None if cards is None else [_card(one) for one in cards],
        processes=None if processes is None else [_process(one, ids) for one in processes],
        memory_total_mib=(data.get("memory") or {}).get("total_mib"),
        memory_available_mib=(data.get("memory") or {}).get("available_mib"),
        disks=data.get("disks") or {},
        addresses=data.get("addresses"),
        cards_reason=str((gpus.get("unknown") or {}).get("cards") or ""),
    )


def _container(data: Mapping[str, Any]) -> ObservedContainer:
    labels = data.get("labels") or {}
    running = data.get("running")
    status = str(data.get("status") or data.get("state") or "")
    return ObservedContainer(
        id=str(data.get("id") or ""),
        name=str(data.get("name") or "").lstrip("/"),
        running=bool(running) if running is not None else status.startswith(("running", "restarting", "paused")),
        project=labels.get(_PROJECT) or data.get("project"),
        service=labels.get(_SERVICE) or data.get("service"),
        stack_label=labels.get("gpu-seats.stack"),
        workload_label=labels.get("gpu-seats.seat") or labels.get("gpu-seats.service"),
        ports=list(_published(data)),
    )


def _published(data: Mapping[str, Any]) -> Iterable[tuple[int, str, str]]:
    """Host ports, ranges written out; a row without one is only exposed."""
    for row in data.get("published_ports") or ():
        first = row.get("host_port")
        for port in range(int(first), int(row.get("host_port_end") or first) + 1) if first else ():
            yield port, str(row.get("protocol") or "tcp"), str(row.get("host_ip") or "")


def _listener(data: Mapping[str, Any]) -> Listener:
    pid = data.get("pid")
    return Listener(
        int(data["port"]),
        str(data.get("protocol") or "tcp").rstrip("6"),
        str(data.get("address") or ""),
        data.get("process"),
        None if pid is None else int(pid),
    )


def _card(data: Mapping[str, Any]) -> ObservedCard:
    return ObservedCard(
        data.get("index"),
        data.get("uuid"),
        data.get("bus_id"),
        data.get("memory_total_mib"),
        data.get("memory_free_mib"),
        dict(data.get("unknown") or {}),
        data.get("enforced_power_limit_watts") or data.get("power_limit_watts"),
    )


def _process(data: Mapping[str, Any], names: Mapping[str, str]) -> CardProcess:
    container = data.get("container") or data.get("container_id")
    return CardProcess(
        data.get("pid"),
        data.get("name"),
        data.get("gpu_uuid"),
        data.get("used_memory_mib"),
        None if container is None else names.get(str(container), str(container)),
        "container" in data or "container_id" in data,
    )
