"""Classifies what a container asks of the GPUs: ``HostConfig.DeviceRequests``, or runtime and environment."""

from __future__ import annotations

import re
from typing import Any

from ...findings import Finding, finding
from ..jsontext import as_int, as_list, as_mapping, as_text
from .records import GpuRequest

_COERCED = re.compile(r"^(?:true|false|yes|no|on|off|null|none|~|\d+\.\d+|\d+e\d+)$", re.IGNORECASE)
_CDI = re.compile(r"^(?P<vendor>[\w.-]+)/(?P<device_class>[\w.-]+)=(?P<name>.+)$")

_NODE = re.compile(r"^/dev/nvidia(?P<minor>\d{1,4})$")


def keyed_by(ids: list[str]) -> str:
    """How ids name cards: ``index``, ``uuid``, ``mig``, ``name`` for anything else, ``mixed``, "" without ids."""
    kinds = {
        "index" if one.isdigit() else "uuid" if one.startswith("GPU-") else "mig" if _is_mig(one) else "name"
        for one in ids
    }
    return kinds.pop() if len(kinds) == 1 else "mixed" if kinds else ""


def _is_mig(device: str) -> bool:
    return device.startswith("MIG-") or re.match(r"^\d+:\d+$", device) is not None


def classify_requests(requests: Any, subject: str) -> tuple[GpuRequest, list[Finding]]:
    """The GPU request of a list of DeviceRequests (None and [] ask for nothing) and what is wrong with it."""
    found: list[Finding] = []
    kept: list[GpuRequest] = []
    for request in as_list(requests):
        one, problems = _classify_one(as_mapping(request), subject)
        found.extend(problems)
        if one is not None:
            kept.append(one)
    if not kept:
        return GpuRequest("none"), found
    if len(kept) == 1:
        return kept[0], found
    ids = [device for one in kept for device in one.ids]
    strongest = next((one for one in kept if one.kind == "all"), None) or max(kept, key=lambda one: len(one.ids))
    return GpuRequest(strongest.kind, ids, strongest.count, strongest.driver, keyed_by(ids)), found


def _classify_one(request: dict[str, Any], subject: str) -> tuple[GpuRequest | None, list[Finding]]:
    driver = as_text(request.get("Driver")) or ""
    count = as_int(request.get("Count"))
    ids = [str(one) for one in as_list(request.get("DeviceIDs"))]
    capabilities = {str(one) for group in as_list(request.get("Capabilities")) for one in as_list(group)}
    if driver == "cdi" or any(_CDI.match(one) for one in ids):
        names = [match.group("name") if (match := _CDI.match(one)) else one for one in ids]
        kind = "cdi" if names else "void"
        return GpuRequest(kind, names, None, "cdi", keyed_by(names)), [] if names else [_nothing(subject, request)]
    if driver not in ("", "nvidia") or (capabilities and not capabilities & {"gpu", "nvidia"}):
        return None, []
    if ids:
        problems = _id_problems(ids, subject)
        if count:
            told = f"count {count} and device_ids {', '.join(ids)} are both given"
            problems.append(finding("gpu.count_and_ids", subject, told, {"count": count, "ids": ids}))
        return GpuRequest("device_ids", ids, None, driver, keyed_by(ids)), problems
    if count is not None and count < 0:
        return GpuRequest("all", [], -1, driver), []
    if count:
        return GpuRequest("count", [], count, driver), []
    return GpuRequest("void", [], 0, driver), [_nothing(subject, request)]


def _nothing(subject: str, request: dict[str, Any]) -> Finding:
    evidence = {"driver": request.get("Driver"), "count": request.get("Count"), "ids": request.get("DeviceIDs")}
    message = "no GPU requested: the device request has neither a count nor ids, the container gets none"
    return finding("gpu.none_requested", subject, message, evidence)


def _id_problems(ids: list[str], subject: str) -> list[Finding]:
    """Ids that YAML made of something else, and ids by index."""
    coerced = [one for one in ids if _COERCED.match(one)]
    if coerced:
        message = f"{', '.join(coerced)} names no card: YAML read an unquoted id as another type"
        return [finding("gpu.id_coerced", subject, message, {"ids": ids})]
    if keyed_by(ids) in ("index", "mixed"):
        numbers = ", ".join(one for one in ids if one.isdigit())
        message = f"pinned by index {numbers}, which may name another card after a boot"
        return [finding("gpu.pinned_by_index", subject, message, {"ids": ids})]
    return []


def request_from_devices(paths: list[str]) -> GpuRequest | None:
    """The request that ``devices`` makes: CDI names, or the device nodes of cards. None when it names no card."""
    cdi = [match.group("name") for one in paths if (match := _CDI.match(one)) and match.group("device_class") == "gpu"]
    if cdi:
        return GpuRequest("cdi", cdi, None, "cdi", keyed_by(cdi))
    nodes = [match.group("minor") for one in paths if (match := _NODE.match(one))]
    return GpuRequest("device_nodes", nodes, None, "", "index") if nodes else None


def request_from_runtime(runtime: str | None, env: dict[str, str]) -> GpuRequest | None:
    """The request of a container that uses the nvidia runtime and NVIDIA_VISIBLE_DEVICES; None when it has none."""
    visible = env.get("NVIDIA_VISIBLE_DEVICES")
    nothing_asked = visible in (None, "", "void", "none")
    if nothing_asked and runtime != "nvidia":
        return None
    if visible is None or nothing_asked:
        return GpuRequest("none", driver="runtime")
    if visible == "all":
        return GpuRequest("runtime_env", ["all"], None, "runtime", "")
    ids = [one.strip() for one in visible.split(",") if one.strip()]
    names = [match.group("name") if (match := _CDI.match(one)) else one for one in ids]
    return GpuRequest("runtime_env", names, None, "runtime", keyed_by(names))
