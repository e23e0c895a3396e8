"""Figures and stages in vLLM's log, in the wordings of releases 0.6 to 0.33."""

from __future__ import annotations

import re
from typing import Any, Callable

from .cause import number_of

_Fill = Callable[[re.Match[str]], dict[str, Any]]
_START_MARKS = (re.compile(r"█.*\bversion\s+\d"), re.compile(r"vLLM API server version"))
"""Each start prints each mark at most once."""
_STAGES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("serving", re.compile(r"Application startup complete")),
    ("stopped", re.compile(r"^(?:Shutting down|Finished server process|Application shutdown complete)")),
    (
        "compiling",
        re.compile(
            r"Compiling a graph|torch\.compile t(?:akes|ook)|Capturing (?:CUDA|cudagraph)|Graph capturing"
            r"|Dynamo bytecode|init engine \(profile"
            r"|Cache the graph|Warming up|warmup",
        ),
    ),
    ("kv_ready", re.compile(r"KV cache size: |# (?:GPU|CUDA|cuda|cpu) blocks: |Explicitly set \([\d./]+\) GiB for KV")),
    (
        "profiling",
        re.compile(
            r"Memory profiling|Available KV cache memory|Model loading took|memory profiling takes|model weights take "
            r"|reserved [\d.]+ GiB memory for KV"
        ),
    ),
    (
        "loading",
        re.compile(
            r"Starting to load model|Loading (?:safetensors|pt|model|weights|drafter)|checkpoint shards"
            r"|Time spent downloading"
        ),
    ),
)
"""Latest stage first: the first expression that is found names the stage of a line."""


def _numbers(**kinds: str) -> _Fill:
    """Fills fields from groups: "i" whole numbers, "f" numbers with a fraction, "s" text."""

    def fill(match: re.Match[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, kind in kinds.items():
            text = match.groupdict().get(name)
            value: Any = text if kind == "s" else number_of(text) if text else None
            if value is not None and kind != "s":
                value = int(value) if kind == "i" else float(value)
            found[name] = value
        return found

    return fill


def _served(match: re.Match[str]) -> dict[str, Any]:
    names = re.findall(r"'([^']+)'", match.group("names")) or [match.group("names").strip(" '\"")]
    return {"served_names": [one for one in names if one and one != "None"] or None}


def _skipped(match: re.Match[str]) -> dict[str, Any]:
    return {"profiling_skipped": True, **_numbers(kv_cache_gib="f")(match)}


_G = r"\d+(?:\.\d+)?"
_N = r"\d[\d,]*"

FACTS: tuple[tuple[re.Pattern[str], _Fill], ...] = (
    (re.compile(r"█.*\bversion\s+(?P<version>\d\S*)"), _numbers(version="s")),
    (re.compile(r"█.*\bmodel\s{2,}(?P<model>\S+)"), _numbers(model="s")),
    (re.compile(r"vLLM API server version (?P<version>\S+)"), _numbers(version="s")),
    (
        re.compile(r"LLM engine \(v(?P<version>[^)\s]+)\) with config: (?:.*?\bmodel='(?P<model>[^']+)')?"),
        _numbers(version="s", model="s"),
    ),
    (re.compile(r"'(?:model_tag|model)': '(?P<model>[^']+)'"), _numbers(model="s")),
    (re.compile(r"'served_model_name': (?P<names>\[[^\]]*\]|'[^']*')"), _served),
    (re.compile(r"\bserved_model_name=(?P<names>\[[^\]]*\]|[^,\s]+)"), _served),
    (re.compile(r"Resolved architecture: (?P<architecture>\w+)"), _numbers(architecture="s")),
    (re.compile(rf"Using max model len (?P<max_model_len>{_N})"), _numbers(max_model_len="i")),
    (re.compile(rf"\bmax_seq_len=(?P<max_model_len>{_N})"), _numbers(max_model_len="i")),
    (
        re.compile(r"shards:\s+\d+% Completed \| (?P<shards_loaded>\d+)/(?P<shards_total>\d+)"),
        _numbers(shards_loaded="i", shards_total="i"),
    ),
    (re.compile(rf"Loading weights took (?P<weights_load_seconds>{_G}) ?s"), _numbers(weights_load_seconds="f")),
    (
        re.compile(
            rf"(?:Model loading"
            rf"|[Ll]oading model weights) took (?P<weights_gib>{_G}) ?Gi?B(?: memory)?(?: and "
            rf"(?P<load_seconds>{_G}) ?s)?"
        ),
        _numbers(weights_gib="f", load_seconds="f"),
    ),
    (re.compile(rf"model weights take (?P<weights_gib>{_G}) ?GiB"), _numbers(weights_gib="f")),
    (re.compile(rf"memory reserved for KV Cache is (?P<kv_cache_gib>{_G}) ?GiB"), _numbers(kv_cache_gib="f")),
    (re.compile(rf"Estimated CUDA graph memory: (?P<graph_gib>{_G}) GiB"), _numbers(graph_gib="f")),
    (re.compile(rf"Available KV cache memory: (?P<kv_cache_gib>{_G}) GiB"), _numbers(kv_cache_gib="f")),
    (re.compile(rf"Explicitly set \((?P<kv_cache_gib>{_G})/{_G}\) GiB for KV cache"), _skipped),
    (re.compile(rf"reserved (?P<kv_cache_gib>{_G}) GiB memory for KV Cache as specified by kv_cache_memory"), _skipped),
    (re.compile(rf"KV cache size: (?P<kv_cache_tokens>{_N}) tokens"), _numbers(kv_cache_tokens="i")),
    (
        re.compile(
            rf"Maximum concurrency for (?P<max_concurrency_at_tokens>{_N}) tokens per request: "
            rf"(?P<max_concurrency>{_G})x"
        ),
        _numbers(max_concurrency_at_tokens="i", max_concurrency="f"),
    ),
    (re.compile(rf"(?P<peak_activation_gib>{_G}) GiB for peak activation"), _numbers(peak_activation_gib="f")),
    (
        re.compile(rf"PyTorch activation peak memory takes (?P<peak_activation_gib>{_G}) ?GiB"),
        _numbers(peak_activation_gib="f"),
    ),
    (re.compile(rf"\((?P<suggested_kv_gib>{_G}) GiB\) to fully utilize gpu memory"), _numbers(suggested_kv_gib="f")),
    (re.compile(rf"(?P<suggested_kv_gib>{_G}) GiB to fully utilize gpu memory"), _numbers(suggested_kv_gib="f")),
    (re.compile(rf"Current kv cache memory in use is (?P<kv_cache_gib>{_G}) GiB"), _numbers(kv_cache_gib="f")),
    (re.compile(rf"Graph capturing finished in {_G} secs?, took (?P<graph_gib>{_G}) GiB"), _numbers(graph_gib="f")),
    (re.compile(rf"init engine \([^)]*\) took (?P<init_seconds>{_G}) ?s"), _numbers(init_seconds="f")),
    (re.compile(r"Starting vLLM (?:API )?server(?: \d+)? on (?P<listens_on>\S+)"), _numbers(listens_on="s")),
    (re.compile(r"Uvicorn running on (?P<listens_on>https?://\S+)"), _numbers(listens_on="s")),
)


def start_mark(text: str) -> int | None:
    """Which mark of a server's start a line is, None for other lines."""
    return next((number for number, mark in enumerate(_START_MARKS) if mark.search(text)), None)


def stage_of(text: str) -> str:
    """The stage that a line shows, "" for most lines."""
    return next((stage for stage, pattern in _STAGES if pattern.search(text)), "")
