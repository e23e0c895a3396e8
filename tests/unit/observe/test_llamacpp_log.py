"""The log of llama.cpp's server tells placement, context and readiness, and why a model did not load."""

from __future__ import annotations

import pytest
from captured import capture, code_set, codes, read, record

from gpu_seats.catalogue import CATALOGUE
from gpu_seats.observe.engines.llamacpp_causes import FAILURES, SIGNS


def test_a_good_start_with_two_unlike_cards() -> None:
    seen = capture("llm/llamacpp-ok.log")
    log = record(seen, "llama_server_log")
    assert (log["stage"], log["listens_on"]) == ("serving", "http://0.0.0.0:8080")
    assert (log["layers_offloaded"], log["layers_total"]) == (49, 49)
    assert (log["context_tokens"], log["kv_cache_mib"]) == (16384, 3072.0)
    assert log["buffers_mib"] == {"CUDA0 model": 17524.42}
    assert log["devices"] == ["NVIDIA GeForce RTX 3090", "NVIDIA T400"]
    assert codes(seen) == [("engine.device_order", "engine:llamacpp")]


OLD = """main: HTTP server is listening, hostname: 0.0.0.0, port: 8080, http threads: 23
main: loading model
srv    load_model: loading model '/models/x.gguf'
load_tensors: offloaded 10/49 layers to GPU
llama_context: n_ctx         = 2048
srv          init: initializing slots, n_slots = 2
slot         init: id  0 | task -1 | new slot n_ctx_slot = 1024
main: server is listening on http://0.0.0.0:8080 - starting the main loop
srv  update_slots: all slots are idle
"""


def test_slots_share_the_context() -> None:
    log = record(read("llamacpp-log", OLD), "llama_server_log")
    assert (log["context_tokens"], log["slots"], log["slot_context_tokens"]) == (2048, 2, 1024)
    assert log["model"] == "/models/x.gguf"


def test_layers_left_on_the_cpu_are_a_warning() -> None:
    (found,) = read("llamacpp-log", OLD).findings
    assert (found.code, found.severity) == ("engine.partly_on_cpu", "warning")


def test_the_port_listens_before_the_model_is_there() -> None:
    """The HTTP server answers 503 while it loads: an open port is not ready."""
    log = record(read("llamacpp-log", "".join(OLD.splitlines(keepends=True)[:3])), "llama_server_log")
    assert log["stage"] == "loading"


def test_the_new_layout_with_times_and_levels_is_read() -> None:
    text = (
        "0.00.621.443 I   - CUDA0   : NVIDIA GeForce RTX 5060 (7707 MiB, 7586 MiB free)\n"
        "0.01.000.000 I srv    load_model: loading model '/models/x.gguf'\n"
        "0.02.000.000 I main: server is listening on http://0.0.0.0:8080 - starting the main loop\n"
    )
    log = record(read("llamacpp-log", text), "llama_server_log")
    assert (log["stage"], log["devices"], log["model"]) == ("serving", ["NVIDIA GeForce RTX 5060"], "/models/x.gguf")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "gguf_init_from_file: failed to open GGUF file '/m/x.gguf'\nllama_model_load: error "
            "loading model: llama_model_loader: failed to load model",
            "engine.model_files_missing",
        ),
        (
            "E gguf_init_from_file: failed to open GGUF file 'x.gguf' (errno No such file or directory)",
            "engine.model_files_missing",
        ),
        (
            "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 35533.34 MiB on device 0: "
            "cudaMalloc failed: out of memory\nllama_model_load: error loading model: unable to allocate CUDA0 buffer",
            "engine.out_of_memory",
        ),
        ("llama_model_load: error loading model: unable to allocate CUDA0 buffer", "engine.out_of_memory"),
        ("gguf_init_from_file: invalid magic characters: '<!do', expected 'GGUF'", "engine.weights_damaged"),
        (
            "llama_model_load: error loading model: tensor 'blk.0.x' data is not within the file "
            "bounds, model is corrupted or incomplete",
            "engine.weights_damaged",
        ),
        (
            "llama_model_load: error loading model: error loading model architecture: unknown "
            "model architecture: 'phi9'",
            "engine.architecture_unsupported",
        ),
        ("main: couldn't bind HTTP server socket, hostname: 0.0.0.0, port: 8080", "engine.port_in_use"),
        ("error: invalid argument: --foo", "engine.flag_unknown"),
        ('error while handling argument "-ngl": invalid number', "engine.flag_invalid"),
        (
            "CUDA error: an illegal memory access was encountered\n  current device: 0, in function ggml_cuda",
            "engine.gpu_failed",
        ),
        ("llama_model_load: error loading model: something new", "engine.failed"),
    ],
)
def test_each_failure_text_has_its_own_code(text: str, code: str) -> None:
    for printed in (text + "\n", "".join(f"llama-1  | {line}\n" for line in text.splitlines())):
        seen = read("llamacpp-log", printed)
        assert record(seen, "llama_server_log")["root_cause"] == code
        assert codes(seen) == [(code, "engine:llamacpp")]


def test_a_server_without_a_gpu_runs_and_says_so() -> None:
    text = (
        "ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is "
        "detected\nwarning: no usable GPU found, --gpu-layers option will be ignored\n"
    )
    seen = read("llamacpp-log", text + OLD.splitlines(keepends=True)[-2])
    assert record(seen, "llama_server_log")["stage"] == "serving"
    assert code_set(seen) == {"engine.no_gpu_visible"}


def test_json_lines_of_old_servers_are_read() -> None:
    text = (
        '{"timestamp":1698069462,"level":"ERROR","function":"load_model"'
        ',"line":558,"message":"failed to load model","model":"m.gguf"}\n'
    )
    assert record(read("llamacpp-log", "llama server\n" + text), "llama_server_log")["root_cause"] == "engine.failed"


def test_an_empty_log_and_a_foreign_one() -> None:
    assert read("llamacpp-log", "").findings == []
    assert codes(read("llamacpp-log", "hello world\n")) == [("parse.unrecognised", "tool:llamacpp-log")]


def test_every_code_of_the_tables_is_in_the_catalogue() -> None:
    assert {one.code for one in (*FAILURES, *SIGNS)} <= set(CATALOGUE)
