"""Every declared host checked without a connection: what ``gpu-seats lint`` prints."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ..findings import Finding, by_severity, finding
from .gpus import index_keyed_findings
from .host_ram import ram_findings
from .names import project_name
from .placement import Placed, placement_findings
from .ports import port_findings
from .seat_rules import seat_findings, tile_findings
from .tenants import landing_findings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..declare.fleet import Fleet
    from ..declare.host import Host
    from ..declare.stack import Stack


def placed_on(fleet: Fleet, host_name: str) -> list[Placed]:
    """Every workload of one host."""
    return [Placed(stack.stack, name, workload) for stack, name, workload in fleet.workloads(host_name)]


def plan_fleet(fleet: Fleet) -> list[Finding]:
    """Everything that the declarations alone show to be wrong, most severe first."""
    found = [problem for name in fleet.hosts for problem in host_findings(fleet, name, placed_on(fleet, name))]
    every = [Placed(stack.stack, name, workload) for stack, name, workload in fleet.workloads()]
    return by_severity([*found, *tile_findings(every)])


def host_findings(fleet: Fleet, host_name: str, placed: list[Placed]) -> list[Finding]:
    """What is wrong with the declarations of one host."""
    host = fleet.hosts[host_name]
    used = {card for one in placed if one.workload.state in ("serving", "on_demand") for card in one.workload.gpus}
    return [
        *(problem for one in placed for problem in seat_findings(one)),
        *placement_findings(host, placed),
        *ram_findings(host, placed),
        *port_findings(host, placed),
        *project_findings(host, fleet.stacks_of(host_name).values()),
        *index_keyed_findings(host, used),
        *landing_findings(fleet, placed),
    ]


def project_findings(host: Host, stacks: Iterable[Stack]) -> list[Finding]:
    """Stacks of one host that would be one Compose project."""
    by_project: dict[str, list[str]] = defaultdict(list)
    for stack in stacks:
        if any(workload.state != "retired" for workload in stack.workloads.values()):
            by_project[project_name(stack)].append(stack.stack)
    return [
        finding(
            "stack.project_collision",
            f"stack:{names[-1]}",
            f"stacks {' and '.join(names)} of {host.host} would both be Compose project {project}",
            {"project": project, "concerns": [f"stack:{name}" for name in names]},
        )
        for project, names in by_project.items()
        if len(names) > 1
    ]
