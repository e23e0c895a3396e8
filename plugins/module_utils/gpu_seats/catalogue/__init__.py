"""Every finding code with its severity, meaning and remedy; one file an area, joined here.

``docs/findings.md`` and ``gpu-seats explain CODE`` are made from it.
"""

from __future__ import annotations

from . import (
    bmc,
    compose,
    declaration,
    docker_texts,
    engine,
    gpu,
    host,
    model_files,
    observing,
    ports,
    power,
    power_measure,
    seat,
    systemd,
    vram,
)
from .kind import FindingKind

_AREAS = (
    declaration,
    host,
    systemd,
    gpu,
    vram,
    power,
    power_measure,
    bmc,
    ports,
    compose,
    docker_texts,
    seat,
    engine,
    model_files,
    observing,
)

CATALOGUE: dict[str, FindingKind] = {code: kind for area in _AREAS for code, kind in area.KINDS.items()}
