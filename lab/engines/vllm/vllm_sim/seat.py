"""Settings of one simulated seat, taken from parsed flags and the model folder."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, field
from pathlib import Path

from openai_api.server import CLASSIFY, EMBED, GENERATE, TRANSCRIBE

from .memory import DEFAULT_UTILIZATION, ModelFacts, StartError, model_facts

ENGRAM_NEEDS_LAYERS = "EngramConfig requires a model with supported Engram embeddings and non-empty n-gram layer ids."
AUDIO_WORDS = ("whisper", "parakeet", "voxtral", "asr", "stt")
EMBED_WORDS = ("embed",)
CLASSIFY_WORDS = ("rerank", "reward", "classif", "score")


@dataclass(frozen=True)
class Seat:
    model: str
    names: list[str]
    host: str
    port: int
    context: int
    utilization: float
    kv_bytes: int | None
    cards: int
    facts: ModelFacts
    tasks: set[str]
    speculative_tokens: int
    api_keys: list[str] = field(default_factory=list, repr=False)


def invalid(kind: str, reason: str) -> StartError:
    """How pydantic words a refused configuration."""
    return StartError(
        f"pydantic_core._pydantic_core.ValidationError: 1 validation error for {kind}\n  Value error, {reason}"
    )


def seat_of(options: argparse.Namespace) -> Seat:
    """The seat for these flags; raises StartError where vLLM's configuration refuses them."""
    model = options.model_tag or getattr(options, "model", None) or "Qwen/Qwen3-0.6B"
    if model.startswith("/") and not Path(model).exists():
        raise invalid("ModelConfig", f"Invalid repository ID or local directory specified: '{model}'.")
    facts = model_facts(Path(model))
    if getattr(options, "engram_config", None) and not facts.has_engram:
        raise invalid("VllmConfig", ENGRAM_NEEDS_LAYERS)
    utilization = DEFAULT_UTILIZATION if options.gpu_memory_utilization is None else options.gpu_memory_utilization
    if not 0 < utilization <= 1:
        raise invalid("CacheConfig", f"GPU memory utilization must be less than 1.0. Got {utilization}.")
    context = options.max_model_len if options.max_model_len not in (None, -1) else facts.context
    if (
        Path(model, "config.json").exists()
        and facts.architectures[:1] != ("StandInForCausalLM",)
        and context > facts.context
    ):
        raise invalid(
            "ModelConfig",
            f"User-specified max_model_len ({context}) is greater than the derived max_model_len "
            f"(max_position_embeddings={facts.context} or model_max_length=None in model's config.json).",
        )
    speculative = getattr(options, "speculative_config", None) or {}
    return Seat(
        model=model,
        names=options.served_model_name or [model],
        host=options.host or "0.0.0.0",
        port=options.port or 8000,
        context=context,
        utilization=utilization,
        kv_bytes=options.kv_cache_memory_bytes,
        cards=options.tensor_parallel_size or 1,
        facts=facts,
        tasks=tasks_of(options, model, facts),
        speculative_tokens=int(speculative.get("num_speculative_tokens", 0)),
        api_keys=options.api_key or [key for key in [os.environ.get("VLLM_API_KEY", "")] if key],
    )


def tasks_of(options: argparse.Namespace, model: str, facts: ModelFacts) -> set[str]:
    """Which routes the engine has. The model's name decides where flags and architecture don't."""
    name = " ".join([Path(model).name, *facts.architectures]).lower()
    convert = getattr(options, "convert", None)
    pooling = getattr(options, "runner", None) == "pooling" or convert in ("embed", "classify")
    named_embed = any(word in name for word in EMBED_WORDS)
    named_classify = any(word in name for word in CLASSIFY_WORDS)
    if pooling or named_embed or named_classify:
        if convert == "embed" or (named_embed and not named_classify):
            return {EMBED}
        return {EMBED, CLASSIFY}
    if any(word in name for word in AUDIO_WORDS):
        return {GENERATE, TRANSCRIBE}
    return {GENERATE}
