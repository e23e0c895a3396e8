"""/metrics of the simulated engine: the families that operators read, in vLLM's names and labels."""

from __future__ import annotations

from typing import Callable

from openai_api.server import Counters

from .memory import MemoryPlan
from .seat import Seat

BLOCK = 16


def family(name: str, kind: str, text: str, samples: list[tuple[str, float]]) -> list[str]:
    lines = [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
    return lines + [f"{name}{{{labels}}} {float(value)}" for labels, value in samples]


def cache_labels(seat: Seat, plan: MemoryPlan) -> str:
    values = {
        "block_size": BLOCK,
        "cache_dtype": "auto",
        "enable_prefix_caching": True,
        "engine": 0,
        "gpu_memory_utilization": seat.utilization,
        "kv_cache_max_concurrency": round(plan.kv_tokens / seat.context, 2),
        "kv_cache_memory_bytes": seat.kv_bytes,
        "kv_cache_size_tokens": plan.kv_tokens,
        "num_gpu_blocks": plan.kv_tokens // BLOCK,
    }
    return ",".join(f'{key}="{value}"' for key, value in values.items())


def metrics_text(seat: Seat, plan: MemoryPlan) -> Callable[[Counters], str]:
    """A function from the server's counters to the exposition text."""
    label = f'engine="0",model_name="{seat.names[0]}"'
    positions = [(f'{label},position="{i}"', 0.0) for i in range(seat.speculative_tokens)]

    def text(c: Counters) -> str:
        lines = family(
            "vllm:cache_config_info",
            "gauge",
            "Information of the LLMEngine CacheConfig",
            [(cache_labels(seat, plan), 1)],
        )
        plain = (
            ("num_requests_running", "gauge", "Number of requests in model execution batches.", c.running),
            ("num_requests_waiting", "gauge", "Number of requests waiting to be processed.", 0),
            ("kv_cache_usage_perc", "gauge", "KV-cache usage. 1 means 100 percent usage.", 0),
            ("num_preemptions_total", "counter", "Cumulative number of preemption from the engine.", 0),
            ("prompt_tokens_total", "counter", "Number of prefill tokens processed.", c.prompt_tokens),
            ("generation_tokens_total", "counter", "Number of generation tokens processed.", c.generated_tokens),
        )
        for name, kind, help_text, value in plain:
            lines += family(f"vllm:{name}", kind, help_text, [(label, value)])
        done = [(f'engine="0",finished_reason="stop",model_name="{seat.names[0]}"', float(c.finished))]
        lines += family("vllm:request_success_total", "counter", "Count of successfully processed requests.", done)
        if seat.speculative_tokens:
            for name, help_text in (
                ("num_drafts", "Number of spec decoding drafts."),
                ("num_draft_tokens", "Number of draft tokens."),
                ("num_accepted_tokens", "Number of accepted tokens."),
            ):
                lines += family(f"vllm:spec_decode_{name}_total", "counter", help_text, [(label, 0)])
            name, help_text = (
                "vllm:spec_decode_num_accepted_tokens_per_pos_total",
                "Accepted tokens per draft position.",
            )
            lines += family(name, "counter", help_text, positions)
        return "\n".join([*lines, ""])

    return text
