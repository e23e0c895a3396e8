"""What the lab reads out of stack files: host ports to publish, model folders to lay, images to have.

The files are read as plain YAML on purpose: a lab that starts must not depend on the declarations being right, for it
is where wrong ones are tried.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gpu_seats.units import UnitError, size_mib, watts

from .layout import HOST, HOST_FILE, LAB, STACKS_DIRS

Mapping = dict[str, Any]
# the safe loader, in C where PyYAML was built with libyaml: five times faster on a fleet of stacks
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def stack_files(folders: Iterable[Path] = STACKS_DIRS) -> list[Path]:
    """Every stack.yml below the folders, sorted."""
    return sorted(file for folder in folders for file in folder.glob("*/stack.yml"))


def read_stacks(files: Iterable[Path]) -> list[tuple[Path, Mapping]]:
    """The mappings of the files that hold one; a file that is no YAML is left out, the linter speaks about it."""
    found = []
    for file in files:
        try:
            content = yaml.load(file.read_text(), Loader=_LOADER)
        except yaml.YAMLError:
            continue
        if isinstance(content, dict):
            found.append((file, content))
    return found


def runs_in_lab(file: Path, stack: Mapping) -> bool:
    """Stacks of the lab's host, and the lab's own."""
    return stack.get("host") == HOST or LAB in file.parents


def host_ports(stacks: Iterable[Mapping]) -> list[int]:
    """Host ports that seats and services declare: `port: 8022`, and in `ports:` lists 8022, "8022:80" or a mapping."""
    ports = {port for stack in stacks for part in _parts(stack) for port in _ports_of(part)}
    return sorted(ports)


def images(stacks: Iterable[Mapping]) -> list[str]:
    """Image names with their tag, each once, sorted; one named by digest alone has no tag and is left out."""
    named = {part["image"] for stack in stacks for part in _parts(stack) if isinstance(part.get("image"), str)}
    return sorted({with_tag(name) for name in named if "@" not in name})


def with_tag(image: str) -> str:
    """The image name as Docker lists it: `latest` where no tag is given."""
    return image if ":" in image.rpartition("/")[2] else f"{image}:latest"


def model_paths(stacks: Iterable[Mapping]) -> list[str]:
    """`model.path` of every seat, each once, sorted."""
    models = [part.get("model") for stack in stacks for part in _parts(stack)]
    return sorted({m["path"] for m in models if isinstance(m, dict) and isinstance(m.get("path"), str)})


def _parts(stack: Mapping) -> Iterator[Mapping]:
    yield stack
    for group in ("seats", "services"):
        members = stack.get(group)
        if isinstance(members, dict):
            yield from (member for member in members.values() if isinstance(member, dict))


def _ports_of(part: Mapping) -> Iterator[int]:
    listed = part.get("ports")
    for entry in [part.get("port"), *(listed if isinstance(listed, list) else [])]:
        yield from _host_port(entry)


def _host_port(entry: Any) -> Iterator[int]:
    if isinstance(entry, dict):
        entry = entry.get("host", entry.get("published"))
    if isinstance(entry, str):
        pieces = entry.partition("/")[0].split(":")
        entry = pieces[-2] if len(pieces) > 1 else pieces[0]
    try:
        port = int(entry)
    except (TypeError, ValueError):
        return
    if not isinstance(entry, bool) and 0 < port < 65536:
        yield port


def host_ram_kib() -> int | None:
    """Memory of the lab's host as its host file declares it, in KiB; None where that says nothing usable."""
    try:
        host = yaml.safe_load(HOST_FILE.read_text())["gpu_seats_host"]
        return round(size_mib(host["ram"]) * 1024)
    except (OSError, yaml.YAMLError, KeyError, TypeError, UnitError):
        return None


@dataclass(frozen=True)
class HostBmc:
    """What the simulated BMC takes from the host file: its address, the machine's watts, how many power supplies."""

    address: str
    baseline_watts: float
    under_load_watts: float
    supplies: int


def host_bmc() -> HostBmc | None:
    """The BMC of the lab's host; None where the host file declares none, or says nothing usable about its watts."""
    try:
        host = yaml.safe_load(HOST_FILE.read_text())["gpu_seats_host"]
        figures = {name: watts(host["power"][name]["watts"]) for name in ("baseline", "under_load")}
        address = str(ipaddress.ip_address(host["bmc"]["address"]))
        return HostBmc(address, figures["baseline"], figures["under_load"], int(host.get("psus", 2)))
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError):
        return None
