"""llama-server's flags reach llama.cpp's parameters, and unknown ones are refused in its words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from flags import FlagError, apply_flags


def parameters() -> Any:
    """What xllamacpp's parameter object has, as far as flags touch it."""
    return SimpleNamespace(
        model=SimpleNamespace(path=""),
        cpuparams=SimpleNamespace(n_threads=-1),
        model_alias=set(),
        api_keys=[],
        n_gpu_layers=-1,
        endpoint_metrics=False,
    )


def test_the_flags_of_a_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLAMA_ARG_HOST", "0.0.0.0")
    params = parameters()
    words = "-m /m.gguf -c 2048 -ngl all --port 8080 -np 2 -a smol --metrics --api-key k --no-repack -t 2"
    apply_flags(params, words.split())
    assert (params.model.path, params.n_ctx, params.n_parallel, params.port) == ("/m.gguf", 2048, 2, 8080)
    assert (params.hostnames, params.model_alias, params.api_keys) == (["0.0.0.0"], {"smol"}, ["k"])
    assert params.endpoint_metrics and params.no_extra_bufts and params.n_gpu_layers == 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--bogus", "1"], "error: invalid argument: --bogus"),
        (["-ngl", "many"], 'error while handling argument "-ngl"'),
        (["-c"], "expected value for argument"),
        (["--mmproj", "x"], "doesn't map"),
    ],
)
def test_what_is_refused(arguments: list[str], text: str) -> None:
    with pytest.raises(FlagError) as refusal:
        apply_flags(parameters(), arguments)
    assert text in str(refusal.value)
