"""The file of declared caps on a host: ``/etc/gpu-seats/power-caps.json``, written by the role gpu_power.

::

    {"host": "fv-ml1", "persistence": "auto", "caps": [{"card": "0", "uuid": "GPU-...", "limit_watts": 275, ...}]}

caps is required, see `apply.gpu_limits.caps` for its members. host is told in findings, metrics and alerts.
"""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..apply.gpu_limits.caps import Cap, CapsError, caps_from
from ..apply.gpu_limits.persistence import WAYS

DEFAULT_PATH = "/etc/gpu-seats/power-caps.json"
_KEYS = ("host", "persistence", "caps")


@dataclass(frozen=True)
class CapsFile:
    host: str
    caps: list[Cap]
    persistence: str = "auto"


def read_caps_file(path: str) -> CapsFile:
    """Raises CapsError, whose message names the file and the value that can't be used."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise CapsError(f"{path} can't be read: {error.strerror or error}. The role gpu_power writes it") from error
    except (ValueError, RecursionError) as error:
        raise CapsError(f"{path} is no JSON: {error}. Run the role gpu_power again") from error
    if not isinstance(data, dict):
        raise CapsError(f"{path} holds {type(data).__name__}: an object with caps is needed")
    unknown = sorted(set(data) - set(_KEYS))
    if unknown:
        raise CapsError(f"{path} has unknown keys {', '.join(unknown)}: known are {', '.join(_KEYS)}")
    if "caps" not in data:
        raise CapsError(f"{path} has no caps: a list is needed, empty for a host without any")
    way = data.get("persistence", "auto")
    if way not in WAYS:
        raise CapsError(f"{path}: persistence is {way!r}: one of {', '.join(WAYS)} is needed")
    return CapsFile(_host(data, path), caps_from(data["caps"], f"{path}: caps"), way)


def _host(data: dict[str, Any], path: str) -> str:
    name = data.get("host", "")
    if not isinstance(name, str):
        raise CapsError(f"{path}: host is {name!r}: a name is needed")
    return name or socket.gethostname()


__all__ = ["DEFAULT_PATH", "CapsFile", "read_caps_file"]
