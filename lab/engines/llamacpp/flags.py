"""llama-server's flags, as far as a seat uses them, mapped to llama.cpp's own parameters.

A flag that llama-server doesn't have ends the program as llama-server does: ``error: invalid argument: --x``, rc 1. One
that it has but that isn't mapped here says so, rc 1 too, so that nothing is silently without effect.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Callable

Setter = Callable[[Any, str], None]


class FlagError(Exception):
    """The text that goes to stderr."""


def attribute(name: str, convert: Callable[[str], Any]) -> Setter:
    """Sets one attribute, dotted names below the parameter object included."""

    def put(params: Any, text: str) -> None:
        *path, last = name.split(".")
        for part in path:
            params = getattr(params, part)
        setattr(params, last, convert(text))

    return put


def gpu_layers(text: str) -> int:
    """``-ngl``: a number, `all` or `auto`. There is no GPU in the lab, every layer stays on the CPU."""
    if text not in ("all", "auto"):
        int(text)
    return 0


def switch(value: bool) -> Callable[[str], bool]:
    return lambda _: value


def put_host(params: Any, text: str) -> None:
    params.hostnames = [text]


def add_alias(params: Any, text: str) -> None:
    params.model_alias = {*params.model_alias, *text.split(",")}


def add_api_keys(params: Any, text: str) -> None:
    params.api_keys = [*params.api_keys, *text.split(",")]


def ignored(params: Any, text: str) -> None:
    """A flag that changes nothing on a CPU, or only the log."""


@dataclass(frozen=True)
class Flag:
    spellings: tuple[str, ...]
    put: Setter
    takes_value: bool = True
    environment: str = ""


FLAGS = (
    Flag(("-m", "--model"), attribute("model.path", str), environment="LLAMA_ARG_MODEL"),
    Flag(("-c", "--ctx-size"), attribute("n_ctx", int), environment="LLAMA_ARG_CTX_SIZE"),
    Flag(("-n", "--predict", "--n-predict"), attribute("n_predict", int), environment="LLAMA_ARG_N_PREDICT"),
    Flag(("-b", "--batch-size"), attribute("n_batch", int), environment="LLAMA_ARG_BATCH"),
    Flag(("-ub", "--ubatch-size"), attribute("n_ubatch", int), environment="LLAMA_ARG_UBATCH"),
    Flag(("-np", "--parallel"), attribute("n_parallel", int), environment="LLAMA_ARG_N_PARALLEL"),
    Flag(("-t", "--threads"), attribute("cpuparams.n_threads", int), environment="LLAMA_ARG_THREADS"),
    Flag(("-tb", "--threads-batch"), attribute("cpuparams_batch.n_threads", int)),
    Flag(
        ("-ngl", "--gpu-layers", "--n-gpu-layers"),
        attribute("n_gpu_layers", gpu_layers),
        environment="LLAMA_ARG_N_GPU_LAYERS",
    ),
    Flag(("--host",), put_host, environment="LLAMA_ARG_HOST"),
    Flag(("--port",), attribute("port", int), environment="LLAMA_ARG_PORT"),
    Flag(("-a", "--alias"), add_alias, environment="LLAMA_ARG_ALIAS"),
    Flag(("--api-key",), add_api_keys, environment="LLAMA_API_KEY"),
    Flag(("--metrics",), attribute("endpoint_metrics", switch(True)), False, "LLAMA_ARG_ENDPOINT_METRICS"),
    Flag(("--slots",), attribute("endpoint_slots", switch(True)), False),
    Flag(("--no-slots",), attribute("endpoint_slots", switch(False)), False),
    Flag(("--props",), attribute("endpoint_props", switch(True)), False),
    Flag(("-nr", "--no-repack"), attribute("no_extra_bufts", switch(True)), False),
    Flag(("--no-warmup",), attribute("warmup", switch(False)), False),
    Flag(("--jinja",), attribute("use_jinja", switch(True)), False),
    Flag(("--no-jinja",), attribute("use_jinja", switch(False)), False),
    Flag(("--chat-template",), attribute("chat_template", str)),
    Flag(("--embedding", "--embeddings"), attribute("embedding", switch(True)), False),
    Flag(("--cont-batching", "-cb"), attribute("cont_batching", switch(True)), False),
    Flag(("--no-cont-batching", "-nocb"), attribute("cont_batching", switch(False)), False),
    Flag(("--temp", "--temperature"), attribute("sampling.temp", float)),
    Flag(("--top-k",), attribute("sampling.top_k", int)),
    Flag(("--top-p",), attribute("sampling.top_p", float)),
    Flag(("--min-p",), attribute("sampling.min_p", float)),
    Flag(("-s", "--seed"), attribute("sampling.seed", int)),
    Flag(("--timeout", "-to"), attribute("timeout_read", int)),
    Flag(("--no-webui", "--no-ui"), attribute("ui", switch(False)), False),
    Flag(("-fa", "--flash-attn"), ignored),
    Flag(("-sm", "--split-mode"), ignored),
    Flag(("-mg", "--main-gpu"), ignored),
    Flag(("-ts", "--tensor-split"), ignored),
    Flag(("--no-mmap",), ignored, False),
    Flag(("--mlock",), ignored, False),
    Flag(("--log-disable",), ignored, False),
    Flag(("-v", "--verbose"), ignored, False),
    Flag(("--log-timestamps",), ignored, False),
    Flag(("--log-prefix",), ignored, False),
)
BY_SPELLING = {spelling: flag for flag in FLAGS for spelling in flag.spellings}
NOT_MAPPED = frozenset(
    {
        "-ctk", "--cache-type-k", "-ctv", "--cache-type-v", "-md", "--model-draft",
        "--draft-max", "--draft-min", "-mm", "--mmproj", "--lora", "--grammar",
        "--rope-scaling", "--rope-scale", "--yarn-orig-ctx",
        "--reasoning-format", "--reasoning-budget", "--chat-template-file",
        "-hf", "--hf-repo", "--hf-file", "-mu", "--model-url", "--rerank",
        "--reranking", "--pooling", "--no-kv-offload", "--cpu-moe", "--n-cpu-moe", "-ot",
        "--override-tensor", "--override-kv", "--cache-reuse", "--slot-save-path", "--ssl-key-file", "--ssl-cert-file",
        "--api-key-file", "--keep", "--numa", "--swa-full",
    }
)  # fmt: skip


def apply_flags(params: Any, arguments: list[str]) -> None:
    """Set parameters from LLAMA_ARG_* variables, then from the command line, which wins."""
    for flag in FLAGS:
        value = os.environ.get(flag.environment) if flag.environment else None
        if value and (flag.takes_value or value in ("1", "true", "on", "enabled")):
            put_checked(params, flag, flag.environment, value)
    rest = list(arguments)
    while rest:
        name = rest.pop(0)
        spelling = name.replace("_", "-") if name.startswith("--") else name
        flag = BY_SPELLING.get(spelling)
        if flag is None and spelling in NOT_MAPPED:
            raise FlagError(f"error: {name} is a llama-server flag that the gpu-seats lab's image doesn't map")
        if flag is None:
            raise FlagError(f"error: invalid argument: {name}")
        if flag.takes_value and not rest:
            raise FlagError(f'error while handling argument "{name}": expected value for argument')
        put_checked(params, flag, name, rest.pop(0) if flag.takes_value else "")


def put_checked(params: Any, flag: Flag, name: str, value: str) -> None:
    try:
        flag.put(params, value)
    except ValueError as error:
        raise FlagError(f'error while handling argument "{name}": {error}') from None
