"""VRAM per card: what is claimed, what fits, who may use a reserved card.

Capacity of a card is its total less what the driver keeps (640 MiB). Serving workloads always count. An on-demand
tenant is checked alone beside all serving ones: it never runs together with another tenant's claim as a promise,
and it steps aside for the seat it yields to. Dormant and retired workloads claim nothing.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ..declare.seat import Seat, VllmOptions
from ..findings import Finding, finding
from ..units import gib_text
from .claims import ClaimEstimate, vram_claim

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from ..declare.host import Gpu, Host, Reserve
    from ..declare.workload import Workload


@dataclass(frozen=True)
class Placed:
    """One workload of a host, as placement sees it."""

    stack: str
    name: str
    workload: Workload

    @property
    def subject(self) -> str:
        return f"{'seat' if isinstance(self.workload, Seat) else 'service'}:{self.name}"


@dataclass(frozen=True)
class CardClaim:
    """What one workload claims of one card; mib None: not known, `basis` says why or how it was counted."""

    workload: str
    stack: str
    state: str
    mib: float | None
    basis: str


@dataclass(frozen=True)
class CardBudget:
    """One card before and after the deployment; free_mib is what nvidia-smi measured, None where nobody did."""

    card: str
    total_mib: float
    driver_reserve_mib: float
    before: list[CardClaim]
    after: list[CardClaim]
    free_mib: float | None = None
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def capacity_mib(self) -> float:
        return self.total_mib - self.driver_reserve_mib

    @property
    def before_mib(self) -> float:
        return sum(claim.mib or 0.0 for claim in self.before)

    @property
    def after_mib(self) -> float:
        """Sum of all known claims after the deployment."""
        return sum(claim.mib or 0.0 for claim in self.after)

    def as_dict(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "capacity_mib": self.capacity_mib,
            "before_mib": self.before_mib,
            "after_mib": self.after_mib,
        }


def card_subject(host: Host, card: str) -> str:
    return f"host:{host.host}/gpu:{card}"


def is_full_size(claim: ClaimEstimate, reserve: Reserve | None) -> bool:
    """A claim that may take the whole reserved card."""
    return reserve is not None and claim.mib is not None and claim.mib >= reserve.full_size_from


def card_budgets(
    host: Host,
    placed: Collection[Placed],
    starting: Callable[[Placed], bool],
    running: Callable[[Placed], bool] | None = None,
    stays: Callable[[Placed], bool] | None = None,
    free_mib: dict[str, float | None] | None = None,
) -> list[CardBudget]:
    """Budgets of every card of `host`.

    starting: the workloads this deployment brings up. running: what runs now, where somebody looked. stays: what runs
    now and is not stopped. "Before" are the claims that stand already: what runs, and what serves for good and is not
    part of this deployment.
    """
    by_card = workloads_by_card(placed)

    def now(one: Placed) -> bool:
        return bool(running and running(one)) or (one.workload.state == "serving" and not starting(one))

    def then(one: Placed) -> bool:
        return one.workload.state == "serving" or starting(one) or bool(stays and stays(one))

    return [
        _budget(card, gpu, by_card.get(card, []), now, then, (free_mib or {}).get(card))
        for card, gpu in host.gpus.items()
    ]


def workloads_by_card(placed: Iterable[Placed]) -> dict[str, list[Placed]]:
    """Every workload that may ever run, under each card that it names."""
    by_card: dict[str, list[Placed]] = {}
    for one in placed:
        if one.workload.state in ("serving", "on_demand"):
            for card in dict.fromkeys(one.workload.gpus):
                by_card.setdefault(card, []).append(one)
    return by_card


def _budget(
    card: str,
    gpu: Gpu,
    placed: list[Placed],
    now: Callable[[Placed], bool],
    then: Callable[[Placed], bool],
    free_mib: float | None,
) -> CardBudget:
    before = [_card_claim(one, gpu) for one in placed if now(one)]
    after = [_card_claim(one, gpu) for one in placed if then(one)]
    return CardBudget(card, gpu.vram, gpu.driver_reserve, before, after, free_mib)


def _card_claim(one: Placed, gpu: Gpu) -> CardClaim:
    estimate = vram_claim(one.workload, gpu.vram)
    return CardClaim(one.name, one.stack, one.workload.state, estimate.mib, estimate.basis)


def placement_findings(host: Host, placed: Collection[Placed]) -> list[Finding]:
    """Everything that is wrong with the declared placement on `host`, whatever runs now."""
    by_card = workloads_by_card(placed)
    found = [problem for one in placed for problem in _claim_findings(host, one)]
    for card, gpu in host.gpus.items():
        found += _card_findings(host, card, gpu, by_card.get(card, []))
    return found


def _claim_findings(host: Host, one: Placed) -> list[Finding]:
    """Unknown cards, unknown claims and claims below what the engine takes, of one workload."""
    if one.workload.state not in ("serving", "on_demand"):
        return []
    missing = [card for card in one.workload.gpus if card not in host.gpus]
    if missing:
        known = ", ".join(f'"{card}"' for card in host.gpus) or "none"
        text = f"{one.name} names card {', '.join(missing)}; {host.host} has {known}"
        return [finding("vram.no_such_card", one.subject, text, {"stack": one.stack})]
    if not one.workload.gpus:
        return []
    card = one.workload.gpus[0]
    claim = vram_claim(one.workload, host.gpus[card].vram)
    if claim.mib is None:
        text = f"{one.name} runs on card {card} of {host.host} and nobody says what it takes: {claim.unknown['vram']}"
        return [finding("vram.claim_unknown", one.subject, text, {"stack": one.stack, **claim.unknown})]
    if claim.below_engine:
        text = (
            f"{one.name} claims {claim.declared_mib:,.0f} MiB of card {card}, but its engine options come to "
            f"{claim.basis}; the larger is counted"
        )
        return [finding("vram.claim_too_small", one.subject, text, {"stack": one.stack})]
    return []


def _card_findings(host: Host, card: str, gpu: Gpu, placed: list[Placed]) -> list[Finding]:
    claims = [(one, vram_claim(one.workload, gpu.vram)) for one in placed]
    serving = [(one, claim) for one, claim in claims if one.workload.state == "serving"]
    tenants = [(one, claim) for one, claim in claims if one.workload.state == "on_demand"]
    found = [problem for one, claim in claims for problem in _reserve_findings(host, card, gpu.reserve, one, claim)]
    found += _utilisation_findings(host, card, gpu, serving)
    text = over_card_text(host, card, gpu, [(one.name, claim.mib) for one, claim in serving])
    if text is not None:
        found.append(finding("vram.overcommitted", card_subject(host, card), text, _claims_evidence(serving)))
    for one, claim in tenants if text is None else ():
        beside = [pair for pair in serving if not yields_to(one.workload, pair[0].name, pair[1], gpu.reserve)]
        named = [(other.name, its.mib) for other, its in beside] + [(one.name, claim.mib)]
        over = over_card_text(host, card, gpu, named)
        if over is not None:
            found.append(
                finding("vram.tenant_does_not_fit", one.subject, over, _claims_evidence([*beside, (one, claim)]))
            )
        found += _tenant_findings(host, card, gpu, one, serving)
    return found


def _utilisation_findings(
    host: Host, card: str, gpu: Gpu, serving: list[tuple[Placed, ClaimEstimate]]
) -> list[Finding]:
    """Pinned seats whose declared utilisation wants more free at start than the others leave."""
    found = []
    for one, _ in serving:
        options = one.workload.vllm if isinstance(one.workload, Seat) else None
        if options is None or options.kv_cache_memory is None or options.gpu_memory_utilization is None:
            continue
        share, wanted = options.gpu_memory_utilization, options.gpu_memory_utilization * gpu.vram
        left = gpu.vram - gpu.driver_reserve - sum(claim.mib or 0.0 for other, claim in serving if other is not one)
        if wanted > left:
            text = (
                f"{one.name} pins its KV cache and still wants {share:g} x {gpu.vram:,.0f} = {wanted:,.0f} MiB free at "
                f"start; card {card} of {host.host} has {left:,.0f} MiB left for it"
            )
            found.append(finding("vram.utilisation_over_share", one.subject, text, {"stack": one.stack}))
    return found


def _claims_evidence(claims: Iterable[tuple[Placed, ClaimEstimate]]) -> dict[str, str]:
    return {one.name: claim.basis for one, claim in claims}


_ROUNDING_MIB = 1e-6
"""Sums of broken sizes (5.1GB) miss by parts of a byte; a card that is exactly full holds what is on it."""


def over_card_text(host: Host, card: str, gpu: Gpu, claims: list[tuple[str, float | None]]) -> str | None:
    """The arithmetic of a card that does not hold `claims`; None where it does. Unknown claims are left out."""
    known = [(name, mib) for name, mib in claims if mib is not None]
    capacity, wanted = gpu.vram - gpu.driver_reserve, sum(mib for _, mib in known)
    if wanted <= capacity + _ROUNDING_MIB:
        return None
    terms = " + ".join(f"{name} {_mib_text(mib)}" for name, mib in known)
    equals = f" = {_mib_text(wanted)}" if len(known) > 1 else ""
    return (
        f"card {card} of {host.host}: {_mib_text(gpu.vram)} MiB - {_mib_text(gpu.driver_reserve)} driver reserve = "
        f"{_mib_text(capacity)}; {terms}{equals}; over by {_mib_text(wanted - capacity)} MiB"
    )


def _mib_text(mib: float) -> str:
    """Whole MiB without decimals; a broken size with the decimals that keep the sum of a line true."""
    return f"{mib:,.0f}" if math.isclose(mib, round(mib), abs_tol=1e-6) else f"{mib:,.3f}"


def yields_to(tenant: Workload, seat: str, claim: ClaimEstimate, reserve: Reserve | None) -> bool:
    """`tenant` is down while `seat` runs on its card."""
    if tenant.on_demand is None:
        return False
    wanted = tenant.on_demand.yields_to
    return wanted == seat or (wanted == "full-size" and is_full_size(claim, reserve))


def _reserve_findings(
    host: Host, card: str, reserve: Reserve | None, one: Placed, claim: ClaimEstimate
) -> list[Finding]:
    if reserve is None or claim.mib is None or is_full_size(claim, reserve):
        return []
    size = gib_text(reserve.full_size_from)
    rule = f"card {card} of {host.host} is kept for a seat of {size} or more ({reserve.reason})"
    subject = one.subject
    if one.workload.state == "serving":
        text = f"{one.name} claims {gib_text(claim.mib)} and serves for good, but {rule}"
        return [finding("vram.reserved", subject, text, {"card": card, "stack": one.stack})]
    if reserve.tenants == "none":
        return [finding("vram.reserved", subject, f"{one.name} is a tenant, but {rule} and takes no tenants")]
    if one.workload.on_demand is None:
        text = f"{one.name} uses a reserved card without saying to whom it yields: {rule}"
        return [finding("vram.tenant_undeclared", subject, text)]
    return []


def _tenant_findings(
    host: Host, card: str, gpu: Gpu, one: Placed, serving: list[tuple[Placed, ClaimEstimate]]
) -> list[Finding]:
    """A tenant beside a seat that sizes itself by total, and a tenant whose card is taken for good."""
    found = []
    for other, claim in serving:
        if yields_to(one.workload, other.name, claim, gpu.reserve):
            text = (
                f"{one.name} stays down: {other.name} serves on card {card} of {host.host} and {one.name} yields to it"
            )
            found.append(finding("vram.tenant_displaced", one.subject, text))
        elif sizes_by_total(other.workload):
            text = (
                f"{one.name} shares card {card} of {host.host} with {other.name}, which sizes its KV cache by the "
                f"card's total, not by what is free: {other.name} may refuse to start while {one.name} runs"
            )
            found.append(finding("vram.total_sized_neighbour", one.subject, text))
    return found


def sizes_by_total(workload: Workload) -> bool:
    """A vLLM seat that takes utilisation x total: it profiles at start and counts on the rest staying free."""
    if not isinstance(workload, Seat) or workload.engine != "vllm" or not workload.gpus:
        return False
    return (workload.vllm or VllmOptions()).kv_cache_memory is None
