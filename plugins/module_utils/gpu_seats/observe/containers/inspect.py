"""``docker inspect``: one object, a list, or a part of one; containers, images, networks."""

from __future__ import annotations

import re
from typing import Any

from ...findings import Finding, finding
from ..jsontext import JsonText, as_int, as_list, as_mapping, as_text, read_json, truncated
from ..records import Parsed, unrecognised, with_reasons
from .gpu_request import classify_requests, request_from_devices, request_from_runtime
from .health import replace_label_notes, state_findings
from .ports import bindings
from .records import ContainerRecord, DeviceRequestForm, GpuRequest, ImageRecord, PortBinding, port_sort_key

_NEVER = "0001-01-01T00:00:00Z"
_SHOWN_ENV = re.compile(r"^(?:NVIDIA_|CUDA_)\w*$")
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|KEY|CREDENTIAL", re.IGNORECASE)
_REQUEST_KEYS = {"DeviceIDs", "Capabilities", "Count"}


def parse_docker_inspect(text: str, rc: int | None = None, command: str | None = None) -> Parsed:
    """Every object of the output; texts beside the JSON (no such object, engine down) become findings."""
    said = read_json(text)
    parsed = _aside(said, text, rc)
    if said.problem:
        parsed.findings.append(truncated("docker-inspect", text, said.problem))
    if not said.found:
        if not parsed.findings:
            parsed.findings.append(unrecognised("docker-inspect", text, rc))
        return parsed
    parsed.add(_value(said.value, command))
    parsed.findings.extend(replace_label_notes(parsed.of(ContainerRecord)))
    if not parsed.records and not parsed.findings and not parsed.notes:
        parsed.notes.append("nothing was inspected")
    return parsed


def _aside(said: JsonText, text: str, rc: int | None) -> Parsed:
    """Warnings and errors around the JSON."""
    around = said.before + "\n" + said.after
    if not around.strip() and not (rc not in (None, 0) and not text.strip()):
        return Parsed()
    # only saved output has text around the JSON, and these tables of causes are the largest part of this package
    from ..compose.failures import classify
    from ..compose.warnings import take_warnings

    warnings, rest = take_warnings(around)
    return Parsed([], [*warnings, *classify("\n".join(rest))])


def _value(value: Any, command: str | None) -> Parsed:
    if value is None:
        request, found = classify_requests(None, "tool:docker-inspect")
        return Parsed([DeviceRequestForm("null", request)], found)
    if isinstance(value, dict):
        if value and all(_is_request_list(one) for one in value.values()) and any(value.values()):
            return _forms(value)
        return _object(value)
    parsed = Parsed()
    if _is_request_list(value) and value:
        return _forms({"request": value})
    for one in as_list(value):
        parsed.add(
            _object(as_mapping(one)) if isinstance(one, (dict, list)) else Parsed([], [_not_container("a value")])
        )
    return parsed


def _is_request_list(value: Any) -> bool:
    return value is None or (
        isinstance(value, list)
        and all(isinstance(one, dict) and _REQUEST_KEYS & set(one) and "State" not in one for one in value)
    )


def _forms(requests: dict[str, Any]) -> Parsed:
    parsed = Parsed()
    for name, value in requests.items():
        request, found = classify_requests(value, f"request:{name}")
        parsed.records.append(DeviceRequestForm(str(name), request))
        parsed.findings.extend(found)
    return parsed


def _not_container(what: str) -> Finding:
    return finding("parse.other_object", "tool:docker-inspect", f"this is {what}, not a container")


def _object(said: dict[str, Any]) -> Parsed:
    """One inspected object by the keys that it has."""
    if "State" in said or "HostConfig" in said or "NetworkSettings" in said:
        return container_from_api(said)
    if "RootFS" in said or "RepoTags" in said:
        return Parsed([_image(said)], [_not_container("an image")])
    if "IPAM" in said:
        return Parsed([], [_not_container(f"network {said.get('Name')}")])
    if "Mountpoint" in said:
        return Parsed([], [_not_container(f"volume {said.get('Name')}")])
    if {"Status", "Running"} <= set(said):
        return container_from_api({"State": said})
    if "PortBindings" in said or "DeviceRequests" in said:
        return container_from_api({"HostConfig": said})
    if not said:
        return Parsed([], [_not_container("an empty object")])
    return Parsed([], [_not_container(f"an object with keys {', '.join(sorted(map(str, said))[:6])}")])


def container_from_api(said: dict[str, Any]) -> Parsed:
    """The record and findings of one container as the Engine API gives it (keys may be missing or null)."""
    record, found = _record(said)
    found.extend(state_findings(record, as_mapping(as_mapping(said.get("State")).get("Health"))))
    return Parsed([record], found)


def _record(said: dict[str, Any]) -> tuple[ContainerRecord, list[Finding]]:
    state, host, config, network = (
        as_mapping(said.get(key)) for key in ("State", "HostConfig", "Config", "NetworkSettings")
    )
    name = (as_text(said.get("Name")) or "").lstrip("/") or None
    identity = as_text(said.get("Id"))
    labels = {str(key): str(value) for key, value in as_mapping(config.get("Labels")).items()}
    env = _env(config.get("Env"))
    reasons = {"health": "no health check"}
    health = as_text(as_mapping(state.get("Health")).get("Status"))
    running = state.get("Running") if isinstance(state.get("Running"), bool) else None
    if not state:
        reasons["health"] = "no state in this output"
    elif health and health != "none" and running is False:
        reasons["health"] = f"stale: {health!r} is from before the container ended"
    subject = f"container:{name or (identity or 'unknown')[:12]}"
    request, found = _request(host, env, subject)
    record = ContainerRecord(
        id=identity,
        name=name,
        project=labels.get("com.docker.compose.project"),
        service=labels.get("com.docker.compose.service"),
        image=as_text(config.get("Image")),
        image_id=as_text(said.get("Image")),
        status=as_text(state.get("Status")),
        running=running,
        health=health if health not in (None, "none") and running is not False else None,
        exit_code=as_int(state.get("ExitCode")),
        error=as_text(state.get("Error")),
        oom_killed=state.get("OOMKilled") if isinstance(state.get("OOMKilled"), bool) else None,
        created_at=_time(said.get("Created")),
        started_at=_time(state.get("StartedAt")),
        finished_at=_time(state.get("FinishedAt")),
        restart_count=as_int(said.get("RestartCount")),
        restart_policy=as_text(as_mapping(host.get("RestartPolicy")).get("Name"))
        or ("no" if host.get("RestartPolicy") else None),
        wanted_ports=_wanted_ports(host, config),
        published_ports=bindings(network.get("Ports")),
        network_mode=as_text(host.get("NetworkMode")),
        networks={
            str(key): as_text(as_mapping(value).get("IPAddress")) or ""
            for key, value in as_mapping(network.get("Networks")).items()
        },
        gpu_request=request,
        runtime=as_text(host.get("Runtime")),
        env_names=sorted(env),
        nvidia_env={key: value for key, value in env.items() if _SHOWN_ENV.match(key) and not _SECRET.search(key)},
        labels=labels,
        binds=_mounts(host, said),
        shm_size_bytes=as_int(host.get("ShmSize")),
        memory_limit_bytes=as_int(host.get("Memory")) or None,
        ipc_mode=as_text(host.get("IpcMode")),
        config_hash=labels.get("com.docker.compose.config-hash"),
    )
    if state:
        reasons.update(error="none", started_at="never", finished_at="never")
    reasons["memory_limit_bytes"] = "no limit"
    return with_reasons(record, reasons, "not in this output"), found


def _wanted_ports(host: dict[str, Any], config: dict[str, Any]) -> list[PortBinding]:
    """What is to be published: the bindings, or with ``-P`` every exposed port on any free port of the host."""
    bound = bindings(host.get("PortBindings"))
    if host.get("PublishAllPorts") is not True:
        return bound
    held = {one.container for one in bound}
    exposed = bindings({str(port): [{}] for port in as_mapping(config.get("ExposedPorts"))})
    return sorted([*bound, *(one for one in exposed if one.container not in held)], key=port_sort_key)


def _request(host: dict[str, Any], env: dict[str, str], subject: str) -> tuple[GpuRequest | None, list[Finding]]:
    if "DeviceRequests" not in host and not host:
        return None, []
    request, found = classify_requests(host.get("DeviceRequests"), subject)
    if request.kind == "none":
        nodes = [as_text(as_mapping(one).get("PathOnHost")) or "" for one in as_list(host.get("Devices"))]
        request = request_from_devices(nodes) or request_from_runtime(as_text(host.get("Runtime")), env) or request
    if request.kind in ("all", "count") or (request.kind in ("runtime_env", "cdi") and request.ids == ["all"]):
        asked = "all cards" if request.kind != "count" else f"any {request.count} card(s)"
        message = f"not pinned: the container asks for {asked}"
        found.append(finding("gpu.unpinned", subject, message, {"kind": request.kind}, severity="warning"))
    return request, found


def _env(printed: Any) -> dict[str, str]:
    pairs = (one.partition("=") for one in as_list(printed) if isinstance(one, str))
    return {name: value for name, _, value in pairs if name}


def _mounts(host: dict[str, Any], said: dict[str, Any]) -> list[str]:
    """Binds as ``source:target[:ro]``, from HostConfig.Binds, else from Mounts."""
    binds = [one for one in as_list(host.get("Binds")) if isinstance(one, str)]
    known = {":".join(one.split(":")[:2]) for one in binds}
    for mount in map(as_mapping, as_list(said.get("Mounts"))):
        source, target = as_text(mount.get("Source")) or as_text(mount.get("Name")), as_text(mount.get("Destination"))
        if mount.get("Type") == "bind" and source and target and f"{source}:{target}" not in known:
            binds.append(f"{source}:{target}" + ("" if mount.get("RW", True) else ":ro"))
    return binds


def _time(printed: Any) -> str | None:
    text = as_text(printed)
    return None if text == _NEVER else text


def _image(said: dict[str, Any]) -> ImageRecord:
    config = as_mapping(said.get("Config"))
    labels, env = as_mapping(config.get("Labels")), _env(config.get("Env"))
    record = ImageRecord(
        id=as_text(said.get("Id")),
        tags=[one for one in as_list(said.get("RepoTags")) if isinstance(one, str)],
        digests=[one for one in as_list(said.get("RepoDigests")) if isinstance(one, str)],
        created_at=as_text(said.get("Created")),
        revision=as_text(labels.get("org.opencontainers.image.revision")) or env.get("VLLM_BUILD_COMMIT"),
        architecture=as_text(said.get("Architecture")),
        size_bytes=as_int(said.get("Size")),
    )
    return with_reasons(record, {"revision": "the image does not say"})
