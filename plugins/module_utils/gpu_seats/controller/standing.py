"""How a workload stands on its host when nothing is done to it: the state it declares beside the container it has."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ..findings import Finding, finding

_ALIVE = ("running", "restarting", "paused")


@dataclass(frozen=True)
class Standing:
    """text: for the table. findings: where container and declaration say different things."""

    text: str
    findings: tuple[Finding, ...] = ()


def standing_of(seat: str, state: str, container: Mapping[str, Any] | None) -> Standing:
    """The standing of a workload in `state` with the container `host_info` saw for it (None: there is none).

    A serving workload is judged by seat_ready; here it is only said whether it has a container.
    """
    status = str(container["status"]) if container else None
    runs = status in _ALIVE
    if state == "dormant":
        return _dormant(seat, status, runs)
    if state == "retired":
        return _retired(seat, status)
    if state == "on_demand":
        return Standing("runs, on demand" if runs else "down, on demand")
    return Standing(f"container is {status}" if status else "no container")


def _dormant(seat: str, status: str | None, runs: bool) -> Standing:
    if not runs:
        return Standing("dormant, as declared")
    text = f"{seat} is declared dormant and its container is {status}"
    return Standing("runs although dormant", (finding("seat.dormant_runs", f"seat:{seat}", text),))


def _retired(seat: str, status: str | None) -> Standing:
    if status is None:
        return Standing("retired, gone")
    text = f"{seat} is declared retired and its container still exists ({status})"
    return Standing("still there although retired", (finding("seat.retired_remains", f"seat:{seat}", text),))


def undeclared_findings(observed: Mapping[str, Any], declared: Collection[str]) -> list[Finding]:
    """Containers that this project made from stacks that are declared no more. declared: names of all stacks."""
    found = []
    for name, container in sorted((containers_by_name(observed) or {}).items()):
        stack = (container.get("labels") or {}).get("gpu-seats.stack")
        if stack is not None and stack not in declared:
            text = f"container {name} ({container['status']}) was made from stack {stack}, which is declared no more"
            found.append(finding("seat.undeclared", f"container:{name}", text, {"stack": stack}))
    return found


def containers_by_name(observed: Mapping[str, Any]) -> dict[str, Mapping[str, Any]] | None:
    """Containers of a `host_info` result by name; None where Docker did not answer."""
    containers = (observed.get("docker") or {}).get("containers")
    return None if containers is None else {str(one["name"]): one for one in containers}
