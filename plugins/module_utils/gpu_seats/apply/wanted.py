"""What the controller rendered, as `compose_stacks` gets it: plain data in, checked records out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .atomic_files import WantedFile

RUN_STATES = ("up", "stopped", "keep", "leave", "absent")
"""up: runs. stopped: is not created, and stopped if it runs. keep: is renewed if it runs. leave: was not
asked for, nothing is done to it. absent: is retired."""

LABEL_STACK = "gpu-seats.stack"
LABEL_DIGEST = "gpu-seats.digest"
COMPOSE_FILE = "compose.yaml"


class BadRequestError(ValueError):
    """The data handed over is not a rendered stack; says where and what is allowed."""


@dataclass(frozen=True)
class WantedService:
    """One service. digest: value of its label gpu-seats.digest. gpus: cards it is pinned to, [] for none.

    labels: all labels it is to have, {} where the renderer did not say. load_s: limit for a start, seconds. why: the
    plan's reason for its run state, "" where it gave none.
    """

    name: str
    container: str
    run: str
    digest: str
    image: str
    seat: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    gpus: tuple[str, ...] = ()
    load_s: float = 900.0
    why: str = ""


@dataclass(frozen=True)
class WantedStack:
    """One Compose project. files: all files but the Compose file. checks: SeatCheck data for seat_ready."""

    name: str
    project: str
    directory: str
    compose_text: str
    services: Mapping[str, WantedService]
    files: tuple[WantedFile, ...] = ()
    checks: tuple[Mapping[str, Any], ...] = ()
    project_aliases: tuple[str, ...] = ()

    @property
    def compose_file(self) -> str:
        return f"{self.directory}/{COMPOSE_FILE}"

    @property
    def all_files(self) -> tuple[WantedFile, ...]:
        """What the Compose file refers to first, itself last: a killed run never leaves a reference to nothing."""
        return (*self.files, WantedFile(self.compose_file, self.compose_text))

    def with_runs(self, runs: Mapping[str, str]) -> WantedStack:
        """The same stack with other run states for the services that `runs` names."""
        services = {name: replace(service, run=runs.get(name, service.run)) for name, service in self.services.items()}
        return replace(self, services=services)


def wanted_stack(data: Mapping[str, Any]) -> WantedStack:
    """The record of one rendered stack. Raises BadRequestError."""
    where = "stacks[{}]".format(data.get("name", "?"))
    directory = _text(data, "directory", where)
    if not directory.startswith("/"):
        raise BadRequestError(f"{where}.directory: {directory!r} is not an absolute path")
    checks = tuple(dict(check) for check in data.get("checks") or ())
    return WantedStack(
        name=_text(data, "name", where),
        project=_text(data, "project", where),
        directory=directory.rstrip("/"),
        compose_text=_text(data, "compose_text", where),
        services=_services(data, where, checks),
        files=tuple(
            wanted_file(entry, f"{where}.files")
            for entry in data.get("files") or ()
            if entry.get("path") != "{}/{}".format(directory.rstrip("/"), COMPOSE_FILE)
        ),
        checks=checks,
        project_aliases=tuple(str(alias) for alias in data.get("project_aliases") or ()),
    )


def wanted_file(entry: Mapping[str, Any], where: str) -> WantedFile:
    """One entry of `files`; content of a secret one comes under `secret_content`, which Ansible does not log."""
    path = _text(entry, "path", where)
    if not path.startswith("/"):
        raise BadRequestError(f"{where}: {path!r} is not an absolute path")
    mode = str(entry.get("mode") or "0644")
    try:
        bits = int(mode, 8)
    except ValueError:
        raise BadRequestError(f"{where}: {path}: mode {mode!r} is not an octal number such as 0644") from None
    secret = bool(entry.get("secret"))
    content = entry.get("secret_content") if secret else entry.get("content")
    if content is None:
        key = "secret_content" if secret else "content"
        raise BadRequestError(f"{where}: {path} has no {key} (secret: {str(secret).lower()})")
    if secret and bits & 0o077:
        raise BadRequestError(f"{where}: {path} is secret and mode {mode} lets others read it; use 0600")
    return WantedFile(path, str(content), bits, secret)


def _services(data: Mapping[str, Any], where: str, checks: tuple[dict[str, Any], ...]) -> dict[str, WantedService]:
    by_service = {check.get("service"): check for check in checks}
    services = {}
    for name, entry in (data.get("services") or {}).items():
        here = f"{where}.services.{name}"
        run = _text(entry, "run", here)
        if run not in RUN_STATES:
            raise BadRequestError("{}.run: {!r}; allowed are {}".format(here, run, ", ".join(RUN_STATES)))
        check = by_service.get(name) or {}
        gpus = entry.get("gpus") if entry.get("gpus") is not None else check.get("gpus")
        services[name] = WantedService(
            name=name,
            container=_text(entry, "container", here),
            run=run,
            digest=_text(entry, "digest", here) if run != "absent" else str(entry.get("digest") or ""),
            image=_text(entry, "image", here) if run != "absent" else str(entry.get("image") or ""),
            seat=entry.get("seat"),
            labels={str(k): str(v) for k, v in (entry.get("labels") or {}).items()},
            gpus=tuple(str(gpu) for gpu in gpus or ()),
            load_s=float((check.get("timeouts") or {}).get("load") or 900.0),
            why=str(entry.get("why") or ""),
        )
    return services


def _text(data: Mapping[str, Any], key: str, where: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value:
        raise BadRequestError(f"{where}.{key}: a text is needed, found {value!r}")
    return value


__all__ = [
    "COMPOSE_FILE",
    "LABEL_DIGEST",
    "LABEL_STACK",
    "RUN_STATES",
    "BadRequestError",
    "WantedService",
    "WantedStack",
    "wanted_file",
    "wanted_stack",
]
