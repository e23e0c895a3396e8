"""Records of containers and what they publish."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..records import Record


@dataclass(frozen=True)
class PortBinding:
    """One port. host_port None: any free port (wanted) or only exposed (published). host_ip "" means all addresses."""

    container_port: int
    protocol: str = "tcp"
    host_ip: str = ""
    host_port: int | None = None
    host_port_end: int | None = None

    @property
    def container(self) -> str:
        return f"{self.container_port}/{self.protocol}"


@dataclass(frozen=True)
class GpuRequest:
    """What a container asks for.

    kind: ``device_ids``, ``count``, ``all``, ``cdi``, ``runtime_env`` (NVIDIA_VISIBLE_DEVICES with the nvidia runtime),
    ``device_nodes`` (``/dev/nvidiaN`` handed in one by one; ids are the numbers N, which are not nvidia-smi's indices),
    ``none`` (nothing asked) or ``void`` (asked for with neither count nor ids: no GPU since engine 27.3).
    keyed_by: ``index``, ``uuid``, ``mig``, ``name`` or ``mixed``, "" without ids. ids of CDI come without their class.
    """

    kind: str
    ids: list[str] = field(default_factory=list)
    count: int | None = None
    driver: str = ""
    keyed_by: str = ""


@dataclass(frozen=True)
class ContainerRecord(Record):
    """One inspected container. Sizes in bytes, times as Docker prints them (None for "never").

    health None: no health check, or a word from before the container ended; the reason is in `unknown`.
    env_names holds names only: values may be secret. nvidia_env holds the values of NVIDIA_* and CUDA_*.
    """

    kind: ClassVar[str] = "container"
    id: str | None = None
    name: str | None = None
    project: str | None = None
    service: str | None = None
    image: str | None = None
    image_id: str | None = None
    status: str | None = None
    running: bool | None = None
    health: str | None = None
    exit_code: int | None = None
    error: str | None = None
    oom_killed: bool | None = None
    created_at: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    restart_count: int | None = None
    restart_policy: str | None = None
    wanted_ports: list[PortBinding] = field(default_factory=list)
    published_ports: list[PortBinding] = field(default_factory=list)
    network_mode: str | None = None
    networks: dict[str, str] = field(default_factory=dict)
    gpu_request: GpuRequest | None = None
    runtime: str | None = None
    env_names: list[str] = field(default_factory=list)
    nvidia_env: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    binds: list[str] = field(default_factory=list)
    shm_size_bytes: int | None = None
    memory_limit_bytes: int | None = None
    ipc_mode: str | None = None
    config_hash: str | None = None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ContainerSummary(Record):
    """One line of ``docker ps`` or ``docker compose ps``. exposed_ports are not published."""

    kind: ClassVar[str] = "container_summary"
    id: str | None = None
    name: str | None = None
    project: str | None = None
    service: str | None = None
    image: str | None = None
    state: str | None = None
    health: str | None = None
    exit_code: int | None = None
    status: str | None = None
    published_ports: list[PortBinding] = field(default_factory=list)
    exposed_ports: list[PortBinding] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PublishedPorts(Record):
    """The answer of ``docker port`` for one container. container None: the command was not noted."""

    kind: ClassVar[str] = "published_ports"
    container: str | None
    ports: list[PortBinding]


@dataclass(frozen=True)
class DeviceRequestForm(Record):
    """One device request looked at alone, by the name it had in the file."""

    kind: ClassVar[str] = "device_request"
    name: str
    request: GpuRequest


@dataclass(frozen=True)
class ImageRecord(Record):
    """One inspected image. revision: the commit that the image says it was built from."""

    kind: ClassVar[str] = "image"
    id: str | None = None
    tags: list[str] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    created_at: str | None = None
    revision: str | None = None
    architecture: str | None = None
    size_bytes: int | None = None
    unknown: dict[str, str] = field(default_factory=dict)


def port_sort_key(binding: PortBinding) -> tuple[Any, ...]:
    return (binding.container_port, binding.protocol, binding.host_ip, binding.host_port or 0)
