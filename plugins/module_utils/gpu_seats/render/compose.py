"""One workload as a Compose service, and services as a Compose project: data, as ``docker compose config`` prints it.

Sizes are whole bytes as text, durations ``1m30s``, ports and mounts in their long form: what Compose itself makes of
shorter spellings, so that the file and ``docker compose config`` can be compared value by value.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..declare.seat import Seat, VllmOptions
from ..declare.workload import Healthcheck, Mount
from ..plan.names import container_name
from ..plan.ports import link_port, listening_port
from .labels import service_labels
from .llamacpp_command import llamacpp_command
from .vllm_command import vllm_command

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..declare.host import Host
    from ..declare.workload import Workload

BYTES_IN_MIB = 2**20
HF_HOME = "/hf"
"""Where containers see the host's Hugging Face tree."""
VLLM_CACHE = "/root/.cache/vllm"
"""vLLM's compile cache inside the image."""
MEM_LIMIT_HEADROOM = 1.25
"""mem_limit over claim.host_ram: page cache and start-up peaks count against the cgroup too."""
LOG_LIMITS = {"max-size": "50m", "max-file": "3"}
"""Docker keeps container logs without a limit; a chatty engine fills the disk of its data root."""
SHM_MIB = {True: 16384.0, False: 8192.0}
"""/dev/shm of a vLLM seat, with and without tensor parallel workers (Docker's 64 MiB stalls them)."""
_RESTART = {"serving": "unless-stopped", "on_demand": "no", "dormant": "no", "retired": "no"}


def compose_project(project: str, services: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The whole file: name, services by name, and the default network where a service joins it."""
    compose: dict[str, Any] = {"name": project, "services": {name: services[name] for name in sorted(services)}}
    if any("networks" in service for service in services.values()):
        compose["networks"] = {"default": {"name": f"{project}_default"}}
    return compose


def compose_service(
    stack: str,
    name: str,
    workload: Workload,
    host: Host,
    devices: Mapping[str, str],
    env_file: str | None,
    list_forms: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The service without its digest label.

    devices: card key -> device id (UUID, or index as text). env_file: path of its secrets, None without any.
    Raises ValueError for a workload without an image or model, KeyError for a card that `devices` lacks.
    """
    if workload.image is None:
        raise ValueError(f"{name}: image is missing; give one, or keep the workload retired")
    ports = published_ports(workload)
    service: dict[str, Any] = {"image": workload.image, "container_name": container_name(name, workload)}
    service["restart"] = _RESTART[workload.state]
    service["logging"] = {"driver": "json-file", "options": dict(LOG_LIMITS)}
    service.update(_network(workload, ports))
    service.update(_invocation(name, workload, host, list_forms))
    service.update(_environment(workload, env_file))
    mounts = [_mount(mount) for mount in mounts_of(stack, name, workload, host)]
    service.update({"volumes": mounts} if mounts else {})
    service.update(_resources(workload))
    service.update(_healthcheck(workload))
    if workload.gpus:
        service["deploy"] = {"resources": {"reservations": {"devices": [_gpu_request(workload.gpus, devices)]}}}
    service["labels"] = service_labels(stack, name, workload, host.address, link_port(workload))
    return service


def published_ports(workload: Workload) -> list[dict[str, Any]]:
    """Published ports in Compose's long form; a seat's own port first. None with host networking."""
    if workload.network_mode == "host":
        return []
    rows: list[dict[str, Any]] = []
    if isinstance(workload, Seat) and workload.port is not None:
        rows.append({"mode": "ingress", "target": listening_port(workload), "published": str(workload.port)})
        rows[0]["protocol"] = "tcp"
    for port in workload.ports:
        row: dict[str, Any] = {"mode": "ingress"}
        if port.address is not None:
            row["host_ip"] = port.address
        row.update(target=port.container, published=str(port.host), protocol=port.protocol)
        rows.append(row)
    return rows


def mounts_of(stack: str, name: str, workload: Workload, host: Host) -> list[Mount]:
    """Declared mounts after those that the engine needs.

    The model is mounted read-only at its own path. Its directory and the Hugging Face tree must exist: a missing one
    is a pool that is not mounted, and Docker must not make an empty directory in its place.
    """
    mounts: list[Mount] = []
    if isinstance(workload, Seat) and workload.model.path is not None:
        mounts.append(Mount(source=workload.model.path, target=workload.model.path, read_only=True))
    if isinstance(workload, Seat) and workload.engine == "vllm":
        cache = f"{host.paths.compile_cache}/{stack}/{name}"
        mounts.append(Mount(source=host.paths.hf_home, target=HF_HOME))
        mounts.append(Mount(source=cache, target=VLLM_CACHE, create=True))
    taken = {mount.target for mount in workload.mounts}
    return [mount for mount in mounts if mount.target not in taken] + list(workload.mounts)


def _network(workload: Workload, ports: list[dict[str, Any]]) -> dict[str, Any]:
    if workload.network_mode is not None:
        return {"network_mode": workload.network_mode, **({"ports": ports} if ports else {})}
    return {"networks": {"default": None}, **({"ports": ports} if ports else {})}


def _invocation(
    name: str, workload: Workload, host: Host, list_forms: Mapping[str, str] | None
) -> dict[str, list[str]]:
    command = workload.command
    if isinstance(workload, Seat) and workload.engine == "vllm":
        totals = [host.gpus[card].vram for card in workload.gpus]
        command = vllm_command(name, workload, min(totals, default=None), list_forms)
    elif isinstance(workload, Seat) and workload.engine == "llamacpp":
        command = llamacpp_command(name, workload)
    wanted = {"entrypoint": workload.entrypoint, "command": command}
    return {key: list(value) for key, value in wanted.items() if value is not None}


def _environment(workload: Workload, env_file: str | None) -> dict[str, Any]:
    values = dict(workload.environment)
    if isinstance(workload, Seat) and workload.engine == "vllm":
        values.setdefault("HF_HOME", HF_HOME)
        values.setdefault("VLLM_ENGINE_READY_TIMEOUT_S", str(round(workload.timeouts.load)))
    wanted: dict[str, Any] = {"env_file": [env_file]} if env_file is not None else {}
    if values:
        wanted["environment"] = dict(sorted(values.items()))
    return wanted


def _mount(mount: Mount) -> dict[str, Any]:
    row: dict[str, Any] = {"type": "bind", "source": mount.source, "target": mount.target}
    if mount.read_only:
        row["read_only"] = True
    row["bind"] = {"create_host_path": mount.create}
    return row


def _resources(workload: Workload) -> dict[str, Any]:
    resources = workload.resources
    shm_mib, mem_mib, pinned = resources.shm_size, resources.mem_limit, resources.memlock_unlimited
    if isinstance(workload, Seat) and workload.engine == "vllm":
        engram = (workload.vllm or VllmOptions()).engram
        pinned = pinned or bool(engram and engram.cpu_offload)
        if shm_mib is None and resources.ipc is None:
            shm_mib = SHM_MIB[len(workload.gpus) > 1]
    if mem_mib is None and workload.claim.host_ram is not None:
        mem_mib = math.ceil(workload.claim.host_ram * MEM_LIMIT_HEADROOM / 1024) * 1024.0
    wanted: dict[str, Any] = {
        "ipc": resources.ipc,
        "shm_size": _bytes_text(shm_mib),
        "mem_limit": _bytes_text(mem_mib),
        "ulimits": {"memlock": -1} if pinned else None,
        "cap_add": list(resources.cap_add) or None,
    }
    return {key: value for key, value in wanted.items() if value is not None}


def _bytes_text(mib: float | None) -> str | None:
    return None if mib is None else str(round(mib * BYTES_IN_MIB))


def _healthcheck(workload: Workload) -> dict[str, Any]:
    declared = workload.healthcheck
    if declared is not None:
        return {"healthcheck": _health_rows(declared.test, declared)}
    test = engine_health_test(workload)
    if test is None or not isinstance(workload, Seat):
        return {}
    period_s = math.ceil(workload.timeouts.load)
    return {"healthcheck": _health_rows(test, Healthcheck(test=test, start_period_s=period_s))}


def engine_health_test(workload: Workload) -> list[str] | None:
    """The container health check of an engine's image: vLLM's has Python, llama.cpp's has curl; None for others.

    It runs inside the container, so it says nothing of the published port.
    """
    if not isinstance(workload, Seat):
        return None
    url = f"http://127.0.0.1:{listening_port(workload)}/health"
    if workload.engine == "vllm":
        script = f"import urllib.request as u; u.urlopen('{url}', timeout=4)"
        return ["CMD", "python3", "-c", script]
    return ["CMD", "curl", "-fsS", "-m", "4", url] if workload.engine == "llamacpp" else None


def _health_rows(test: Iterable[str], health: Healthcheck) -> dict[str, Any]:
    return {
        "test": list(test),
        "interval": go_duration(health.interval_s),
        "timeout": go_duration(health.timeout_s),
        "retries": health.retries,
        "start_period": go_duration(health.start_period_s),
    }


def go_duration(seconds: int) -> str:
    """Whole seconds as Go writes a duration: 15 -> ``15s``, 900 -> ``15m0s``, 3600 -> ``1h0m0s``."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{rest}s"
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _gpu_request(cards: Iterable[str], devices: Mapping[str, str]) -> dict[str, Any]:
    """A device request by ids alone: with neither ids nor a count an engine since 27.3 gives no GPU, in silence."""
    return {"capabilities": ["gpu"], "driver": "nvidia", "device_ids": [devices[card] for card in cards]}
