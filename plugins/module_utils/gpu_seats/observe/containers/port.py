"""``docker port NAME [PORT]``."""

from __future__ import annotations

import re

from ...findings import finding
from ..compose.failures import classify
from ..records import Parsed, unrecognised
from .ports import host_address, port_line
from .records import PortBinding, PublishedPorts

_COMMAND = re.compile(r"\bport\s+(?P<container>[\w][\w.-]*)(?:\s+(?P<port>\d{1,5})(?:/(?P<protocol>\w+))?)?")
_REFUSED = re.compile(r"no public port '?(?P<port>[\w/]+)'? published for (?P<container>\S+)", re.IGNORECASE)
_ADDRESS_ONLY = re.compile(r"^(?P<address>\[[^\]]*\]|[\d.]+|::?|\S*::):(?P<port>\d{1,5})$")


def parse_docker_port(text: str, rc: int | None = None, command: str | None = None) -> Parsed:
    """The bindings of one container. Nothing printed with exit code 0: it publishes nothing."""
    asked = _COMMAND.search(command or "")
    container = asked.group("container") if asked else None
    ports: list[PortBinding] = []
    parsed, rest = Parsed(), list[str]()
    for line in (one.strip() for one in text.splitlines() if one.strip()):
        binding = port_line(line) or _bare(line, asked)
        refused = _REFUSED.search(line)
        if binding is not None:
            ports.append(binding)
        elif refused:
            parsed.add(
                _none_published(refused.group("container"), f"port {refused.group('port')} is not published", line)
            )
        else:
            rest.append(line)
    if ports:
        parsed.records.append(PublishedPorts(container, ports))
    if rest:
        parsed.findings.extend(classify("\n".join(rest)) or [unrecognised("docker-port", "\n".join(rest), rc)])
    elif not ports and not parsed.findings:
        if rc in (None, 0):
            parsed.records.append(PublishedPorts(container, []))
            parsed.add(_none_published(container or "unknown", "nothing is published", ""))
        else:
            parsed.findings.append(
                finding("command.failed", "tool:docker-port", f"docker port ended with {rc}", {"rc": rc})
            )
    return parsed


def _bare(line: str, asked: re.Match[str] | None) -> PortBinding | None:
    """``0.0.0.0:8000``: the form of ``docker port NAME PORT``, whose container port is in the command only."""
    match = _ADDRESS_ONLY.match(line)
    if match is None:
        return None
    port = int(match.group("port"))
    inside = int(asked.group("port")) if asked and asked.group("port") else port
    protocol = (asked.group("protocol") if asked else None) or "tcp"
    return PortBinding(inside, protocol, host_address(match.group("address")), port)


def _none_published(container: str, message: str, line: str) -> Parsed:
    subject = f"container:{container}"
    return Parsed([], [finding("port.none_published", subject, message, {"text": line} if line else {})])
