"""Steps of a seat from container to completion: their names, how each ends, and how long each may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

STEPS = ("container", "gpus", "port", "health", "model", "completion")


@dataclass(frozen=True)
class Step:
    """status: ok, waiting (not yet, and its limit is not over), failed, skipped (nothing to ask). text: why.

    silent: the other side took the connection and said nothing within the limit of one try.
    """

    step: str
    status: str
    text: str = ""
    seconds: float = 0.0
    silent: bool = False

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Limits:
    """Seconds. load counts from the container's start, container from the first look, the others are for one try."""

    container: float = 60.0
    load: float = 900.0
    port: float = 10.0
    health: float = 10.0
    completion: float = 60.0


@dataclass(frozen=True)
class SeatCheck:
    """What is verified of one container. engine and task are ``none`` for one that serves no model."""

    seat: str
    container: str
    engine: str
    task: str
    stack: str = ""
    project: str = ""
    service: str = ""
    address: str = ""
    port: int | None = None
    container_port: int | None = None
    gpus: tuple[str, ...] = ()
    served_name: str = ""
    health_path: str = ""
    digest: str = ""
    limits: Limits = Limits()

    @property
    def subject(self) -> str:
        return f"seat:{self.seat}"


def seat_check(data: Mapping[str, Any]) -> SeatCheck:
    """The record of one rendered check. Raises ValueError saying which key is missing."""
    for key in ("seat", "container"):
        if not data.get(key):
            raise ValueError(f"check of {data.get('seat') or '?'}: {key} is missing")
    timeouts = data.get("timeouts") or {}
    known = {name: float(timeouts[name]) for name in Limits.__dataclass_fields__ if timeouts.get(name) is not None}
    return SeatCheck(
        seat=str(data["seat"]),
        container=str(data["container"]),
        engine=str(data.get("engine") or "none"),
        task=str(data.get("task") or "none"),
        stack=str(data.get("stack") or ""),
        project=str(data.get("project") or ""),
        service=str(data.get("service") or ""),
        address=str(data.get("address") or ""),
        port=int(data["port"]) if data.get("port") else None,
        container_port=int(data["container_port"]) if data.get("container_port") else None,
        gpus=tuple(str(gpu) for gpu in data.get("gpus") or ()),
        served_name=str(data.get("served_name") or ""),
        health_path=str(data.get("health_path") or ""),
        digest=str(data.get("digest") or ""),
        limits=Limits(**known),
    )


__all__ = ["STEPS", "Limits", "SeatCheck", "Step", "seat_check"]
