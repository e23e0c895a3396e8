"""Port bindings as Docker writes them: in ``inspect``, in the Ports column, and as ``docker port`` prints them."""

from __future__ import annotations

import re
from typing import Any

from ..jsontext import as_int, as_list, as_mapping
from .records import PortBinding, port_sort_key

_CONTAINER_PORT = re.compile(r"^(?P<port>\d{1,5})(?:-(?P<end>\d{1,5}))?(?:/(?P<protocol>\w+))?$")
_HOST = re.compile(r"^(?:(?P<address>[^\s,]*):)?(?P<port>\d{1,5})(?:-(?P<end>\d{1,5}))?$")
_HIGHEST = 65535
_NO_ADDRESS = "invalid IP"
"""How Engine 29 prints the address of a binding that names none."""
_EVERYWHERE = ("", "0.0.0.0", "::")


def bindings(mapping: Any) -> list[PortBinding]:
    """``{"8000/tcp": [{"HostIp": "", "HostPort": "8000"}]}`` as bindings; a port with null or [] has none."""
    found: list[PortBinding] = []
    for printed, hosts in as_mapping(mapping).items():
        match = _CONTAINER_PORT.match(printed)
        if match is None:
            continue
        for host in as_list(hosts):
            start, end = _host_range(as_mapping(host).get("HostPort"))
            address = as_mapping(host).get("HostIp")
            found.append(
                PortBinding(
                    int(match.group("port")),
                    match.group("protocol") or "tcp",
                    address if isinstance(address, str) and address != _NO_ADDRESS else "",
                    start,
                    end,
                )
            )
    return sorted(set(found), key=port_sort_key)


def _host_range(printed: Any) -> tuple[int | None, int | None]:
    """(first, last) of a host port as text; None for any free port ("" or "0")."""
    text = str(printed) if isinstance(printed, (str, int)) and not isinstance(printed, bool) else ""
    match = re.match(r"^(\d{1,5})(?:-(\d{1,5}))?$", text)
    if match is None or match.group(1) == "0":
        return None, None
    return int(match.group(1)), int(match.group(2)) if match.group(2) else None


def is_published(wanted: PortBinding, published: list[PortBinding]) -> bool:
    """Whether a wanted binding is there: same container port, and its host port and address where they are named.

    A binding of all addresses is there when one family of them is: hosts without IPv6 publish ``0.0.0.0`` alone.
    """
    for one in published:
        reached = wanted.host_ip in (*_EVERYWHERE, one.host_ip) or one.host_ip in _EVERYWHERE
        if one.container == wanted.container and one.host_port is not None and reached:
            last = wanted.host_port_end or wanted.host_port
            if wanted.host_port is None or (last is not None and wanted.host_port <= one.host_port <= last):
                return True
    return False


def ports_column(text: str) -> tuple[list[PortBinding], list[PortBinding]]:
    """(published, only exposed) of ``0.0.0.0:8000->8000/tcp, [::]:8000->8000/tcp, 9000/tcp``; ranges are spread."""
    published: list[PortBinding] = []
    exposed: list[PortBinding] = []
    for part in (one.strip() for one in text.split(",")):
        host, arrow, container = part.rpartition("->")
        inside = _CONTAINER_PORT.match(container.strip())
        if inside is None:
            continue
        outside = _HOST.match(host.strip()) if arrow else None
        if arrow and outside is None:
            continue
        first, last = int(inside.group("port")), int(inside.group("end") or inside.group("port"))
        for offset in range(max(0, min(last, _HIGHEST) - first) + 1):
            binding = PortBinding(
                first + offset,
                inside.group("protocol") or "tcp",
                host_address(outside.group("address")) if outside else "",
                int(outside.group("port")) + offset if outside else None,
            )
            (published if outside else exposed).append(binding)
    return published, exposed


def host_address(printed: str | None) -> str:
    """An address without brackets; the ``::`` that old engines print as ``:::8000`` stays ``::``."""
    address = (printed or "").strip()
    return address[1:-1] if address.startswith("[") and address.endswith("]") else address


def publishers(rows: Any) -> tuple[list[PortBinding], list[PortBinding]]:
    """(published, only exposed) of Compose's Publishers list; PublishedPort 0 means only exposed, null none."""
    published: list[PortBinding] = []
    exposed: list[PortBinding] = []
    for row in as_list(rows):
        said = as_mapping(row)
        inside, outside = as_int(said.get("TargetPort")), as_int(said.get("PublishedPort"))
        if inside is None:
            continue
        protocol = said.get("Protocol") if isinstance(said.get("Protocol"), str) else "tcp"
        address = said.get("URL") if isinstance(said.get("URL"), str) else ""
        binding = PortBinding(inside, protocol or "tcp", address or "", outside or None)
        (published if outside else exposed).append(binding)
    return published, exposed


def port_line(line: str) -> PortBinding | None:
    """``8000/tcp -> [::]:8000`` of ``docker port NAME``, or None."""
    inside, arrow, outside = line.partition("->")
    match, host = _CONTAINER_PORT.match(inside.strip()), _HOST.match(outside.strip())
    if not arrow or match is None or host is None:
        return None
    port = int(host.group("port"))
    return PortBinding(
        int(match.group("port")), match.group("protocol") or "tcp", host_address(host.group("address")), port
    )
