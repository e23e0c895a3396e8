"""Host RAM: what seats claim of it, with pinned n-gram tables rounded up as the allocator does."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..declare.seat import Seat
from ..findings import Finding, finding
from ..units import gib_text

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..declare.host import Host
    from ..declare.workload import Workload
    from .placement import Placed

SHOWN_SHARE = 0.9
"""The kernel and firmware keep a few percent of the declared RAM; below this share something else is wrong."""


@dataclass(frozen=True)
class RamClaim:
    """What one workload takes of host RAM; mib None: not declared."""

    workload: str
    mib: float | None


@dataclass(frozen=True)
class RamBudget:
    """Host RAM after the deployment; total_mib and available_mib None where nobody declared or measured them."""

    total_mib: float | None
    reserve_mib: float
    claims: list[RamClaim]
    available_mib: float | None = None

    @property
    def claimed_mib(self) -> float:
        return sum(claim.mib or 0.0 for claim in self.claims)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "claimed_mib": self.claimed_mib}


def pinned_mib(mib: float) -> float:
    """What a pinned table of `mib` takes: the next power of two (47.7 GiB takes 64 GiB)."""
    return 2.0 ** math.ceil(math.log2(mib)) if mib > 0 else 0.0


def pinned_table_mib(workload: Workload) -> float | None:
    """Size in RAM of the workload's pinned n-gram table; None where it pins none or its size is not declared."""
    engram = workload.vllm.engram if isinstance(workload, Seat) and workload.vllm else None
    if engram is None or not engram.cpu_offload or engram.table is None:
        return None
    return pinned_mib(engram.table)


def host_ram_claim(workload: Workload) -> float | None:
    """The larger of the declared claim and the pinned table; None where neither is known."""
    known = [mib for mib in (workload.claim.host_ram, pinned_table_mib(workload)) if mib is not None]
    return max(known, default=None)


def ram_budget(host: Host, after: Collection[Placed], available_mib: float | None = None) -> RamBudget:
    """Claims of the workloads that run after the deployment; those that declare nothing are listed as unknown."""
    claims = [RamClaim(one.name, host_ram_claim(one.workload)) for one in after]
    return RamBudget(host.ram, host.ram_reserve, claims, available_mib)


def ram_findings(host: Host, placed: Collection[Placed]) -> list[Finding]:
    """What is wrong with the declared claims on host RAM."""
    found = [problem for one in placed if one.workload.state in ("serving", "on_demand") for problem in _of_one(one)]
    budget = ram_budget(host, [one for one in placed if one.workload.state == "serving"])
    if budget.total_mib is not None and budget.claimed_mib > budget.total_mib - budget.reserve_mib:
        known = [claim for claim in budget.claims if claim.mib is not None]
        terms = " + ".join(f"{claim.workload} {gib_text(claim.mib or 0)}" for claim in known)
        left = budget.total_mib - budget.reserve_mib
        text = (
            f"{host.host} has {gib_text(budget.total_mib)} - {gib_text(budget.reserve_mib)} reserve = "
            f"{gib_text(left)}; {terms} = {gib_text(budget.claimed_mib)}; over by {gib_text(budget.claimed_mib - left)}"
        )
        found.append(finding("ram.overcommitted", f"host:{host.host}", text))
    return found


def free_ram_findings(
    host: Host, starting: Collection[Placed], total_mib: float | None, available_mib: float | None
) -> list[Finding]:
    """Claims of the workloads that start anew against what is available now; None: nobody measured it.

    A host that shows clearly less RAM than it declares says nothing about the declared one.
    """
    claims = {one.name: mib for one in starting if (mib := host_ram_claim(one.workload)) is not None}
    if not claims or available_mib is None:
        return []
    if total_mib is not None and host.ram is not None and total_mib < host.ram * SHOWN_SHARE:
        text = f"{host.host} shows {gib_text(total_mib)} of RAM and declares {gib_text(host.ram)}"
        return [finding("ram.other_than_declared", f"host:{host.host}", text)]
    wanted = sum(claims.values())
    if wanted <= available_mib:
        return []
    terms = " + ".join(f"{name} {gib_text(mib)}" for name, mib in claims.items())
    text = (
        f"{host.host} has {gib_text(available_mib)} of RAM available; {terms} = {gib_text(wanted)}; "
        f"{gib_text(wanted - available_mib)} are missing"
    )
    return [finding("ram.not_enough_free", f"host:{host.host}", text)]


def _of_one(one: Placed) -> list[Finding]:
    engram = one.workload.vllm.engram if isinstance(one.workload, Seat) and one.workload.vllm else None
    if engram is None or not engram.cpu_offload:
        return []
    table, declared = pinned_table_mib(one.workload), one.workload.claim.host_ram
    if table is None and declared is None:
        text = f"{one.name} pins an n-gram table in host RAM, and neither its size nor claim.host_ram is declared"
        return [finding("ram.claim_unknown", one.subject, text, {"stack": one.stack})]
    if table is not None and declared is not None and declared < table:
        text = (
            f"{one.name} claims {gib_text(declared)} of host RAM, but its table of {gib_text(engram.table or 0)} "
            f"takes {gib_text(table)} once pinned"
        )
        return [finding("ram.claim_too_small", one.subject, text, {"stack": one.stack})]
    return []
