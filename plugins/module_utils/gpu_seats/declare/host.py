"""A host and its cards, declared under ``gpu_seats_host`` in ``host_vars/<host>.yml``."""

from __future__ import annotations

from typing import Literal, Optional

from pydantic import Field

from .fields import AbsolutePath, Assumed, CardId, Name, Port, Record, SizeMib, Watts
from .workload import Note


class Reserve(Record):
    """What a deliberately empty card still takes."""

    full_size_from: SizeMib = Field(description="A seat that claims at least this may take the whole card")
    tenants: Literal["none", "on_demand"] = Field(
        description="on_demand: smaller workloads may use it while no full-size seat does, if they yield"
    )
    reason: str


class Gpu(Record):
    """One card. `uuid` is the truth, `bus_id` the cross-check; index order is not promised between boots."""

    model: str
    vram: SizeMib
    uuid: Optional[str] = Field(None, pattern=r"^GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
    bus_id: Optional[str] = Field(None, pattern=r"^[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]$")
    driver_reserve: SizeMib = 640.0
    reserve: Optional[Reserve] = None
    power_cap: Optional[Watts] = None


class Bmc(Record):
    address: str
    product: Optional[str] = None


class Paths(Record):
    """Where things live on the host."""

    compose: AbsolutePath = "/opt/docker/compose"
    conf: AbsolutePath = "/opt/docker/conf"
    hf_home: AbsolutePath = "/tank/aimodels/huggingface"
    compile_cache: AbsolutePath = "/tank/aimodels/cache"


class Host(Record):
    """One machine at a site."""

    host: Name
    site: Name
    summary: str
    address: Optional[str] = Field(None, description="LAN address; links and checks are made from it")
    bmc: Optional[Bmc] = None
    chassis: Optional[str] = None
    cpu: Optional[str] = None
    ram: Optional[SizeMib] = None
    ram_reserve: SizeMib = Field(16384.0, description="Host RAM that seats leave to the system and the ARC")
    os: Optional[str] = None
    docker: Optional[str] = None
    driver: Optional[str] = None
    gpus: dict[CardId, Gpu] = Field(default_factory=dict)
    held_ports: dict[str, Port] = Field(default_factory=dict, description="Ports of things that are no stack, by name")
    paths: Paths = Field(default_factory=Paths)
    notes: list[Note] = Field(default_factory=list)
    assumed: Assumed = Field(default_factory=dict)
