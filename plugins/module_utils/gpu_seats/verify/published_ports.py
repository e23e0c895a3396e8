"""What was wanted, what Docker says, who listens and who answers, joined: one row and one verdict a port. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..apply.docker_state import Standing
from ..findings import Finding, finding
from ..observe.listeners import Listener
from .connects import Connect

PROXY = "docker-proxy"
_ALL = ("", "0.0.0.0", "::", "*")
_LOOPBACK = ("127.", "::1")


@dataclass(frozen=True)
class WantedPort:
    """One declared port. container_port None: any. on_address "": on all addresses of the host."""

    seat: str
    container: str
    port: int
    container_port: int | None = None
    on_address: str = ""
    stack: str = ""

    @property
    def subject(self) -> str:
        return f"seat:{self.seat}"


@dataclass(frozen=True)
class Observed:
    """What the host shows. listeners None: could not be read. userland_proxy None: not known.

    outside: connects to the host's address by host port; inside: straight to the container, by its name.
    """

    containers: Sequence[Standing]
    listeners: Sequence[Listener] | None
    outside: Mapping[int, Connect]
    inside: Mapping[str, Connect]
    userland_proxy: bool | None = None


@dataclass(frozen=True)
class PortRow:
    """One line of the table. published: what Docker holds. listener: process, "" for none, None where not known."""

    seat: str
    container: str
    port: int
    published: str
    listener: str | None
    connect: str
    ok: bool

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def joined_ports(wanted: Iterable[WantedPort], seen: Observed) -> tuple[list[PortRow], list[Finding]]:
    """A row for each wanted port, and all findings; proxies that belong to nobody come last."""
    by_name = {one.name: one for one in seen.containers}
    rows, findings = [], []
    for one in wanted:
        container = by_name.get(one.container)
        found = port_findings(one, container, seen)
        findings += found
        rows.append(_row(one, container, seen, ok=not any(each.fails for each in found)))
    return rows, findings + orphan_proxies(seen)


def port_findings(one: WantedPort, container: Standing | None, seen: Observed) -> list[Finding]:
    """What is wrong with one wanted port; the first thing that explains it, not its consequences."""
    if container is None or container.status != "running":
        return _without_container(one, container, seen)
    if not container.has_own_ports:
        return _on_host_network(one, container, seen)
    problem = binding_finding(one, container)
    if problem is not None:
        return [problem]
    return _unreachable(one, container, seen)


def binding_finding(one: WantedPort, container: Standing) -> Finding | None:
    """What Docker's own state says of a running container, without asking the network."""
    published = _bindings(container.published_ports)
    hits = [(address, port, inner) for address, port, inner in published if port == one.port]
    facts = _facts(container)
    if not hits:
        asked = [port for _address, port, _inner in _bindings(container.wanted_ports)]
        word = f" ({container.health})" if container.health else ""
        if one.port in asked:
            message = f"container {container.name} runs{word} and its port {one.port} is not published"
            return finding("port.unpublished", one.subject, message, facts)
        elsewhere = ", ".join(str(port) for port in asked) or "no port"
        message = f"container {container.name} was made to publish {elsewhere}, {one.port} is declared"
        return finding("port.moved", one.subject, message, facts)
    inside = [inner for _address, _port, inner in hits]
    if one.container_port is not None and one.container_port not in inside:
        message = f"port {one.port} leads to port {inside[0]} of {container.name}, {one.container_port} is declared"
        return finding("port.moved", one.subject, message, facts)
    addresses = [address for address, _port, _inner in hits]
    if one.on_address in _ALL and all(address.startswith(_LOOPBACK) for address in addresses):
        message = f"port {one.port} is published on {addresses[0]} only: other hosts cannot reach it"
        return finding("port.local_only", one.subject, message, facts)
    return None


def orphan_proxies(seen: Observed) -> list[Finding]:
    """docker-proxy processes that hold a port which no running container publishes."""
    published = {
        port
        for one in seen.containers
        if one.status == "running"
        for _address, port, _inner in _bindings(one.published_ports)
    }
    stale: dict[int, Listener] = {}
    for listener in seen.listeners or ():
        if listener.process == PROXY and listener.port is not None and listener.port not in published:
            stale.setdefault(listener.port, listener)
    return [
        finding(
            "port.orphan_proxy",
            f"port:{port}",
            f"port {port} is held by a {PROXY} that belongs to no running container",
            {"pid": listener.pid, "address": listener.address},
        )
        for port, listener in sorted(stale.items())
    ]


def _without_container(one: WantedPort, container: Standing | None, seen: Observed) -> list[Finding]:
    holder = next((each for each in _listeners_of(one.port, seen) if each.process != PROXY), None)
    if holder is not None:
        who = f"{holder.process} (pid {holder.pid})" if holder.process else "a process"
        message = f"port {one.port} is held by {who}, and container {one.container} does not run"
        return [finding("port.taken", one.subject, message, {"pid": holder.pid, "process": holder.process})]
    state = f"is {container.status}" if container else "does not exist"
    message = f"nothing serves port {one.port}: container {one.container} {state}"
    return [finding("port.container_down", one.subject, message, _facts(container) if container else {})]


def _on_host_network(one: WantedPort, container: Standing, seen: Observed) -> list[Finding]:
    """Nothing is published there: the process inside listens on the host itself."""
    if _is_open(seen.outside.get(one.port)) or _listeners_of(one.port, seen):
        return []
    message = f"container {container.name} is on the host's network and nothing listens on port {one.port}"
    return [finding("port.nobody_inside", one.subject, message, _facts(container))]


def _unreachable(one: WantedPort, container: Standing, seen: Observed) -> list[Finding]:
    """Published by Docker's word: does it answer, and if not, who is to blame."""
    outside = seen.outside.get(one.port)
    if outside is None or _is_open(outside):
        return []
    inside = seen.inside.get(container.name)
    told = f"a connection to {outside.address}:{one.port} ends with {outside.outcome}"
    facts = {
        **_facts(container),
        "outside": f"{outside.outcome} ({outside.detail})",
        "inside": inside.outcome if inside else "not asked",
        "userland_proxy": seen.userland_proxy,
    }
    listens = bool(_listeners_of(one.port, seen))
    if inside is not None and not _is_open(inside) and (listens or seen.userland_proxy is not True):
        message = f"{told}: port {one.port} is published, and nobody listens inside {container.name} (yet)"
        return [finding("port.nobody_inside", one.subject, message, facts)]
    if seen.listeners is not None and not listens and seen.userland_proxy:
        message = f"{told}: Docker says published, and there is no {PROXY} for it"
        return [finding("port.no_listener", one.subject, message, facts)]
    message = f"{told}, while {container.name} answers inside" if _is_open(inside) else told
    return [finding("port.unreachable", one.subject, message, facts)]


def _is_open(made: Connect | None) -> bool:
    return made is not None and made.outcome == "open"


def _listeners_of(port: int, seen: Observed) -> list[Listener]:
    return [one for one in seen.listeners or () if one.port == port and one.protocol == "tcp"]


def _bindings(ports: Mapping[str, Sequence[str]]) -> list[tuple[str, int, int]]:
    """(address, host port, container port) of every TCP binding with a number."""
    found = []
    for inner, texts in ports.items():
        number, _slash, protocol = inner.partition("/")
        for text in texts:
            address, _colon, port = text.rpartition(":")
            if protocol in ("", "tcp") and port.isdigit() and number.isdigit():
                found.append((address, int(port), int(number)))
    return found


def _row(one: WantedPort, container: Standing | None, seen: Observed, ok: bool) -> PortRow:
    published = _bindings(container.published_ports) if container else []
    text = ", ".join(f"{address or '*'}:{port}->{inner}" for address, port, inner in published)
    listener = None if seen.listeners is None else next((x.process or "?" for x in _listeners_of(one.port, seen)), "")
    made = seen.outside.get(one.port)
    if container is not None and not container.has_own_ports:
        text = f"({container.network_mode} network)"
    return PortRow(one.seat, one.container, one.port, text, listener, made.outcome if made else "not asked", ok)


def _facts(container: Standing) -> dict[str, Any]:
    return {
        "container_id": container.short,
        "status": container.status,
        "health": container.health or "no health check",
        "wanted": {port: list(texts) for port, texts in container.wanted_ports.items()},
        "published": {port: list(texts) for port, texts in container.published_ports.items()},
        "networks": sorted(container.networks),
    }


__all__ = ["Observed", "PortRow", "WantedPort", "binding_finding", "joined_ports", "orphan_proxies", "port_findings"]
