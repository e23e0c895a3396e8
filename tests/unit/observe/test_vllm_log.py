"""vLLM's log tells how far a start came, what it measured, and the first cause when it failed."""

from __future__ import annotations

from typing import Any

import pytest
from captured import capture, code_set, codes, read, record

from gpu_seats.catalogue import CATALOGUE
from gpu_seats.observe.engines.log_lines import log_lines, seconds_between
from gpu_seats.observe.engines.vllm_causes import FAILURES, GENERIC_CAUSES, SIGN_CAUSES

EXPECTED: dict[str, dict[str, Any]] = {
    "vllm-ok.log": {
        "stage": "serving",
        "weights_gib": 74.08,
        "load_seconds": 36.573577,
        "kv_cache_gib": 32.08,
        "kv_cache_tokens": 90841,
        "max_concurrency": 2.22,
        "max_concurrency_at_tokens": 40960,
        "init_seconds": 9.38,
        "ready_seconds": 79.0,
        "shards_loaded": 9,
        "shards_total": 9,
        "listens_on": "http://0.0.0.0:8000",
        "root_cause": None,
    },
    "vllm-0.32-cpu-ngram.log": {
        "stage": "failed",
        "reached": "serving",
        "version": "0.32.0",
        "model": "/models/tiny",
        "served_names": ["tiny"],
        "architecture": "LlamaForCausalLM",
        "max_model_len": 512,
        "kv_cache_tokens": 131072,
        "max_concurrency": 256.0,
        "max_concurrency_at_tokens": 512,
        "kv_cache_gib": 0.06,
        "profiling_skipped": True,
        "weights_load_seconds": 0.01,
        "root_cause": "engine.worker_killed",
    },
    "vllm-cuda-oom.log": {"stage": "failed", "root_cause": "engine.out_of_memory"},
    "vllm-nccl-shm.log": {"stage": "failed", "root_cause": "engine.shm_too_small"},
    "vllm-no-memory-blocks.log": {"stage": "failed", "root_cause": "engine.no_kv_memory"},
}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_log_is_summed_up_with_these_figures(name: str) -> None:
    log = record(capture(f"llm/{name}"), "engine_log")
    assert {key: log[key] for key in EXPECTED[name]} == EXPECTED[name]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_figures_that_the_log_does_not_give_have_a_reason(name: str) -> None:
    log = record(capture(f"llm/{name}"), "engine_log")
    assert {key for key, value in log.items() if value is None} == set(log["unknown"])


def test_a_good_start_has_no_finding() -> None:
    assert capture("llm/vllm-ok.log").findings == []


def test_memory_that_ran_out_names_the_card_as_the_container_counts_it() -> None:
    (found,) = capture("llm/vllm-cuda-oom.log").findings
    assert (found.evidence["container_gpu"], found.evidence["total_gib"], found.evidence["used_gib"]) == (
        0,
        23.57,
        22.35,
    )
    assert "container's GPU 0" in found.message


def test_what_nccl_wraps_is_the_cause_not_nccl() -> None:
    found = capture("llm/vllm-nccl-shm.log").findings
    assert [one.code for one in found] == ["engine.shm_too_small", "engine.nccl_failed"]
    assert found[0].evidence["wanted_bytes"] == 33030528


def test_an_engine_that_dies_in_service_is_told_from_one_that_never_came_up() -> None:
    assert code_set(capture("llm/vllm-0.32-cpu-ngram.log")) == {
        "engine.worker_killed",
        "engine.died",
        "engine.open_files_low",
    }


CAUSES: list[tuple[str, str, dict[str, Any]]] = [
    (
        "ValueError: To serve at least one request with the model's max seq len (196608), "
        "23.25 GiB KV cache is needed, which "
        "is larger than the available KV cache memory (22.5 GiB). Based on the available "
        "memory, the estimated maximum model "
        "length is 190272. Try increasing `gpu_memory_utilization` or decreasing `max_model_len`.",
        "engine.kv_too_small",
        {"max_model_len": 196608, "needs_gib": 23.25, "has_gib": 22.5, "fits_len": 190272},
    ),
    (
        "ValueError: To serve at least one request with the models's max seq len (131072), "
        "(16.00 GiB KV cache is needed, which "
        "is larger than the available KV cache memory (12.94 GiB). Based on the available "
        "memory, the estimated maximum model "
        "length is 105968.",
        "engine.kv_too_small",
        {"needs_gib": 16.0, "has_gib": 12.94, "fits_len": 105968},
    ),
    (
        "ValueError: The model's max seq len (32768) is larger than the maximum number of "
        "tokens that can be stored in KV cache "
        "(26064). Try increasing `gpu_memory_utilization`",
        "engine.kv_too_small",
        {"max_model_len": 32768, "fits_len": 26064},
    ),
    (
        "ValueError: Free memory on device cuda:0 (19.77/22.05 GiB) on startup is less than "
        "desired GPU memory utilization (0.9, "
        "19.84 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
        "engine.free_memory_low",
        {"free_gib": 19.77, "total_gib": 22.05, "utilisation": 0.9, "wanted_gib": 19.84},
    ),
    (
        "AssertionError: Error in memory profiling. Initial free memory 90.1 GiB, current "
        "free memory 92.2 GiB. This happens when",
        "engine.profiling_disturbed",
        {"initial_gib": 90.1, "current_gib": 92.2},
    ),
    ("ValueError: No available memory for the cache blocks.", "engine.no_kv_memory", {}),
    (
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 803: system has "
        "unsupported display driver / cuda driver "
        "combination",
        "engine.compat_shadows_driver",
        {},
    ),
    (
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 804: forward "
        "compatibility was attempted on non "
        "supported HW",
        "engine.driver_too_old",
        {},
    ),
    (
        "RuntimeError: The NVIDIA driver on your system is too old (found version 12020).",
        "engine.driver_too_old",
        {"found": "12020"},
    ),
    (
        "torch.AcceleratorError: CUDA error: no kernel image is available for execution on the device",
        "engine.no_kernel_image",
        {},
    ),
    ("RuntimeError: Failed to infer device type, please set the environment variable", "engine.no_gpu_visible", {}),
    (
        "huggingface_hub.errors.GatedRepoError: 401 Client Error. Cannot access gated repo "
        "for url https://huggingface.co/x.",
        "engine.gated_repo",
        {},
    ),
    ("PermissionError: [Errno 13] Permission denied: '/.cache'", "engine.cache_not_writable", {"path": "/.cache"}),
    ("OSError: [Errno 98] Address already in use", "engine.port_in_use", {}),
    (
        'vllm serve: error: unrecognized arguments: --engram-config {"cpu_offload": true}',
        "engine.flag_unknown",
        {"arguments": '--engram-config {"cpu_offload": true}'},
    ),
    (
        "vllm serve: error: argument --kv-cache-memory-bytes: Invalid value: 14GiB",
        "engine.flag_invalid",
        {"flag": "--kv-cache-memory-bytes"},
    ),
    (
        "  Value error, EngramConfig requires a model with supported Engram embeddings and non-empty n-gram layer ids. "
        "[type=value_error, input_value=ArgsKwargs((), {}), input_type=ArgsKwargs]",
        "engine.engram_unsupported",
        {},
    ),
    (
        "  Value error, something else is wrong [type=value_error, input_value=1]",
        "engine.argument_refused",
        {"problem": "something else is wrong"},
    ),
    (
        "KeyError: 'model.language_model.layers.0.ple.embed.weight_scale'",
        "engine.ple_format_undeclared",
        {"tensor": "model.language_model.layers.0.ple.embed.weight_scale"},
    ),
    ("ValueError: There is no module or parameter named 'lm_head.foo' in X", "engine.weights_unexpected", {}),
    (
        "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge",
        "engine.weights_damaged",
        {},
    ),
    (
        "ValueError: Model architectures ['FooForCausalLM'] are not supported for now.",
        "engine.architecture_unsupported",
        {"architecture": "FooForCausalLM"},
    ),
    (
        "ValueError: User-specified max_model_len (262144) is greater than the derived max_model_len "
        "(max_position_embeddings=131072 or model_max_length=None in model's config.json).",
        "engine.max_len_over_model",
        {"max_model_len": 262144, "model_len": 131072},
    ),
    ("torch.AcceleratorError: CUDA error: an illegal memory access was encountered", "engine.gpu_failed", {}),
    (
        "ValueError: World size (4) is larger than the number of available GPUs (1) in this node.",
        "engine.too_few_gpus",
        {"wanted": 4, "found": 1},
    ),
    (
        "RuntimeError: DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes.",
        "engine.host_out_of_memory",
        {},
    ),
    (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; "
        "23.69 GiB total capacity; 22.5 GiB "
        "already allocated)",
        "engine.out_of_memory",
        {"container_gpu": 0, "total_gib": 23.69},
    ),
]


@pytest.mark.parametrize(("text", "code", "evidence"), CAUSES, ids=[f"{n}-{one[1]}" for n, one in enumerate(CAUSES)])
def test_each_known_text_is_the_root_cause_below_every_prefix(text: str, code: str, evidence: dict[str, Any]) -> None:
    head = "vllm-gen-1  | 2026-11-30T05:12:44.120394811Z (EngineCore_DP0 pid=68) ERROR 10-15 08:32:29 [core.py:708] "
    log = (
        f"{head}EngineCore failed to start.\n{head}Traceback (most recent call last):\n{head}{text}\n"
        "vllm-gen-1  | (APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. "
        "Failed core proc(s): {}\n"
    )
    for printed in (log, text + "\n", "\x1b[31m" + text + "\x1b[0m\r\n"):
        seen = read("vllm-log", printed)
        assert record(seen, "engine_log")["root_cause"] == code
        assert [one.code for one in seen.findings] == [code]
        assert {key: seen.findings[0].evidence[key] for key in evidence} == evidence


def test_the_first_cause_counts_not_the_last_line() -> None:
    log = (
        "ERROR 10-15 08:32:29 [core.py:1] ValueError: No available memory for the cache blocks.\n"
        "ERROR 10-15 08:32:30 [core.py:1] OSError: [Errno 98] Address already in use\n"
        "RuntimeError: Engine core initialization failed. See root cause above.\n"
    )
    assert record(read("vllm-log", log), "engine_log")["root_cause"] == "engine.no_kv_memory"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("KeyError: 'model.layers.0.mlp.experts.w13_weight_scale_2'", "model.layers.0.mlp.experts.w13_weight_scale_2"),
        ("RuntimeError: size mismatch for lm_head.weight: copying a param", "lm_head.weight"),
    ],
)
def test_the_message_names_what_stood_at_any_of_the_places_of_a_text(text: str, named: str) -> None:
    """Protects: no `?` where the log says which tensor, file or flag it was."""
    parsed = read("vllm-log", f"(EngineCore pid=1) ERROR 11-30 10:00:00 [core.py:9] {text}\n", 1)
    [shown] = [one for one in parsed.findings if one.code == "engine.weights_unexpected"]
    assert named in shown.message and shown.evidence["tensor"] == named


def test_an_unknown_exception_is_named_where_no_known_text_stands() -> None:
    log = "RuntimeError: something strange\nRuntimeError: Engine core initialization failed. See root cause above.\n"
    (found,) = read("vllm-log", log).findings
    assert found.code == "engine.failed"
    assert "something strange" in found.message


def test_an_allocator_that_went_on_is_a_warning_although_the_engine_serves() -> None:
    log = (
        "INFO:     Application startup complete.\n"
        "WARNING 11-30 06:05:02 [x.py:1] OOM on device 0 while trying to allocate 488636416 bytes (free: 422117376)\n"
        'INFO:     127.0.0.1:1 - "POST /v1/completions HTTP/1.1" 200 OK\n'
    )
    seen = read("vllm-log", log)
    assert record(seen, "engine_log")["stage"] == "serving"
    (found,) = seen.findings
    assert (found.code, found.severity) == ("engine.near_oom", "warning")
    assert (found.evidence["wanted_bytes"], found.evidence["free_bytes"]) == (488636416, 422117376)


SIZING = (
    "INFO 11-30 06:01:02 [gpu_worker.py:355] Initial free memory 94.1 GiB, reserved 14.00 "
    "GiB memory for KV Cache as specified "
    "by kv_cache_memory_bytes config and skipped memory profiling.\n"
    "INFO 11-30 06:03:02 [kv_cache_utils.py:2327] GPU + host KV cache size: 560,654 "
    "tokens, Maximum concurrency for 262,144 "
    "tokens per request: 2.14x\n"
    "INFO 11-30 06:05:02 [gpu_worker.py:400] Free memory on device (94.1/95.0 GiB) on "
    "startup. Desired GPU memory utilization is "
    "(0.9, 85.5 GiB). Actual usage is 74.36 GiB for weight, 1.65 GiB for peak activation, "
    "0.3 GiB for non-torch memory. Replace "
    "gpu_memory_utilization config with `--kv-cache-memory=15032385536` (14.00 GiB) to fit into requested memory, or "
    "`--kv-cache-memory=18747482931` (17.46 GiB) to fully utilize gpu memory. Current kv "
    "cache memory in use is 14.0 GiB.\n"
)


def test_the_engine_own_figure_to_fill_the_card_is_flagged_as_not_to_take() -> None:
    seen = read("vllm-log", SIZING)
    log = record(seen, "engine_log")
    assert (log["suggested_kv_gib"], log["kv_cache_gib"], log["peak_activation_gib"]) == (17.46, 14.0, 1.65)
    assert (log["kv_cache_tokens"], log["max_concurrency"], log["profiling_skipped"]) == (560654, 2.14, True)
    assert code_set(seen) == {"engine.suggested_kv_unsafe"}


@pytest.mark.parametrize(
    ("lines", "stage"),
    [
        ("INFO 11-30 06:01:02 [x.py:1] vLLM API server version 0.33.0\n", "starting"),
        ("INFO 11-30 06:01:02 [x.py:1] Starting to load model /m...\n", "loading"),
        ("Loading safetensors checkpoint shards:  33% Completed | 3/9 [00:10<00:20]\r", "loading"),
        ("INFO 11-30 06:01:02 [x.py:1] Model loading took 74.08 GiB memory and 36.5 seconds\n", "profiling"),
        ("INFO 11-30 06:01:02 [x.py:1] GPU KV cache size: 90,841 tokens\n", "kv_ready"),
        ("Capturing CUDA graphs (decode, FULL):  50%|█████     | 5/10\n", "compiling"),
        ("INFO:     Application startup complete.\n", "serving"),
    ],
)
def test_each_stage_of_a_start_is_seen(lines: str, stage: str) -> None:
    assert record(read("vllm-log", lines), "engine_log")["stage"] == stage


def test_figures_in_the_wording_of_the_old_engine_are_read() -> None:
    text = (
        "INFO 03-21 20:15:45 [worker.py:267] the current vLLM instance can use total_gpu_memory (79.19GiB) x "
        "gpu_memory_utilization (0.90) = 71.27GiB\n"
        "INFO 03-21 20:15:45 [worker.py:267] model weights take 12.55GiB; "
        "non_torch_memory takes 0.16GiB; PyTorch activation "
        "peak memory takes 2.38GiB; the rest of the memory reserved for KV Cache is 56.18GiB.\n"
        "INFO 03-21 20:15:46 [executor_base.py:111] # cuda blocks: 7191, # CPU blocks: 512\n"
        "INFO 03-21 20:15:46 [executor_base.py:116] Maximum concurrency for 4096 tokens per request: 28.09x\n"
    )
    log = record(read("vllm-log", text), "engine_log")
    assert (log["weights_gib"], log["peak_activation_gib"], log["kv_cache_gib"]) == (12.55, 2.38, 56.18)
    assert (log["max_concurrency"], log["stage"]) == (28.09, "kv_ready")


def test_progress_of_the_shards_is_read_while_it_loads() -> None:
    log = record(
        read("vllm-log", "Loading safetensors checkpoint shards:  33% Completed | 3/9 [00:10<00:20]\r"), "engine_log"
    )
    assert (log["shards_loaded"], log["shards_total"]) == (3, 9)


def test_failures_of_earlier_starts_are_history_not_the_verdict() -> None:
    log = (
        "INFO 11-30 06:01:02 [x.py:1] vLLM API server version 0.29.0\nValueError: No "
        "available memory for the cache blocks.\n"
        "INFO 11-30 06:02:02 [x.py:1] vLLM API server version 0.29.0\nINFO:     Application startup complete.\n"
    )
    seen = read("vllm-log", log)
    assert (record(seen, "engine_log")["stage"], record(seen, "engine_log")["starts"]) == ("serving", 2)
    (found,) = seen.findings
    assert (found.code, found.severity) == ("engine.no_kv_memory", "warning")
    assert found.message.startswith("in an earlier start")


def test_a_broken_request_does_not_make_a_serving_engine_failed() -> None:
    log = (
        "INFO:     Application startup complete.\nINFO 11-30 06:02:02 [x.py:1] Address "
        "already in use is what the user wrote\n"
    )
    assert record(read("vllm-log", log), "engine_log")["stage"] == "serving"


def test_workers_without_a_sign_are_a_warning() -> None:
    log = "INFO 11-30 06:02:02 [shm_broadcast.py:466] No available shared memory broadcast block found in 60 seconds.\n"
    (found,) = read("vllm-log", log).findings
    assert (found.code, found.severity, found.evidence["seconds"]) == ("engine.workers_stuck", "warning", 60)


def test_an_empty_log_is_an_engine_that_has_not_written_yet() -> None:
    seen = read("vllm-log", "")
    assert (seen.records, seen.findings) == ([], [])
    assert seen.notes


def test_the_log_of_something_else_is_unknown() -> None:
    assert codes(read("vllm-log", "hello world\n")) == [("parse.unrecognised", "tool:vllm-log")]


def test_prefixes_of_compose_docker_and_journald_are_taken_off() -> None:
    for head in ("vllm-gen-1  | ", "2026-11-30T05:12:44.1Z ", "Nov 30 05:12:44 fv-ml1 dockerd[12]: "):
        (line,) = log_lines(head + "(EngineCore pid=7) INFO 11-30 06:01:02 [a/b.py:1] hello")
        assert (line.text, line.level, line.clock, line.process) == ("hello", "INFO", "11-30 06:01:02", "EngineCore")


def test_times_are_not_counted_backwards() -> None:
    assert seconds_between("11-30 06:01:02", "11-30 06:02:21") == 79.0
    assert seconds_between("11-30 06:01:02", "11-30 06:01:01") is None
    assert seconds_between("", "11-30 06:01:01") is None


def test_every_code_of_the_tables_is_in_the_catalogue() -> None:
    assert {one.code for one in (*FAILURES, *GENERIC_CAUSES, *SIGN_CAUSES)} <= set(CATALOGUE)
