"""Every image name of the stacks gets the right build, told what the stacks expect of it."""

from __future__ import annotations

import pytest

from lab.engines import facts, images
from lab.sim import installation


@pytest.mark.parametrize(
    ("name", "kind", "version"),
    [
        ("vllm/vllm-openai:v0.29.1rc0", "vllm", "0.29.1rc0"),
        ("docker.io/vllm/vllm-openai:v0.28.0-cu130", "vllm", "0.28.0"),
        ("vllm/vllm-openai:nightly-" + "b" * 40, "vllm", "nightly-" + "b" * 40),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda-b9180", "llamacpp", ""),
        ("louislam/dockge:1.5.0", "standin", ""),
    ],
)
def test_engine_of_an_image(name: str, kind: str, version: str) -> None:
    assert images.kind_of(name) == kind
    assert images.build_args(name, []).get("VERSION", "") == version


def test_nightly_says_its_own_commit() -> None:
    assert images.commit_of("vllm/vllm-openai:nightly-" + "b" * 40) == "b" * 40
    assert len(images.commit_of("vllm/vllm-openai:v0.30.0")) == 40


def test_stand_in_learns_ports_name_and_memory_from_the_stacks() -> None:
    seat = {
        "image": "stt:1",
        "container_port": 8300,
        "model": {"served_name": "stt"},
        "claim": {"vram": "5.5GB", "vram_at_rest": "800MiB"},
    }
    service = {"image": "stt:1", "ports": [{"host": 1, "container": 9000}, "81:82/tcp", 83]}
    members = facts.workloads([{"seats": {"a": seat}, "services": {"b": service}}, {"seats": None}])
    assert facts.standin_arguments("stt:1", members) == {
        "PORTS": "82 83 8300 9000",
        "SERVED_NAME": "stt",
        "VRAM_MIB": "800",
    }


def test_model_folder_tells_the_declared_weights() -> None:
    seat = {"model": {"path": "/m", "weights": "74.36GiB"}, "vllm": {"engram": {"cpu_offload": True}}}
    assert facts.model_facts("/m", [seat]) == b'{"engram": true, "weights_mib": 76144}\n'
    assert facts.model_facts("/other", [seat]) == b"{}\n"


def test_host_gets_the_commands_and_a_library_for_containers() -> None:
    laid = installation.files()
    for command in installation.COMMANDS:
        content, mode = laid[f"/usr/bin/{command}"]
        assert mode == 0o755 and content.startswith(b"#!/usr/bin/python3\n")
        assert b"simulat" in content.lower() or b"gpu-seats lab" in content
    assert "/usr/lib/gpu-sim/nvidia-smi" in laid and "/usr/lib/gpu-sim/gpu_sim/smi.py" in laid
