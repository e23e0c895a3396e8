"""The seat of the incident report as production gets it: every figure of the report is on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from gpu_seats.declare.fleet import load_fleet
from gpu_seats.declare.selection import select
from gpu_seats.plan.deployment import plan_deployment
from gpu_seats.render.stack import render_stack

PROJECT = Path(__file__).resolve().parents[3]
GOLDEN = Path(__file__).parent / "golden" / "flash-next-seat.compose.yaml"


@pytest.fixture(scope="module")
def flash_next():
    fleet = load_fleet(PROJECT)
    plan = plan_deployment(fleet, "fv-ml1", select(fleet, "flash-next"))
    assert plan.refusals == []
    return render_stack(fleet, "fv-ml1", plan.stacks[0], plan.device_ids)


def test_compose_file_is_the_golden_one(flash_next):
    assert flash_next.compose_text == GOLDEN.read_text()


def test_command_line_is_the_reports(flash_next):
    assert flash_next.compose["services"]["flash-next"]["command"] == [
        "/tank/aimodels/qwen38-flash-next-abliterated-nvfp4",
        *("--served-model-name", "qwen3.8-flash-next"),
        *("--max-model-len", "262144"),
        *("--gpu-memory-utilization", "0.77"),
        *("--kv-cache-memory-bytes", "14G"),
        *("--max-num-batched-tokens", "8192"),
        *("--engram-config", '{"cpu_offload": true}'),
    ]


def test_derived_utilisation_asks_for_no_more_than_the_claim(flash_next):
    command = flash_next.compose["services"]["flash-next"]["command"]
    share = float(command[command.index("--gpu-memory-utilization") + 1])
    assert share * 97887 <= 93 * 1024 <= 97887 - 640


def test_service_is_pinned_capped_and_reachable(flash_next):
    read = yaml.safe_load(flash_next.compose_text)["services"]["flash-next"]
    (device,) = read["deploy"]["resources"]["reservations"]["devices"]
    assert device == {
        "capabilities": ["gpu"],
        "driver": "nvidia",
        "device_ids": ["GPU-5e7a0002-c0de-4000-8000-000000000002"],
    }
    assert read["ports"] == [{"mode": "ingress", "target": 8000, "published": "8022", "protocol": "tcp"}]
    assert read["ulimits"] == {"memlock": -1}
    assert int(read["mem_limit"]) >= 67 * 2**30
    assert read["restart"] == "unless-stopped"
    assert read["labels"]["homepage.href"] == "http://10.251.50.54:8022/"


def test_check_says_what_verify_looks_at(flash_next):
    (check,) = flash_next.checks
    assert check["digest"] == flash_next.services["flash-next"]["digest"]
    wanted = {
        "seat": "flash-next",
        "port": 8022,
        "container_port": 8000,
        "engine": "vllm",
        "task": "chat",
        "served_name": "qwen3.8-flash-next",
        "gpus": ["GPU-5e7a0002-c0de-4000-8000-000000000002"],
        "health_path": "/health",
        "address": "10.251.50.54",
        "project": "flash-next-seat",
    }
    assert {key: check[key] for key in wanted} == wanted
