"""What stands on the host: one listing of all containers, and the inspect of those that a run is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..observe.engine_api import Engine

PROJECT = "com.docker.compose.project"
SERVICE = "com.docker.compose.service"
ONEOFF = "com.docker.compose.oneoff"
REPLACES = "com.docker.compose.replace"
COMPOSE_IMAGE = "com.docker.compose.image"
NO_OWN_PORTS = ("host", "none", "container:")
"""Network modes in which a container publishes nothing of its own."""


@dataclass(frozen=True)
class Standing:
    """One container as it stands.

    status: created, running, paused, restarting, removing, exited or dead. wanted_ports and published_ports map
    ``8000/tcp`` to host bindings ``address:port`` (address empty for all); wanted is what it was created with,
    published what the engine holds now. networks: address in each network it is attached to ("" where it has none).
    health: healthy, unhealthy, starting, or "" without a health check. started_at: as Docker prints it. All fields from
    `network_mode` on come from inspect and are empty for containers that were only listed (`inspected` False).
    """

    id: str
    name: str
    status: str
    image: str
    image_id: str
    labels: Mapping[str, str] = field(default_factory=dict)
    inspected: bool = False
    network_mode: str = ""
    networks: Mapping[str, str] = field(default_factory=dict)
    wanted_ports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    published_ports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    restart_count: int = 0
    exit_code: int | None = None
    error: str = ""
    health: str = ""
    started_at: str = ""

    @property
    def project(self) -> str:
        return self.labels.get(PROJECT, "")

    @property
    def service(self) -> str:
        return self.labels.get(SERVICE, "")

    @property
    def oneoff(self) -> bool:
        """A container of ``docker compose run``: no service's own."""
        return self.labels.get(ONEOFF, "").lower() == "true"

    @property
    def short(self) -> str:
        return self.id[:12]

    @property
    def has_own_ports(self) -> bool:
        """False on the host's network, on none, or on that of another container."""
        return not self.network_mode.startswith(NO_OWN_PORTS)

    @property
    def lost_ports(self) -> tuple[str, ...]:
        """Bindings it was created with and does not have, while running: ``8022->8000/tcp`` (moby#51758)."""
        if self.status != "running" or not self.inspected or not self.has_own_ports:
            return ()
        return tuple(
            "{}->{}".format(binding.lstrip(":"), port)
            for port, bindings in self.wanted_ports.items()
            for binding in bindings
            if not self.published_ports.get(port)
        )


@dataclass(frozen=True)
class ImageState:
    """One image by the name that was asked for: its id and all digests under which the engine knows it."""

    id: str
    digests: tuple[str, ...] = ()

    def made(self, container: Standing) -> bool:
        """Whether `container` was made of this image.

        The containerd store names images by the digest of their index, the older one by that of their config, and
        Compose's label may hold either; any common digest is proof.
        """
        known = {container.image_id, container.labels.get(COMPOSE_IMAGE, "")} - {""}
        return not known or bool(known & {self.id, *self.digests})


@dataclass(frozen=True)
class HostState:
    """All containers (own projects inspected), and the images that were asked for: None where the host lacks one."""

    containers: tuple[Standing, ...]
    images: Mapping[str, ImageState | None] = field(default_factory=dict)


def host_state(engine: Engine, projects: Iterable[str], names: Iterable[str], images: Iterable[str]) -> HostState:
    """One listing, then an inspect of each container of `projects` or with a name of `names`.

    Raises EngineUnreachableError, EngineRefusedError.
    """
    wanted_projects, wanted_names = set(projects), set(names)
    containers = []
    for row in engine.containers():
        listed = listed_container(row)
        if listed.project in wanted_projects or listed.name in wanted_names:
            found = engine.inspect(listed.id)
            if found is not None:
                containers.append(inspected_container(found))
        else:
            containers.append(listed)
    return HostState(tuple(containers), {name: image_state(engine.image(name)) for name in sorted(set(images))})


def listed_container(row: Mapping[str, Any]) -> Standing:
    """A row of the engine's container list."""
    names = [str(name).lstrip("/") for name in row.get("Names") or []]
    return Standing(
        id=str(row["Id"]),
        # links add names like /other/alias: the own one has no slash in it
        name=next((name for name in names if "/" not in name), names[0] if names else ""),
        status=str(row.get("State") or ""),
        image=str(row.get("Image") or ""),
        image_id=str(row.get("ImageID") or ""),
        labels=dict(row.get("Labels") or {}),
    )


def inspected_container(data: Mapping[str, Any]) -> Standing:
    """One object of `docker inspect`."""
    state, config = data.get("State") or {}, data.get("Config") or {}
    host, network = data.get("HostConfig") or {}, data.get("NetworkSettings") or {}
    exit_code = state.get("ExitCode")
    return Standing(
        id=str(data["Id"]),
        name=str(data.get("Name") or "").lstrip("/"),
        status=str(state.get("Status") or ""),
        image=str(config.get("Image") or ""),
        image_id=str(data.get("Image") or ""),
        labels=dict(config.get("Labels") or {}),
        inspected=True,
        network_mode=str(host.get("NetworkMode") or ""),
        networks={
            name: str((one or {}).get("IPAddress") or "") for name, one in (network.get("Networks") or {}).items()
        },
        wanted_ports=bindings(host.get("PortBindings")),
        published_ports=bindings(network.get("Ports")),
        restart_count=int(data.get("RestartCount") or 0),
        exit_code=int(exit_code) if exit_code is not None else None,
        error=str(state.get("Error") or ""),
        health=str((state.get("Health") or {}).get("Status") or "").replace("none", ""),
        started_at=str(state.get("StartedAt") or ""),
    )


def bindings(ports: Mapping[str, Any] | None) -> dict[str, tuple[str, ...]]:
    """``{"8000/tcp": [{HostIp, HostPort}]}`` as ``{"8000/tcp": ("address:port",)}``, without exposed-only ones."""
    found = {}
    for port, rows in (ports or {}).items():
        texts = tuple(
            "{}:{}".format(
                "" if row.get("HostIp") in (None, "", "0.0.0.0", "::") else row["HostIp"], row.get("HostPort")
            )
            for row in rows or []
        )
        if texts:
            found[str(port)] = tuple(dict.fromkeys(texts))
    return found


def image_state(data: Mapping[str, Any] | None) -> ImageState | None:
    """One object of `docker image inspect`."""
    if data is None:
        return None
    digests = [str(name).rpartition("@")[2] for name in data.get("RepoDigests") or []]
    target = str((data.get("Descriptor") or {}).get("digest") or "")
    return ImageState(str(data["Id"]), tuple(dict.fromkeys(d for d in [target, *digests] if d)))


__all__ = [
    "HostState",
    "ImageState",
    "Standing",
    "bindings",
    "host_state",
    "image_state",
    "inspected_container",
    "listed_container",
]
