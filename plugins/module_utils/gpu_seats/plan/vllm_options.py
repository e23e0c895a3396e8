"""What a vLLM seat is told where the operator left it open."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..declare.seat import VllmOptions
from .claims import vram_claim

if TYPE_CHECKING:
    from ..declare.seat import Seat

VLLM_PORT = 8000
"""Where vLLM listens unless told otherwise."""
LLAMACPP_PORT = 8080
"""Where llama-server listens unless told otherwise."""
POOLING_TASKS = frozenset({"embedding", "rerank", "reward"})


def runner_of(seat: Seat) -> str | None:
    """The declared runner; embedding, rerank and reward seats pool unless told otherwise."""
    declared = (seat.vllm or VllmOptions()).runner
    return declared or ("pooling" if seat.task in POOLING_TASKS else None)


def tensor_parallel_of(seat: Seat) -> int | None:
    """The declared tensor parallel size; one worker a card where several cards are named and nothing else is said."""
    options = seat.vllm or VllmOptions()
    if options.tensor_parallel_size is not None:
        return options.tensor_parallel_size
    spread_otherwise = {"pipeline-parallel-size", "data-parallel-size"} & set(options.flags)
    return len(seat.gpus) if len(seat.gpus) > 1 and not spread_otherwise else None


def utilisation_of(seat: Seat, card_total_mib: float | None) -> float | None:
    """The declared utilisation; with pinned KV bytes and none declared, the weights' share of the card, rounded down.

    Pinned KV bytes make vLLM ignore the utilisation for sizing, but start-up still refuses when less than total x
    utilisation is free (default 0.92), on a shared card too. The weights are the least that must be free for the seat
    to load at all; planning has counted the rest. Where the weights are not declared: the claim without the KV bytes.
    """
    options = seat.vllm or VllmOptions()
    if options.gpu_memory_utilization is not None or options.kv_cache_memory is None or not card_total_mib:
        return options.gpu_memory_utilization
    claim_mib = vram_claim(seat, card_total_mib).mib
    if seat.model.weights is None and claim_mib is None:
        return None
    needed_mib = seat.model.weights or (claim_mib or 0.0) - options.kv_cache_memory
    return min(max(math.floor(needed_mib / card_total_mib * 100) / 100, 0.01), 1.0)
