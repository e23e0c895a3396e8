"""Ports of a host: declared once, held by nobody else."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..declare.seat import Seat
from ..findings import Finding, finding
from .names import container_name, project_aliases, project_name
from .vllm_options import LLAMACPP_PORT, VLLM_PORT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ..declare.host import Host
    from ..declare.stack import Stack
    from ..declare.workload import Workload
    from .observed import Listener, Observed, ObservedContainer
    from .placement import Placed

_ANY = ("", "0.0.0.0", "::", "*")


@dataclass(frozen=True)
class HostPort:
    """One published port; address empty: all addresses."""

    port: int
    protocol: str
    address: str

    def meets(self, port: int, protocol: str, address: str) -> bool:
        """Both cannot be bound at once."""
        if (self.port, self.protocol) != (port, protocol):
            return False
        return self.address in _ANY or address in _ANY or self.address == address

    @property
    def text(self) -> str:
        return str(self.port) if self.protocol == "tcp" else f"{self.port}/{self.protocol}"


def ports_of(workload: Workload) -> list[HostPort]:
    """Ports that the workload takes on its host; none of its own with host networking unless a seat names one."""
    found = [HostPort(workload.port, "tcp", "")] if isinstance(workload, Seat) and workload.port else []
    return found + [HostPort(one.host, one.protocol, one.address or "") for one in workload.ports]


def listening_port(workload: Workload) -> int | None:
    """The port that the workload's program listens on: in its container, or on the host with host networking."""
    if not isinstance(workload, Seat):
        return workload.ports[0].container if workload.ports else None
    if workload.container_port is not None or workload.network_mode == "host":
        return workload.container_port or workload.port
    return {"vllm": VLLM_PORT, "llamacpp": LLAMACPP_PORT}.get(workload.engine, workload.port)


def link_port(workload: Workload) -> int | None:
    """The port of the host that a dashboard link and a check go to; None where the workload has none."""
    ports = ports_of(workload)
    return ports[0].port if ports else None


def port_findings(host: Host, placed: Collection[Placed]) -> list[Finding]:
    """Ports declared twice among workloads that may run, and ports of the host's held list."""
    takers: dict[tuple[int, str], list[tuple[HostPort, Placed]]] = defaultdict(list)
    for one in placed:
        if one.workload.state in ("serving", "on_demand"):
            for port in ports_of(one.workload):
                takers[port.port, port.protocol].append((port, one))
    found = []
    for (number, protocol), group in takers.items():
        found += _declared_twice(host, group)
        holders = {"sshd (ssh_port)": host.ssh_port, **{f"{k} (held_ports)": v for k, v in host.held_ports.items()}}
        holder = next((name for name, held in holders.items() if held == number and protocol == "tcp"), None)
        if holder is not None:
            names = ", ".join(one.name for _, one in group)
            text = f"port {number} of {host.host} is held by {holder}, and {names} declares it"
            found.append(finding("port.held", f"port:{number}", text, _concerns(one for _, one in group)))
    return found


def _declared_twice(host: Host, group: list[tuple[HostPort, Placed]]) -> list[Finding]:
    for index, (port, one) in enumerate(group):
        for other_port, other in group[:index]:
            if port.meets(other_port.port, other_port.protocol, other_port.address):
                text = f"port {port.text} of {host.host} is declared by {other.name} ({other.stack}) and {one.name}"
                return [finding("port.declared_twice", f"port:{port.port}", text, _concerns((other, one)))]
    return []


def _concerns(placed: Iterable[Placed]) -> dict[str, list[str]]:
    return {"concerns": [one.subject for one in placed]}


def taken_port_findings(
    stack: Stack, starting: Iterable[str], observed: Observed, leaving: frozenset[str] = frozenset()
) -> list[Finding]:
    """Ports of the workloads `starting` that somebody else holds on the host now.

    leaving: containers that this deployment stops first.
    """
    found = []
    for name in starting:
        workload = stack.workloads[name]
        for port in ports_of(workload):
            problem = _holder_text(stack, name, workload, port, observed, leaving)
            if problem is not None:
                code, text, remedy = problem
                kind = "seat" if isinstance(workload, Seat) else "service"
                facts = {"port": port.port, "stack": stack.stack}
                found.append(finding(code, f"{kind}:{name}", text, facts, remedy))
    return found


def _holder_text(
    stack: Stack, name: str, workload: Workload, port: HostPort, observed: Observed, leaving: frozenset[str]
) -> tuple[str, str, str] | None:
    """Code, text and remedy (empty: the code's own) of what stands in the way."""
    wants = f"{name} wants port {port.text}"
    publishers = [one for one in observed.containers if one.running and _publishes(one, port)]
    strangers = [one for one in publishers if not is_own(one, stack, name, workload) and one.name not in leaving]
    if strangers:
        first = strangers[0]
        whose = f" of Compose project {first.project}" if first.project else ""
        return "port.taken", f"{wants}, and container {first.name}{whose} publishes it", _moved(first, stack)
    if publishers:
        return None
    listeners = [one for one in observed.listeners if port.meets(one.port, one.protocol, one.address)]
    if not listeners or _host_network_own(stack, name, workload, observed):
        return None
    return _listener_text(wants, listeners[0])


def _moved(holder: ObservedContainer, stack: Stack) -> str:
    if holder.stack_label in (None, stack.stack):
        return ""
    return (
        f"If it moved here from stack {holder.stack_label}, deploy both in one run: ansible-playbook deploy-seat.yml "
        f"-e seat={holder.stack_label},{stack.stack}; otherwise choose another port."
    )


def _listener_text(wants: str, listener: Listener) -> tuple[str, str, str]:
    if listener.process == "docker-proxy":
        return "port.orphan_proxy", f"{wants}, held by a docker-proxy that belongs to no running container", ""
    who = f"{listener.process} (pid {listener.pid})" if listener.process else "a process that ss does not name"
    return "port.taken", f"{wants}, and {who} listens on it", ""


def _publishes(container: ObservedContainer, port: HostPort) -> bool:
    return any(port.meets(number, protocol, address) for number, protocol, address in container.ports)


def is_own(container: ObservedContainer, stack: Stack, name: str, workload: Workload) -> bool:
    """`container` is this workload's own: by our label, or by Compose project (any spelling) and service."""
    if container.stack_label is not None:
        return container.stack_label == stack.stack and container.workload_label == name
    projects = {project_name(stack), *project_aliases(stack)}
    if container.project is None:
        return False
    return container.project in projects and (
        container.service == name or container.name == container_name(name, workload)
    )


def _host_network_own(stack: Stack, name: str, workload: Workload, observed: Observed) -> bool:
    """With host networking the listener is the container's own program: there is nothing published to compare."""
    return workload.network_mode == "host" and any(
        one.running and is_own(one, stack, name, workload) for one in observed.containers
    )
