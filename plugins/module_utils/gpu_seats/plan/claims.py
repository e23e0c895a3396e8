"""What a workload takes at its peak on each of its cards, from what was declared.

vLLM takes `gpu_memory_utilization` x the card's TOTAL memory (not of what is free; its default is 0.92), or, with
pinned KV bytes, KV + weights + activation peak. A claim that cannot be known is None with a reason, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..declare.seat import Seat, VllmOptions

if TYPE_CHECKING:
    from ..declare.workload import Workload

VLLM_DEFAULT_UTILISATION = 0.92
"""vLLM's own default of --gpu-memory-utilization (0.28 to 0.33)."""


@dataclass(frozen=True)
class ClaimEstimate:
    """One workload's claim on one card.

    mib: what placement counts, None where nothing says it. declared_mib: the operator's word. engine_mib: what the
    engine's options come to; `lower_bound` tells that a part of it is not known. basis: the arithmetic as text.
    """

    mib: float | None
    basis: str
    declared_mib: float | None = None
    engine_mib: float | None = None
    lower_bound: bool = False
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def below_engine(self) -> bool:
        """The declared claim is less than what the engine will take."""
        return (
            self.declared_mib is not None and self.engine_mib is not None and self.declared_mib + 0.5 < self.engine_mib
        )


def vram_claim(workload: Workload, card_total_mib: float) -> ClaimEstimate:
    """What `workload` takes on each of its cards of `card_total_mib`; 0 for one that names no card."""
    if not workload.gpus:
        return ClaimEstimate(0.0, "no card")
    declared = workload.claim.vram
    engine_mib, basis, lower_bound, unknown = _engine_claim(workload, card_total_mib)
    if declared is not None:
        larger = max(declared, engine_mib or 0.0)
        text = f"declared {declared:,.0f} MiB" if larger == declared else basis
        return ClaimEstimate(larger, text, declared, engine_mib, lower_bound, unknown)
    if engine_mib is None or lower_bound:
        reason = "; ".join(unknown.values()) or "neither claim.vram nor the engine's options say it"
        return ClaimEstimate(None, basis or "unknown", None, engine_mib, lower_bound, {"vram": reason, **unknown})
    return ClaimEstimate(engine_mib, basis, None, engine_mib)


def _engine_claim(workload: Workload, total_mib: float) -> tuple[float | None, str, bool, dict[str, str]]:
    """(MiB, arithmetic, is a lower bound, unknown parts) of the engine's own options."""
    if not isinstance(workload, Seat) or workload.engine != "vllm":
        return None, "", False, {}
    options = workload.vllm or VllmOptions()
    if options.kv_cache_memory is not None:
        return _pinned_claim(workload, options.kv_cache_memory, options)
    utilisation = options.gpu_memory_utilization
    share = VLLM_DEFAULT_UTILISATION if utilisation is None else utilisation
    source = "vLLM's default utilisation" if utilisation is None else "utilisation"
    return share * total_mib, f"{source} {share:g} x {total_mib:,.0f} MiB = {share * total_mib:,.0f} MiB", False, {}


def _pinned_claim(seat: Seat, kv_mib: float, options: VllmOptions) -> tuple[float | None, str, bool, dict[str, str]]:
    parts = {"pinned KV": kv_mib, "weights": seat.model.weights, "activation peak": options.activation_peak}
    known = {name: mib for name, mib in parts.items() if mib is not None}
    unknown = {
        name.replace(
            " ", "_"
        ): f"{name} not declared ({'model.weights' if name == 'weights' else 'vllm.activation_peak'})"
        for name, mib in parts.items()
        if mib is None
    }
    total = sum(known.values())
    basis = " + ".join(f"{name} {mib:,.0f}" for name, mib in known.items()) + f" = {total:,.0f} MiB"
    return total, basis, bool(unknown), unknown
