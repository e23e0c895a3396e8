"""What a checkpoint says of itself: shards, sizes, quantisation, context, sampling, "
"and files that are not themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from captured import capture, code_set, codes, read, record

from gpu_seats.observe.models.safetensors_header import composition, group_of, header_from_bytes, read_header
from gpu_seats.observe.models.safetensors_index import SafetensorsIndex, missing_shards, parse_safetensors_index


def test_the_index_names_shards_and_sizes() -> None:
    seen = capture("models/model.safetensors.index.json")
    index = record(seen, "safetensors_index")
    assert index["total_size_bytes"] == 34286231552
    assert index["total_parameters"] == 32762123264
    assert index["shards"] == {"model-00001-of-00007.safetensors": 3, "model-00007-of-00007.safetensors": 1}
    assert (index["tensor_count"], index["expected_shards"], index["scale_tensors"]) == (4, 7, 1)
    assert codes(seen) == [("model.shards_unnamed", "file:model.safetensors.index.json")]


@pytest.mark.parametrize(
    ("metadata", "size"),
    [({"total_size": 12.0}, 12), ({"total_size": 12}, 12), ({"total_size": "12"}, 12), ({}, None), (None, None)],
)
def test_the_size_may_be_a_float_text_or_absent(metadata: Any, size: int | None) -> None:
    text = json.dumps({"metadata": metadata, "weight_map": {"a": "model.safetensors"}})
    index = record(read("safetensors-index", text), "safetensors_index")
    assert index["total_size_bytes"] == size
    assert ("total_size_bytes" in index["unknown"]) is (size is None)


def test_shards_that_are_not_on_disk_or_tiny_are_found() -> None:
    text = json.dumps({"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}})
    index = parse_safetensors_index(text).records[0]
    assert isinstance(index, SafetensorsIndex)
    assert [one.code for one in missing_shards(index, {"m-1.safetensors": 134})] == [
        "model.shard_missing",
        "model.lfs_pointer",
    ]
    assert missing_shards(index, {"m-1.safetensors": 10**9, "m-2.safetensors": 10**9}) == []


def test_an_index_may_not_point_out_of_its_directory() -> None:
    assert code_set(read("safetensors-index", '{"weight_map": {"a": "../../etc/passwd"}}')) == {"model.index_damaged"}


@pytest.mark.parametrize("tool", ["safetensors-index", "model-config"])
def test_a_pointer_in_place_of_a_file_is_said_to_be_one(tool: str) -> None:
    text = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "4d" * 32 + "\nsize 4949453792\n"
    (found,) = read(tool, text).findings
    assert found.code == "model.lfs_pointer"
    assert found.evidence["size_bytes"] == 4949453792


def test_the_saved_pointer_is_recognised() -> None:
    assert code_set(capture("models/lfs-pointer-instead-of-weights.txt")) == {"model.lfs_pointer"}


@pytest.mark.parametrize("text", ["<!DOCTYPE html><html></html>", "Entry not found", "Invalid username or password."])
def test_an_error_page_saved_as_a_file_is_found(text: str) -> None:
    assert code_set(read("model-config", text)) == {"model.error_page"}


def test_modelopt_nvfp4_is_read() -> None:
    model = record(capture("models/config-modelopt-nvfp4.json"), "model_config")
    assert model["architectures"] == ["LlamaForCausalLM"]
    assert (model["dtype"], model["context_tokens"], model["section"]) == ("bfloat16", 131072, "")
    quantization = model["quantization"]
    assert (quantization["method"], quantization["algo"], quantization["kv_cache"]) == ("modelopt", "NVFP4", "FP8")
    assert (quantization["weight_bits"], quantization["activation_bits"], quantization["group_size"]) == (4, 4, 16)
    assert quantization["ignored"] == ["lm_head"]


def test_limits_below_text_config_are_found() -> None:
    seen = capture("models/config-nested-text-config.json")
    model = record(seen, "model_config")
    assert (model["section"], model["dtype"], model["context_tokens"]) == ("text_config", "bfloat16", 262144)
    assert (model["num_hidden_layers"], model["num_key_value_heads"], model["head_dim"]) == (64, 8, 128)
    assert model["quantization"] is None
    assert model["unknown"]["quantization"] == "the config declares none"
    assert model["multimodal_sections"] == ["vision_config"]
    assert seen.findings == []


def test_sampling_comes_from_the_checkpoint_and_nothing_is_added() -> None:
    sampling = record(capture("models/generation_config.json"), "generation_config")
    assert (sampling["temperature"], sampling["top_p"], sampling["top_k"]) == (0.6, 0.95, 20.0)
    assert sampling["eos_token_ids"] == [151645, 151643]
    assert sampling["presence_penalty"] is None
    assert sampling["unknown"]["presence_penalty"] == "the checkpoint declares none"


def test_a_single_end_token_is_a_list_of_one() -> None:
    assert record(read("model-config", '{"eos_token_id": 2}'), "generation_config")["eos_token_ids"] == [2]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            {
                "quant_method": "compressed-tensors",
                "format": "nvfp4-pack-quantized",
                "config_groups": {"g": {"weights": {"num_bits": 4}}},
            },
            ("compressed-tensors", "nvfp4-pack-quantized", 4),
        ),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm"}, ("awq", "gemm", 4)),
        ({"quant_method": "fp8", "fmt": "e4m3"}, ("fp8", "e4m3", 8)),
        ({"quant_method": "mxfp4"}, ("mxfp4", None, 4)),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, ("bitsandbytes", None, 4)),
    ],
)
def test_each_method_of_quantisation_is_read(config: dict[str, Any], expected: tuple[Any, ...]) -> None:
    text = json.dumps({"architectures": ["X"], "max_position_embeddings": 1, "quantization_config": config})
    quantization = record(read("model-config", text), "model_config")["quantization"]
    assert (quantization["method"], quantization["algo"], quantization["weight_bits"]) == expected


def test_modelopt_own_file_is_read() -> None:
    text = (
        '{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", '
        '"kv_cache_quant_algo": "FP8", "exclude_modules": ["*.ple.*"]}}'
    )
    quantization = record(read("model-config", text), "quant_config")["quantization"]
    assert (quantization["algo"], quantization["kv_cache"], quantization["ignored"]) == ("NVFP4", "FP8", ["*.ple.*"])


PLE = {
    "architectures": ["X"],
    "text_config": {"max_position_embeddings": 262144, "engram_layer_ids": [1], "mtp_num_hidden_layers": 1},
    "quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["*.ple.*", "lm_head"]},
}


def test_a_quantised_table_without_its_format_will_not_load() -> None:
    seen = read("model-config", json.dumps(PLE))
    assert record(seen, "model_config")["mtp_layers"] == 1
    (found,) = seen.findings
    assert (found.code, found.severity) == ("model.ple_dtype_missing", "error")


def test_a_declared_format_is_enough() -> None:
    declared = {**PLE, "text_config": {**PLE["text_config"], "ple_embedding_dtype": "float8_e4m3fn"}}
    seen = read("model-config", json.dumps(declared))
    assert record(seen, "model_config")["ple_embedding_dtype"] == "float8_e4m3fn"
    assert seen.findings == []


def test_a_config_that_is_cut_is_damaged() -> None:
    assert code_set(read("model-config", '{"architectures": ["X"], "max_pos')) == {"parse.truncated"}


def safetensors(tensors: dict[str, tuple[str, int]], missing: int = 0) -> bytes:
    """A whole file with tensors of the given type and size in bytes, `missing` bytes cut off its end."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (kind, size) in tensors.items():
        header[name] = {"dtype": kind, "shape": [size], "data_offsets": [end, end + size]}
        end += size
    body = json.dumps(header).encode()
    return len(body).to_bytes(8, "little") + body + b"\0" * (end - missing)


TENSORS = {
    "model.layers.0.mlp.experts.0.up_proj.weight": ("U8", 600),
    "model.ple.embed.weight": ("F8_E4M3", 400),
    "model.layers.0.self_attn.q_proj.weight": ("BF16", 200),
}


def test_the_composition_of_a_file_comes_from_its_header(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors(TENSORS))
    header, found = read_header(path)
    assert found == []
    assert header is not None
    assert header.bytes_by_type == {"U8": 600, "F8_E4M3": 400, "BF16": 200}
    assert composition([header, header]) == {
        "routed experts": {"U8": 1200},
        "n-gram table": {"F8_E4M3": 800},
        "other": {"BF16": 400},
    }


def test_a_file_that_is_cut_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors(TENSORS, missing=10))
    header, found = read_header(path)
    assert header is not None
    assert [one.code for one in found] == ["model.weights_damaged"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "model.weights_damaged"),
        (b"\xff" * 16, "model.weights_damaged"),
        ((5).to_bytes(8, "little") + b"{nope", "model.weights_damaged"),
        ((500).to_bytes(8, "little") + b"{}", "model.weights_damaged"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:x\nsize 5\n", "model.lfs_pointer"),
    ],
)
def test_what_is_no_safetensors_file_is_told(data: bytes, code: str) -> None:
    header, found = header_from_bytes(data, "model.safetensors")
    assert header is None
    assert [one.code for one in found] == [code]


def test_a_file_that_is_not_there_is_a_finding(tmp_path: Path) -> None:
    assert [one.code for one in read_header(tmp_path / "x.safetensors")[1]] == ["model.unreadable"]


def test_tensors_are_grouped_by_name() -> None:
    assert group_of("model.language_model.layers.3.engram.table.weight") == "n-gram table"
    assert group_of("lm_head.weight") == "embeddings"
    assert group_of("visual.blocks.0.attn.qkv.weight") == "vision"
