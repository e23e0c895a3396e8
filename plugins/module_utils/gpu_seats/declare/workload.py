"""What every container of a stack declares, whether it serves a model or not."""

from __future__ import annotations

from typing import Literal, Optional, Union

from pydantic import Field

from .fields import (
    AbsolutePath,
    Assumed,
    CardId,
    Date,
    EnvName,
    HeldSizeMib,
    Image,
    IpAddress,
    Name,
    Port,
    Record,
    SeatState,
    SizeMib,
)


class Note(Record):
    """A dated statement of a source; where two disagree the later one wins and both stay readable."""

    date: Date = Field(description="Day of the statement")
    says: str = Field(description="What the source says, with its figures")


class Claim(Record):
    """What a workload may use at its peak: `vram` on each of its cards, `host_ram` in all.

    Watts are no claim: a loaded card is counted with its cap (``power.caps`` of the host).
    """

    vram: Optional[HeldSizeMib] = Field(None, description="Peak on each of its cards")
    vram_at_rest: Optional[SizeMib] = Field(
        None, description="What it holds when idle; the rest is headroom it must find"
    )
    host_ram: Optional[SizeMib] = None


class OnDemand(Record):
    """An on-demand tenant says to whom it yields its card and where it lands then (``host/card``, or down)."""

    yields_to: str = Field(description="Seat name, or `full-size` for any seat that may fill the card")
    lands_on: Optional[str] = Field(None, description="host/card where it goes when it yields; absent: it stops")
    reason: str


class Mount(Record):
    """One bind mount; `create` lets Docker make a missing source directory (off: a missing source is an error)."""

    source: AbsolutePath
    target: AbsolutePath
    read_only: bool = False
    create: bool = False


class PublishedPort(Record):
    """host port -> container port on `address` (all addresses unless given)."""

    host: Port = Field(description="Port on the host")
    container: Port = Field(description="Port inside the container")
    protocol: Literal["tcp", "udp"] = "tcp"
    address: Optional[IpAddress] = None


class Resources(Record):
    """Caps of the container. Either a large `shm_size` or `ipc: host` where tensor parallel workers share memory."""

    shm_size: Optional[HeldSizeMib] = None
    ipc: Optional[Literal["host", "private", "shareable"]] = None
    memlock_unlimited: bool = False
    mem_limit: Optional[HeldSizeMib] = None
    cap_add: list[str] = Field(default_factory=list)


class Homepage(Record):
    """A tile of the Homepage dashboard; the link is made from the host's address and the port."""

    group: str
    name: str
    icon: Optional[str] = None
    description: Optional[str] = None
    weight: Optional[int] = None
    path: str = "/"


class Healthcheck(Record):
    """Container health check as Docker runs it; engines have their own default."""

    test: list[str]
    interval_s: int = 15
    timeout_s: int = 5
    retries: int = 3
    start_period_s: int = 600


class Workload(Record):
    """One container of a stack."""

    state: SeatState = Field(
        description="serving: always up. on_demand: started only by name. dormant: files kept, stopped. "
        "retired: gone, kept as a record"
    )
    reason: Optional[str] = Field(None, description="Why it is in this state or on this card")
    image: Optional[Image] = Field(None, description="Image with a pinned tag or a digest, never latest")
    container_name: Optional[Name] = Field(None, description="The workload's own name unless given")
    gpus: list[CardId] = Field(default_factory=list, description="Cards of the host file by key; empty: no GPU at all")
    count: Optional[int] = Field(None, description="Never allowed: cards are pinned by id, see gpus")
    device_ids: Optional[list[str]] = Field(None, description="Never written by hand: made from gpus")
    claim: Claim = Field(default_factory=Claim, description="What it may use at its peak")
    on_demand: Optional[OnDemand] = Field(None, description="To whom an on-demand tenant yields, and where it lands")
    ports: list[PublishedPort] = Field(
        default_factory=list, description="Published ports of a service; a seat's own port is `port`"
    )
    environment: dict[EnvName, str] = Field(
        default_factory=dict, description="Plain values, quoted text; nothing is interpolated, and no secrets"
    )
    secrets: list[EnvName] = Field(
        default_factory=list,
        description="Names whose values come from gpu_seats_secrets (vault), by env file",
    )
    mounts: list[Mount] = Field(default_factory=list, description="Bind mounts beside those that the engine needs")
    entrypoint: Optional[list[str]] = Field(None, description="Replaces the image's entrypoint")
    command: Optional[list[str]] = Field(None, description="Arguments, for services and engine other")
    resources: Resources = Field(default_factory=Resources, description="Caps of the container")
    healthcheck: Optional[Healthcheck] = Field(None, description="Replaces the engine's own check")
    homepage: Optional[Homepage] = Field(None, description="Tile on the dashboard")
    labels: dict[str, str] = Field(default_factory=dict, description="Further container labels")
    network_mode: Optional[Literal["bridge", "host"]] = Field(None, description="host: no port is published or checked")
    needs: list[str] = Field(default_factory=list, description="Features, known by the merge they came with")
    notes: list[Note] = Field(default_factory=list, description="Dated statements; the latest one wins")
    assumed: Assumed = Field(default_factory=dict, description="Keys that no source gives, each with why it is so")


class Service(Workload):
    """A container that serves no model: dashboards, agents, desktops."""


Scalar = Union[bool, int, float, str]
