"""What a simulated seat claims, and the texts with which vLLM refuses what doesn't fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from vllm_sim import log, memory
from vllm_sim.memory import ModelFacts, StartError, plan_memory

TOTAL, FREE = 97887, 97247
FLASH = ModelFacts(weights_mib=76144, kv_bytes_per_token=26812)


def test_pinned_kv_bytes_with_the_incidents_figures() -> None:
    plan = plan_memory(FLASH, TOTAL, FREE, 0.05, 14 * 2**30, 262144)
    assert abs(plan.kv_tokens - 560_654) < 100
    assert 74 * 1024 + 14 * 1024 < plan.claim_mib < 93 * 1024


def test_without_pinning_the_engine_takes_its_share_of_the_total() -> None:
    assert plan_memory(ModelFacts(), TOTAL, FREE, 0.42, None, 32768).claim_mib == int(TOTAL * 0.42)


def test_free_memory_is_checked_against_the_total_even_when_pinned() -> None:
    with pytest.raises(StartError, match=r"Free memory on device cuda:0 \(46\.14/95\.59 GiB\) on startup is less than"):
        plan_memory(FLASH, TOTAL, 47247, 0.92, 14 * 2**30, 262144)


def test_pinned_bytes_beyond_free_memory_run_out() -> None:
    with pytest.raises(
        StartError, match=r"^torch\.OutOfMemoryError: CUDA out of memory\. Tried to allocate 60\.00 GiB"
    ):
        plan_memory(FLASH, TOTAL, FREE, 0.05, 60 * 2**30, 262144)


def test_share_that_leaves_no_cache_and_cache_that_is_too_small() -> None:
    with pytest.raises(StartError, match=r"^ValueError: No available memory for the cache blocks"):
        plan_memory(FLASH, TOTAL, FREE, 0.5, None, 4096)
    with pytest.raises(
        StartError, match=r"To serve at least one request .* estimated maximum model length is 40\d\d\d"
    ):
        plan_memory(FLASH, TOTAL, FREE, 0.05, 2**30, 262144)


@pytest.mark.parametrize("utilization", [0.03, 0.05, 0.1, 0.9])
def test_an_unknown_model_starts_with_any_share(utilization: float) -> None:
    assert plan_memory(ModelFacts(), TOTAL, FREE, utilization, None, 131072).kv_tokens >= 131072


def test_facts_come_from_the_model_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory.model_facts(tmp_path) == ModelFacts()
    (tmp_path / "gpu-sim.json").write_text(json.dumps({"weights_mib": 100, "engram": False}))
    (tmp_path / "config.json").write_text(json.dumps({"text_config": {"max_position_embeddings": 4096}}))
    facts = memory.model_facts(tmp_path)
    assert (facts.weights_mib, facts.has_engram, facts.context) == (100, False, 4096)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 5 * 2**30}}))
    (tmp_path / "gpu-sim.json").unlink()
    assert memory.model_facts(tmp_path).weights_mib == 5120
    monkeypatch.setenv("SIM_WEIGHTS_MIB", "777")
    assert memory.model_facts(tmp_path).weights_mib == 777


def test_kv_cache_line_by_release() -> None:
    size, many = "GPU KV cache size: 90,841 tokens", "Maximum concurrency for 40,960 tokens per request: 2.22x"
    assert log.kv_cache_lines((0, 27, 1), 90841, 40960) == [size, many]
    assert log.kv_cache_lines((0, 28, 0), 90841, 40960) == [f"{size}, {many}"]
