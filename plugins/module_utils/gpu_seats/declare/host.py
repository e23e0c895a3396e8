"""A host and its cards, declared under ``gpu_seats_host`` in ``host_vars/<host>.yml``."""

from __future__ import annotations

from typing import Literal, Optional

from pydantic import Field

from .fields import AbsolutePath, Address, Assumed, CardId, HeldSizeMib, Name, Port, Record, SizeMib
from .hardware import Drive, Maintenance, Pool
from .power import FIGURE_EXAMPLE, Power, PowerLimits, WattsFigure
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

    model: str = Field(description="Product name as nvidia-smi prints it")
    vram: HeldSizeMib = Field(description="Total memory as nvidia-smi prints it", examples=["97887MiB"])
    uuid: Optional[str] = Field(None, pattern=r"^GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
    bus_id: Optional[str] = Field(None, pattern=r"^[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]$")
    driver_reserve: SizeMib = Field(640.0, description="What the driver keeps of the card for itself")
    reserve: Optional[Reserve] = Field(None, description="Rule of a card that is kept empty on purpose")
    power_limits: Optional[PowerLimits] = Field(None, description="What the card takes; its cap stands in power.caps")


class Bmc(Record):
    """The management controller, reached beside the operating system."""

    address: Address
    product: Optional[str] = None
    url: Optional[str] = None
    vault: Optional[str] = Field(None, description="Where its credentials are kept; never the credentials")
    draw: Optional[WattsFigure] = Field(
        None,
        description="What it takes, where a circuit feeds <host>/bmc apart from its host",
        examples=[FIGURE_EXAMPLE],
    )


class Paths(Record):
    """Where things live on the host."""

    compose: AbsolutePath = "/opt/docker/compose"
    conf: AbsolutePath = "/opt/docker/conf"
    hf_home: AbsolutePath = "/tank/aimodels/huggingface"
    compile_cache: AbsolutePath = "/tank/aimodels/cache"
    models: AbsolutePath = "/tank/aimodels"


class Host(Record):
    """One machine at a site."""

    host: Name = Field(description="The name of its file, and of its entry in hosts.yml")
    site: Name = Field(description="Site file it belongs to")
    summary: str = Field(description="What it is, in one line")
    other_names: list[str] = Field(default_factory=list, description="What else the same box is called")
    address: Optional[Address] = Field(None, description="LAN address; links and checks are made from it")
    former_names: list[str] = Field(
        default_factory=list, description="Dead addresses and names: a stack that still carries one is refused"
    )
    ssh_port: Port = 22
    bmc: Optional[Bmc] = None
    chassis: Optional[str] = None
    cpu: Optional[str] = None
    ram: Optional[SizeMib] = Field(None, description="Whole memory of the machine")
    ram_reserve: SizeMib = Field(16384.0, description="Host RAM that seats leave to the system and the ARC")
    os: Optional[str] = None
    kernel: Optional[str] = None
    docker: Optional[str] = None
    docker_runtimes: list[str] = Field(default_factory=list)
    driver: Optional[str] = None
    software: dict[str, str] = Field(default_factory=dict, description="Other versions that matter, by package")
    psus: Optional[int] = Field(None, ge=1)
    power: Optional[Power] = None
    pools: dict[Name, Pool] = Field(default_factory=dict)
    drives: dict[Name, Drive] = Field(default_factory=dict)
    maintenance: Maintenance = Field(default_factory=Maintenance)
    gpus: dict[CardId, Gpu] = Field(default_factory=dict, description="Cards by the number that seats name them by")
    held_ports: dict[str, Port] = Field(default_factory=dict, description="Ports of things that are no stack, by name")
    unmanaged: dict[Name, str] = Field(
        default_factory=dict, description="What runs here and is declared by no stack, by name"
    )
    paths: Paths = Field(default_factory=Paths)
    notes: list[Note] = Field(default_factory=list)
    assumed: Assumed = Field(default_factory=dict)
