"""Every saved output of Docker gives its containers, ports and GPU requests, with no value of an environment."""

from __future__ import annotations

import json

import pytest
from captured import CAPTURES, capture, codes, record

UUID = "GPU-6f1c2d3e-aaaa-4bbb-8ccc-0123456789ab"
FINDINGS: dict[str, list[tuple[str, str]]] = {
    "devreq-forms.json": [
        ("gpu.pinned_by_index", "request:ids_index"),
        ("gpu.none_requested", "request:none_requested_27.3"),
        ("gpu.id_coerced", "request:coerced_bool"),
    ],
    "inspect-cdi-void-env.json": [],
    "inspect-exited-128-no-device.json": [
        ("container.exited", "container:llm-vllm-a-1"),
        ("container.health_stale", "container:llm-vllm-a-1"),
    ],
    "inspect-host-network.json": [],
    "inspect-no-health.json": [("gpu.unpinned", "container:llm-llama-1")],
    "inspect-ok-legacy-uuid.json": [],
    "inspect-ports-empty-list.json": [
        ("gpu.unpinned", "container:llm-vllm-a-1"),
        ("port.unpublished", "container:llm-vllm-a-1"),
    ],
    "inspect-runtime-env.json": [],
    "port-outputs.txt": [
        ("port.none_published", "container:llm-vllm-a-1"),
        ("port.none_published", "container:llm-vllm-a-1"),
        ("port.none_published", "container:llm-vllm-b-1"),
    ],
    "ps-array-2.20.json": [],
    "ps-empty.txt": [],
    "ps-ndjson-2.21.txt": [],
}


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_the_findings_are_these_and_no_others(name: str) -> None:
    assert codes(capture(f"docker/{name}")) == FINDINGS[name]


REQUESTS = {
    "all": ("all", [], -1, ""),
    "count2": ("count", [], 2, ""),
    "ids_index": ("device_ids", ["0", "1"], None, "index"),
    "ids_uuid": ("device_ids", [UUID, "GPU-77777777-1111-4222-8333-abcdefabcdef"], None, "uuid"),
    "driver_empty": ("all", [], -1, ""),
    "gpus_cli": ("all", [], -1, ""),
    "cdi": ("cdi", [UUID], None, "uuid"),
    "cdi_all": ("cdi", ["all"], None, "name"),
    "none_requested_27.3": ("void", [], 0, ""),
    "mig": ("device_ids", ["MIG-55555555-1111-4222-8333-abcdefabcdef"], None, "mig"),
    "coerced_bool": ("device_ids", ["false"], None, "name"),
    "null": ("none", [], None, ""),
    "empty": ("none", [], None, ""),
}


@pytest.mark.parametrize("form", sorted(REQUESTS))
def test_each_form_of_a_device_request_is_classified(form: str) -> None:
    seen = {one.as_dict()["name"]: one.as_dict()["request"] for one in capture("docker/devreq-forms.json").records}
    asked = seen[form]
    assert (asked["kind"], asked["ids"], asked["count"], asked["keyed_by"]) == REQUESTS[form]


GPU_OF_CONTAINER = {
    "inspect-cdi-void-env.json": ("cdi", [UUID]),
    "inspect-exited-128-no-device.json": ("device_ids", [UUID]),
    "inspect-host-network.json": ("none", []),
    "inspect-no-health.json": ("count", []),
    "inspect-ok-legacy-uuid.json": ("device_ids", [UUID]),
    "inspect-ports-empty-list.json": ("all", []),
    "inspect-runtime-env.json": ("runtime_env", ["GPU-77777777-1111-4222-8333-abcdefabcdef"]),
}


@pytest.mark.parametrize("name", sorted(GPU_OF_CONTAINER))
def test_the_gpus_of_a_container_are_read(name: str) -> None:
    asked = record(capture(f"docker/{name}"), "container")["gpu_request"]
    assert (asked["kind"], asked["ids"]) == GPU_OF_CONTAINER[name]


@pytest.mark.parametrize("name", sorted(GPU_OF_CONTAINER))
def test_environments_show_names_but_no_values_except_of_nvidia(name: str) -> None:
    printed = json.loads((CAPTURES / "docker" / name).read_text())[0]["Config"]["Env"]
    container = record(capture(f"docker/{name}"), "container")
    assert container["env_names"] == sorted(one.split("=")[0] for one in printed)
    assert set(container["nvidia_env"]) == {one.split("=")[0] for one in printed if one.startswith("NVIDIA_")}
    assert "/usr/bin" not in json.dumps(container)


def test_a_healthy_container_with_both_address_families() -> None:
    container = record(capture("docker/inspect-ok-legacy-uuid.json"), "container")
    assert (container["name"], container["project"], container["service"]) == ("llm-vllm-a-1", "llm", "vllm-a")
    assert (container["status"], container["running"], container["health"]) == ("running", True, "healthy")
    assert [(one["host_ip"], one["host_port"]) for one in container["published_ports"]] == [
        ("0.0.0.0", 8000),
        ("::", 8000),
    ]
    assert container["binds"] == ["/tank/models:/models:ro"]
    assert (container["shm_size_bytes"], container["ipc_mode"]) == (67108864, "private")
    assert container["restart_policy"] == "unless-stopped"


def test_no_health_check_is_no_health_word() -> None:
    container = record(capture("docker/inspect-no-health.json"), "container")
    assert container["health"] is None
    assert container["unknown"]["health"] == "no health check"


def test_health_of_a_container_that_ended_is_stale() -> None:
    container = record(capture("docker/inspect-exited-128-no-device.json"), "container")
    assert container["health"] is None
    assert "stale" in container["unknown"]["health"]


def test_the_cause_of_an_end_comes_from_docker_own_error_text() -> None:
    ended = capture("docker/inspect-exited-128-no-device.json").findings[0]
    assert ended.severity == "error"
    assert ended.evidence["cause"] == "gpu.device_node_missing"
    assert ended.evidence["retry"] is True
    assert "/dev/nvidia-uvm" in ended.message


def test_unpublished_is_reported_although_healthy_and_the_cure_is_not_a_restart() -> None:
    found = capture("docker/inspect-ports-empty-list.json").findings[1]
    assert found.fails
    assert "healthy" in found.message
    assert found.evidence["published"] == []
    assert "recreate" in found.remedy.lower()


def test_docker_port_tells_published_from_empty_and_from_refused() -> None:
    seen = capture("docker/port-outputs.txt")
    assert [(one.as_dict()["container"], len(one.as_dict()["ports"])) for one in seen.records] == [
        ("llm-vllm-a-1", 2),
        ("llm-vllm-b-1", 0),
        (None, 1),
    ]
    assert record(seen, "published_ports", 2)["ports"][0]["host_ip"] == "::"


def test_ps_as_a_list_tells_published_ports_from_exposed_ones() -> None:
    summary = record(capture("docker/ps-array-2.20.json"), "container_summary")
    assert [one["host_port"] for one in summary["published_ports"]] == [8000]
    assert [one["container_port"] for one in summary["exposed_ports"]] == [9000]
    assert (summary["state"], summary["health"], summary["exit_code"]) == ("running", "healthy", 0)


def test_ps_as_lines_keeps_label_values_with_commas() -> None:
    seen = capture("docker/ps-ndjson-2.21.txt")
    assert record(seen, "container_summary")["labels"] == {
        "homepage.group": "GPU",
        "homepage.description": "a, b",
        "com.docker.compose.project": "llm",
    }
    other = record(seen, "container_summary", 1)
    assert (other["name"], other["published_ports"], other["health"]) == ("llm-litellm-1", [], None)


def test_ps_without_output_means_that_nothing_runs() -> None:
    seen = capture("docker/ps-empty.txt")
    assert (seen.records, seen.findings) == ([], [])
    assert "no container is listed" in seen.notes
