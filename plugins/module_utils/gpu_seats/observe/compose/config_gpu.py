"""GPU requests of a rendered service: ``deploy.resources.reservations.devices``, ``gpus``, or the nvidia runtime."""

from __future__ import annotations

import re
from typing import Any

from ...findings import Finding, finding
from ..containers.gpu_request import classify_requests, request_from_devices, request_from_runtime
from ..containers.records import GpuRequest
from ..jsontext import as_list, as_mapping

_CDI_ID = re.compile(r"^[\w.-]+/[\w.-]+=")


def gpu_findings(
    service: dict[str, Any], env: dict[str, str | None], subject: str
) -> tuple[GpuRequest | None, list[Finding]]:
    """What the service asks for (None: no GPU), and the findings about it."""
    found: list[Finding] = []
    requests: list[dict[str, Any]] = []
    for device, has_capability_default in _devices(service):
        if not _is_gpu(device, has_capability_default):
            continue
        found.extend(_type_findings(device, subject, has_capability_default))
        requests.append(_as_engine_request(device))
    if requests:
        request, problems = classify_requests(requests, subject)
        problems = [one for one in problems if one.code not in {known.code for known in found}]
        found.extend(problems)
    else:
        plain = {name: value for name, value in env.items() if value is not None}
        runtime = service.get("runtime")
        asked = request_from_devices(_device_paths(service)) or request_from_runtime(
            runtime if isinstance(runtime, str) else None, plain
        )
        if asked is not None and asked.kind == "none" and "NVIDIA_VISIBLE_DEVICES" not in plain:
            message = "not pinned: the nvidia runtime gives what the image asks for, in CUDA images all cards"
            return asked, [*found, finding("gpu.unpinned", subject, message, {"kind": "runtime"}, severity="warning")]
        if asked is None or asked.kind == "none":
            return None, found
        request = asked
    found.extend(_unpinned(request, subject))
    return request, found


def _devices(service: dict[str, Any]) -> list[tuple[dict[str, Any], bool]]:
    """Every device request, and whether its form implies the gpu capability (the key ``gpus`` does)."""
    reservations = as_mapping(as_mapping(as_mapping(service.get("deploy")).get("resources")).get("reservations"))
    listed = [(as_mapping(one), False) for one in as_list(reservations.get("devices"))]
    gpus = service.get("gpus")
    if gpus == "all":
        return [*listed, ({"count": -1}, True)]
    return [*listed, *((as_mapping(one), True) for one in as_list(gpus))]


def _device_paths(service: dict[str, Any]) -> list[str]:
    """What ``devices`` hands in: the host's side of each entry, in its short or its long form."""
    paths = []
    for one in as_list(service.get("devices")):
        source = one if isinstance(one, str) else as_mapping(one).get("source")
        if isinstance(source, str):
            paths.append(source if _CDI_ID.match(source) else source.split(":")[0])
    return paths


def _is_gpu(device: dict[str, Any], implied: bool) -> bool:
    capabilities = {str(one) for one in as_list(device.get("capabilities"))}
    driver = str(device.get("driver") or "")
    return implied or driver in ("nvidia", "cdi") or bool(capabilities & {"gpu", "nvidia"})


def _as_engine_request(device: dict[str, Any]) -> dict[str, Any]:
    """The request as the engine would get it."""
    count = device.get("count")
    ids = as_list(device.get("device_ids"))
    if count == "all":
        count = -1
    if isinstance(count, str) and count.lstrip("-").isdigit() and len(count) < 6:
        count = int(count)
    number = count if isinstance(count, int) and not isinstance(count, bool) else 0
    return {"Driver": device.get("driver") or "", "Count": number, "DeviceIDs": [_id_text(one) for one in ids]}


def _id_text(printed: Any) -> str:
    return str(printed).lower() if isinstance(printed, bool) else str(printed)


def _type_findings(device: dict[str, Any], subject: str, implied: bool) -> list[Finding]:
    """Types after templating: count is a whole number or "all", ids are text, the gpu capability is there."""
    found: list[Finding] = []
    count, ids = device.get("count"), as_list(device.get("device_ids"))
    if count is not None and count != "all" and (isinstance(count, bool) or not isinstance(count, int)):
        message = f"count is {count!r}, neither a whole number nor all"
        found.append(finding("gpu.count_invalid", subject, message, {"count": str(count)}))
    wrong = [one for one in ids if not isinstance(one, str)]
    if wrong:
        message = f"device_ids holds {', '.join(map(repr, wrong))}: ids must be quoted text"
        found.append(finding("gpu.id_coerced", subject, message, {"ids": [str(one) for one in ids]}))
    capabilities = {str(one) for one in as_list(device.get("capabilities"))}
    cdi = device.get("driver") == "cdi" or any(_CDI_ID.match(str(one)) for one in ids)
    if not implied and not cdi and not capabilities & {"gpu", "nvidia"}:
        message = "the device request has no gpu capability"
        found.append(finding("gpu.capability_missing", subject, message, {"capabilities": sorted(capabilities)}))
    return found


def _unpinned(request: GpuRequest, subject: str) -> list[Finding]:
    if request.kind == "all" or (request.kind in ("runtime_env", "cdi") and "all" in request.ids):
        return [finding("gpu.unpinned", subject, "not pinned: the service asks for all cards", {"kind": request.kind})]
    if request.kind == "count":
        message = f"not pinned: the service asks for any {request.count} card(s)"
        return [finding("gpu.unpinned", subject, message, {"kind": request.kind, "count": request.count})]
    return []
