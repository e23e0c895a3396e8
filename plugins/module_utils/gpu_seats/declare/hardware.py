"""What a host is built of and how it is kept, as far as someone read it: power, pools, drives, maintenance."""

from __future__ import annotations

from typing import Literal, Optional

from pydantic import Field

from .fields import Date, Record, SizeMib, Watts


class PowerLimits(Record):
    """Limits of one card as ``nvidia-smi -q -d POWER`` gives them. `max` is the firmware's ceiling, no target."""

    min: Watts
    default: Watts
    max: Watts


class PowerReading(Record):
    """One reading of the whole machine by its BMC, and of the cards at the same time."""

    date: Date
    source: str
    instantaneous: Optional[Watts] = None
    minimum: Optional[Watts] = None
    maximum: Optional[Watts] = None
    average: Optional[Watts] = None
    gpus: list[Watts] = Field(default_factory=list, description="Draw of each card, by index")
    remark: Optional[str] = None


class Power(Record):
    """What a machine draws besides its cards, and what is known of it. Watts of cards come from their caps."""

    baseline: Optional[Watts] = Field(None, description="Machine without its cards, idle")
    under_load: Optional[Watts] = Field(None, description="Machine without its cards, under load")
    standing: Literal["measured", "derived", "estimate", "assumed"] = "estimate"
    cap_reason: Optional[str] = Field(None, description="Why the cards are capped as they are")
    readings: list[PowerReading] = Field(default_factory=list)
    unknown: list[str] = Field(default_factory=list, description="What nobody has measured")


class Pool(Record):
    """One ZFS pool."""

    layout: Optional[str] = None
    mount: Optional[str] = None
    size: Optional[SizeMib] = None
    free: Optional[SizeMib] = None
    drives: Optional[int] = Field(None, ge=1)
    purpose: str


class Drive(Record):
    """One drive as read at a visit; counters are lifetime counters, so their growth is what matters."""

    serial: str
    model: str
    firmware: str
    pool: str
    pci: Optional[str] = None
    slot: Optional[str] = None
    read_on: Date
    power_on_hours: int = Field(ge=0)
    power_cycles: int = Field(ge=0)
    unsafe_shutdowns: int = Field(ge=0)
    media_errors: int = Field(ge=0)
    used_percent: int = Field(ge=0)
    remark: Optional[str] = None


class Maintenance(Record):
    """How the host boots, what is held back, and what must be known before the next change."""

    bootloader: Optional[str] = None
    fallback_kernel: Optional[str] = None
    rollback: Optional[str] = Field(None, description="Snapshot to go back to, and until when it is kept")
    held_packages: list[str] = Field(default_factory=list)
    driver_source: Optional[str] = None
    mounts: dict[str, str] = Field(default_factory=dict, description="Mounts that services depend on, and how")
    environment: dict[str, str] = Field(default_factory=dict, description="System-wide variables and where they stand")
