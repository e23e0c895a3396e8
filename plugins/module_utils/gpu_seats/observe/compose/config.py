"""``docker compose config``: the rendered project as YAML or JSON, and what its GPU requests and mounts really say."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...findings import Finding, finding
from ..containers.records import GpuRequest, PortBinding
from ..jsontext import as_int, as_list, as_mapping, as_text, read_json, truncated
from ..records import Parsed, Record, first_line, unrecognised, with_reasons
from .config_gpu import gpu_findings
from .failures import classify
from .plain_yaml import PlainYamlError, load_plain
from .warnings import take_warnings

_TOP_KEY = re.compile(r"^(?:name|services|networks|volumes|secrets|configs|version|include|x-[\w-]+):", re.MULTILINE)
_SHOWN_ENV = re.compile(r"^(?:NVIDIA_|CUDA_)")

_SHORT_PORT = re.compile(
    r"^(?:(?:(?P<address>\[[^\]]*\]|[\d.]+):)?(?:(?P<first>\d{1,5})(?:-(?P<last>\d{1,5}))?)?:)?"
    r"(?P<target>\d{1,5})(?:-\d{1,5})?(?:/(?P<protocol>\w+))?$"
)


@dataclass(frozen=True)
class ComposeProject(Record):
    """The rendered project. name is what Compose made of it: in files, old and new Compose drop dots silently."""

    kind: ClassVar[str] = "compose_project"
    name: str | None
    services: list[str]
    networks: list[str]
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BindMount(Record):
    """One bind mount. creates_host_path False also where the key is missing: Compose leaves false values out."""

    kind: ClassVar[str] = "bind_mount"
    source: str
    target: str
    read_only: bool
    creates_host_path: bool


@dataclass(frozen=True)
class ComposeService(Record):
    """One service. env_names are names only: values may be secret. shm_size as printed (bytes as text)."""

    kind: ClassVar[str] = "compose_service"
    project: str | None
    name: str
    container_name: str | None = None
    image: str | None = None
    ports: list[PortBinding] = field(default_factory=list)
    gpu_request: GpuRequest | None = None
    labels: dict[str, str] = field(default_factory=dict)
    env_names: list[str] = field(default_factory=list)
    nvidia_env: dict[str, str] = field(default_factory=dict)
    binds: list[BindMount] = field(default_factory=list)
    network_mode: str | None = None
    restart: str | None = None
    runtime: str | None = None
    ipc: str | None = None
    shm_size: str | None = None
    has_healthcheck: bool = False
    unknown: dict[str, str] = field(default_factory=dict)


def parse_compose_config(text: str, rc: int | None = None, command: str | None = None) -> Parsed:
    """The project and its services; warnings, refusals, and lint of GPU requests and mounts as findings."""
    warnings, lines = take_warnings(text)
    body = "\n".join(lines)
    parsed = Parsed([], list(warnings))
    if not body.strip():
        if rc not in (None, 0):
            message = f"compose config ended with {rc} and no text"
            parsed.findings.append(finding("compose.failed", "tool:compose", message, {"rc": rc}))
        elif not warnings:
            parsed.notes.append("compose printed nothing: with -q that means the file is valid")
        return parsed
    model, problem = _model(body)
    if model is None or rc not in (None, 0):
        failures = classify(body)
        if not failures and problem:
            failures = [truncated("compose-config", body, problem)]
        if not failures:
            failures = [_refused(body, rc) if rc not in (None, 0) else unrecognised("compose-config", body, rc)]
        parsed.findings.extend(failures)
    return parsed.add(_project(model)) if model is not None else parsed


def _refused(body: str, rc: int | None) -> Finding:
    message = f"compose config refused the file: {first_line(body, 120)}"
    return finding("compose.failed", "tool:compose", message, {"rc": rc, "text": first_line(body)})


def _model(body: str) -> tuple[dict[str, Any] | None, str]:
    """The project mapping, else (None, what is wrong with the text that looks like one)."""
    if body.lstrip().startswith("{"):
        said = read_json(body)
        value, problem = said.value, said.problem
    else:
        start = _TOP_KEY.search(body)
        if start is None:
            return None, ""
        try:
            value, problem = load_plain(body[start.start() :]), ""
        except PlainYamlError as error:
            return None, str(error)
    model = value if isinstance(value, dict) and ("services" in value or "name" in value) else None
    return model, problem


def _project(model: dict[str, Any]) -> Parsed:
    name = as_text(model.get("name"))
    services = as_mapping(model.get("services"))
    networks = sorted(str(as_mapping(one).get("name") or key) for key, one in as_mapping(model.get("networks")).items())
    parsed = Parsed([with_reasons(ComposeProject(name, [str(key) for key in services], networks), {})])
    for key, service in services.items():
        parsed.add(_service(name, str(key), as_mapping(service)))
    return parsed


def _service(project: str | None, name: str, said: dict[str, Any]) -> Parsed:
    subject = f"service:{project or '?'}/{name}"
    env = _environment(said.get("environment"))
    requests, found = gpu_findings(said, env, subject)
    binds = [bind for one in as_list(said.get("volumes")) if (bind := _bind(one)) is not None]
    for bind in binds:
        if bind.creates_host_path:
            message = f"{bind.source} is made when it is missing"
            evidence = {"source": bind.source, "target": bind.target}
            found.append(finding("compose.creates_host_path", subject, message, evidence, severity="info"))
    shm = said.get("shm_size")
    service = ComposeService(
        project=project,
        name=name,
        container_name=as_text(said.get("container_name")),
        image=as_text(said.get("image")),
        ports=[port for one in as_list(said.get("ports")) if (port := _port(one)) is not None],
        gpu_request=requests,
        labels=_labels(said.get("labels")),
        env_names=sorted(env),
        nvidia_env={key: value for key, value in env.items() if _SHOWN_ENV.match(key) and value is not None},
        binds=binds,
        network_mode=as_text(said.get("network_mode")),
        restart=as_text(said.get("restart")),
        runtime=as_text(said.get("runtime")),
        ipc=as_text(said.get("ipc")),
        shm_size=str(shm) if isinstance(shm, (str, int)) else None,
        has_healthcheck=bool(as_mapping(said.get("healthcheck")).get("test")),
    )
    return Parsed([with_reasons(service, {"gpu_request": "no GPU is asked for"}, "not set")], found)


def _environment(printed: Any) -> dict[str, str | None]:
    """Names and values; a name without a value (taken from the shell) has None."""
    if isinstance(printed, dict):
        return {str(key): None if value is None else str(value) for key, value in printed.items()}
    env: dict[str, str | None] = {}
    for one in as_list(printed):
        name, equals, value = str(one).partition("=")
        env[name] = value if equals else None
    return env


def _labels(printed: Any) -> dict[str, str]:
    if isinstance(printed, dict):
        return {str(key): "" if value is None else str(value) for key, value in printed.items()}
    return {name: value for name, _, value in (str(one).partition("=") for one in as_list(printed))}


def _port(printed: Any) -> PortBinding | None:
    """One entry of ``ports``: the long form that ``config`` prints, or the short one of a file.

    In the long form published is text, and missing where any host port will do.
    """
    if isinstance(printed, (str, int)) and not isinstance(printed, bool):
        return _short_port(str(printed))
    said = as_mapping(printed)
    target = as_int(said.get("target"))
    if target is None:
        return None
    published = said.get("published")
    first, _, last = str(published if published is not None else "").partition("-")
    protocol, address = as_text(said.get("protocol")) or "tcp", as_text(said.get("host_ip")) or ""
    return PortBinding(target, protocol, address, as_int(first) or None, as_int(last) or None)


def _short_port(printed: str) -> PortBinding | None:
    """``127.0.0.1:8000:8000``, ``2122:22``, ``9000``, ``8000-8010:8000-8010/udp``; None for other text."""
    match = _SHORT_PORT.match(printed.strip())
    if match is None:
        return None
    first, last = as_int(match.group("first") or ""), as_int(match.group("last") or "")
    address = (match.group("address") or "").strip("[]")
    return PortBinding(int(match.group("target")), match.group("protocol") or "tcp", address, first or None, last)


def _bind(printed: Any) -> BindMount | None:
    said = as_mapping(printed)
    source, target = as_text(said.get("source")), as_text(said.get("target"))
    if said.get("type") != "bind" or source is None or target is None:
        return None
    creates = as_mapping(said.get("bind")).get("create_host_path") is True
    return BindMount(source, target, said.get("read_only") is True, creates)
