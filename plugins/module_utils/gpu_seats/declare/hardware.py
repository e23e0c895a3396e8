"""What a host is built of and how it is kept, as far as someone read it: pools, drives, maintenance."""

from __future__ import annotations

from typing import Optional

from pydantic import Field

from .fields import Date, Record, SizeMib


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
