"""What a seat takes on its cards, and the refusals of vLLM that come from it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

MIB = 2**20
GIB = 2**30
DEFAULT_UTILIZATION = 0.92
UNKNOWN_WEIGHTS_MIB = 8192
UNKNOWN_WEIGHTS_SHARE = 0.6
"""Of what the engine may take, where the model folder tells no size."""
ACTIVATION_MIB = 1690
"""Profiled activation peak and CUDA context of one big seat; a fixed figure is enough for a simulator."""
DEFAULT_KV_BYTES_PER_TOKEN = 26812


class StartError(Exception):
    """vLLM ends while it starts. text: the root cause's line, with the exception's class."""


@dataclass(frozen=True)
class ModelFacts:
    """What a model folder says about the model. From ``gpu-sim.json`` in it; a real checkpoint's index serves too."""

    weights_mib: int | None = None
    shards: int = 4
    kv_bytes_per_token: float | None = None
    has_engram: bool = True
    context: int = 32768
    architectures: tuple[str, ...] = ()


def read_json(path: Path) -> dict[str, object]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def model_facts(folder: Path) -> ModelFacts:
    config = read_json(folder / "config.json")
    index = read_json(folder / "model.safetensors.index.json")
    facts = read_json(folder / "gpu-sim.json")
    text_config = config.get("text_config")
    texts = text_config if isinstance(text_config, dict) else config
    total = index.get("metadata", {}).get("total_size")  # type: ignore[attr-defined]
    weights = os.environ.get("SIM_WEIGHTS_MIB") or facts.get("weights_mib")
    if weights is None and total:
        weights = float(total) / MIB
    per_token = facts.get("kv_bytes_per_token")
    return ModelFacts(
        weights_mib=None if weights is None else int(float(weights)),  # type: ignore[arg-type]
        shards=int(facts.get("shards", 4)),  # type: ignore[call-overload]
        kv_bytes_per_token=None if per_token is None else float(per_token),  # type: ignore[arg-type]
        has_engram=bool(facts.get("engram", True)),
        context=int(texts.get("max_position_embeddings", 32768)),
        architectures=tuple(config.get("architectures", ())),  # type: ignore[arg-type]
    )


@dataclass(frozen=True)
class MemoryPlan:
    """MiB on one card: what is claimed, and the bytes and tokens of the KV cache in it."""

    claim_mib: int
    weights_mib: int
    kv_bytes: int
    kv_tokens: int


def gib(mib: float) -> str:
    return f"{mib / 1024:.2f}"


def plan_memory(
    facts: ModelFacts,
    total_mib: int,
    free_mib: int,
    utilization: float,
    kv_bytes: int | None,
    max_model_len: int,
    cards: int = 1,
) -> MemoryPlan:
    """What the engine claims on each of `cards`. Raises StartError with vLLM's words when it doesn't fit.

    Without `kv_bytes` the engine takes utilization x total. With it, profiling is skipped and weights, KV cache and
    activations are taken; the check of free memory against utilization x total stays.
    """
    wanted = total_mib * utilization
    if free_mib < wanted:
        raise StartError(
            f"ValueError: Free memory on device cuda:0 ({gib(free_mib)}/{gib(total_mib)} GiB) on startup is less than "
            f"desired GPU memory utilization ({utilization}, {gib(wanted)} GiB). Decrease GPU memory utilization or "
            "reduce GPU memory used by other processes."
        )
    activations = min(ACTIVATION_MIB, int(wanted * 0.1)) if kv_bytes is None else ACTIVATION_MIB
    weights = weights_on_card(facts, wanted if kv_bytes is None else None, cards)
    if weights > free_mib:
        raise out_of_memory(total_mib, 0, weights)
    if kv_bytes is None:
        kv_bytes = int((wanted - weights - activations) * MIB)
        claim = int(wanted)
        if kv_bytes <= 0:
            raise StartError(
                "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when "
                "initializing the engine."
            )
    else:
        claim = weights + activations + kv_bytes // MIB
        if claim > free_mib:
            raise out_of_memory(total_mib, max(free_mib - weights, 0), kv_bytes // MIB)
    # a size that nobody told must not refuse a start
    per_token = facts.kv_bytes_per_token or min(DEFAULT_KV_BYTES_PER_TOKEN, kv_bytes / max_model_len / 1.5)
    tokens = int(kv_bytes / (per_token / cards))
    if tokens < max_model_len:
        needed = max_model_len * per_token / cards / GIB
        raise StartError(
            f"ValueError: To serve at least one request with the model's max seq len ({max_model_len}), {needed:.2f} "
            f"GiB KV cache is needed, which is larger than the available KV cache memory ({kv_bytes / GIB:.2f} GiB). "
            f"Based on the available memory, the estimated maximum model length is {tokens}. Try increasing "
            "`gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine."
        )
    return MemoryPlan(claim, weights, kv_bytes, tokens)


def weights_on_card(facts: ModelFacts, budget_mib: float | None, cards: int) -> int:
    """MiB of weights on each card: told by the model folder, else a share of the budget, else a fixed size."""
    if facts.weights_mib is not None:
        return facts.weights_mib // cards
    return UNKNOWN_WEIGHTS_MIB if budget_mib is None else int(budget_mib * UNKNOWN_WEIGHTS_SHARE)


def out_of_memory(total_mib: int, free_mib: float, wanted_mib: float) -> StartError:
    used = total_mib - free_mib
    return StartError(
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {gib(wanted_mib)} GiB. GPU 0 has a total "
        f"capacity of {gib(total_mib)} GiB of which {gib(free_mib)} GiB is free. Including non-PyTorch memory, this "
        f"process has {gib(used)} GiB memory in use. Of the allocated memory {gib(used * 0.98)} GiB is allocated by "
        "PyTorch, and 112.00 MiB is reserved by PyTorch but unallocated."
    )
