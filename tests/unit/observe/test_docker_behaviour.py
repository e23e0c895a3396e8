"""What operators ran into with Docker: containers that look well and are not, and text that is not what it seems."""

from __future__ import annotations

import json
from typing import Any

import pytest
from captured import code_set, codes, read, record


def container(**changes: Any) -> dict[str, Any]:
    """A running, healthy container whose port is published; `changes` go into State, HostConfig and so on."""
    said: dict[str, Any] = {
        "Id": "ab" * 32,
        "Name": "/vllm-gen",
        "RestartCount": 0,
        "State": {"Status": "running", "Running": True, "ExitCode": 0, "Error": "", "Health": {"Status": "healthy"}},
        "HostConfig": {
            "NetworkMode": "gen_default",
            "PortBindings": {"8000/tcp": [{"HostIp": "", "HostPort": "8022"}]},
            "RestartPolicy": {"Name": "unless-stopped"},
            "DeviceRequests": [{"Driver": "nvidia", "Count": 0, "DeviceIDs": ["GPU-aa"], "Capabilities": [["gpu"]]}],
        },
        "Config": {"Image": "x", "Labels": {}, "Env": ["HF_TOKEN=hf_secret", "NVIDIA_API_KEY=nv_secret"]},
        "NetworkSettings": {
            "Ports": {"8000/tcp": [{"HostIp": "0.0.0.0", "HostPort": "8022"}]},
            "Networks": {"gen_default": {"IPAddress": "172.18.0.2"}},
        },
    }
    for key, value in changes.items():
        if isinstance(said.get(key), dict):
            said[key] = {**said[key], **value}
        else:
            said[key] = value
    return said


def inspect(*containers: dict[str, Any]):  # type: ignore[no-untyped-def]
    return read("docker-inspect", json.dumps(list(containers)))


def test_a_published_healthy_pinned_container_has_no_finding() -> None:
    assert inspect(container()).findings == []


@pytest.mark.parametrize(
    "ports", [{}, {"8000/tcp": []}, {"8000/tcp": None}, None, {"9000/tcp": [{"HostPort": "9000"}]}]
)
def test_running_and_healthy_without_its_port_is_found_from_state_alone(ports: Any) -> None:
    seen = inspect(container(NetworkSettings={"Ports": ports, "Networks": {}}))
    assert codes(seen) == [("port.unpublished", "container:vllm-gen")]
    assert seen.findings[0].evidence["networks"] == []


def test_the_port_of_another_number_does_not_count_as_published() -> None:
    seen = inspect(
        container(NetworkSettings={"Ports": {"8000/tcp": [{"HostIp": "", "HostPort": "8023"}]}, "Networks": {}})
    )
    assert code_set(seen) == {"port.unpublished"}


def test_any_free_port_counts_where_none_was_named() -> None:
    seen = inspect(
        container(HostConfig={"PortBindings": {"8000/tcp": [{"HostIp": "", "HostPort": ""}]}, "DeviceRequests": []})
    )
    assert seen.findings == []


@pytest.mark.parametrize("mode", ["host", "none", "container:abc"])
def test_network_modes_without_ports_of_their_own_are_exempt(mode: str) -> None:
    seen = inspect(container(HostConfig={"NetworkMode": mode}, NetworkSettings={"Ports": {}}))
    assert "port.unpublished" not in code_set(seen)


def test_a_container_that_does_not_run_is_not_unpublished() -> None:
    seen = inspect(
        container(State={"Status": "exited", "Running": False, "ExitCode": 0}, NetworkSettings={"Ports": {}})
    )
    assert "port.unpublished" not in code_set(seen)


def test_secrets_of_the_environment_never_come_out() -> None:
    seen = inspect(container())
    assert record(seen, "container")["env_names"] == ["HF_TOKEN", "NVIDIA_API_KEY"]
    assert "secret" not in json.dumps(seen.as_dict())


def test_neither_count_nor_ids_means_no_gpu() -> None:
    requests = [{"Driver": "nvidia", "Count": 0, "DeviceIDs": None, "Capabilities": [["gpu"]]}]
    seen = inspect(container(HostConfig={"DeviceRequests": requests}))
    assert record(seen, "container")["gpu_request"]["kind"] == "void"
    assert codes(seen) == [("gpu.none_requested", "container:vllm-gen")]


def test_count_and_ids_together_are_refused() -> None:
    requests = [{"Driver": "nvidia", "Count": 1, "DeviceIDs": ["GPU-aa"], "Capabilities": [["gpu"]]}]
    assert "gpu.count_and_ids" in code_set(inspect(container(HostConfig={"DeviceRequests": requests})))


@pytest.mark.parametrize("printed", ["true", "no", "off", "1.0", "null"])
def test_ids_that_yaml_made_of_something_else_are_found(printed: str) -> None:
    requests = [{"Driver": "nvidia", "Count": 0, "DeviceIDs": [printed], "Capabilities": [["gpu"]]}]
    assert "gpu.id_coerced" in code_set(inspect(container(HostConfig={"DeviceRequests": requests})))


def test_pinning_by_index_is_noted() -> None:
    requests = [{"Driver": "nvidia", "Count": 0, "DeviceIDs": ["2"], "Capabilities": [["gpu"]]}]
    (found,) = inspect(container(HostConfig={"DeviceRequests": requests})).findings
    assert (found.code, found.severity) == ("gpu.pinned_by_index", "info")


def test_devices_of_other_vendors_are_no_gpu_request() -> None:
    requests = [{"Driver": "other", "Count": -1, "DeviceIDs": None, "Capabilities": [["tpu"]]}]
    assert (
        record(inspect(container(HostConfig={"DeviceRequests": requests})), "container")["gpu_request"]["kind"]
        == "none"
    )


def test_the_runtime_with_a_void_variable_gives_no_gpu() -> None:
    seen = inspect(
        container(
            HostConfig={"DeviceRequests": None, "Runtime": "nvidia"},
            Config={"Env": ["NVIDIA_VISIBLE_DEVICES=void"], "Labels": {}},
        )
    )
    assert record(seen, "container")["gpu_request"]["kind"] == "none"


@pytest.mark.parametrize(
    ("state", "code", "severity"),
    [
        ({"Status": "exited", "Running": False, "ExitCode": 137, "OOMKilled": False}, "container.exited", "error"),
        ({"Status": "exited", "Running": False, "ExitCode": 0}, "container.exited", "error"),
        (
            {"Status": "restarting", "Running": True, "Restarting": True, "ExitCode": 1},
            "container.restart_loop",
            "error",
        ),
        ({"Status": "created", "Running": False, "ExitCode": 128, "Error": "x"}, "container.never_started", "error"),
        ({"Status": "dead", "Running": False}, "container.dead", "critical"),
        ({"Status": "paused", "Running": True}, "container.paused", "warning"),
    ],
)
def test_each_state_that_is_not_running_has_its_finding(state: dict[str, Any], code: str, severity: str) -> None:
    seen = inspect(container(State={**state, "Health": None}, HostConfig={"PortBindings": {}}))
    assert [(one.code, one.severity) for one in seen.findings] == [(code, severity)]


def test_a_stopped_container_that_nobody_wants_up_is_only_a_note() -> None:
    state = {"Status": "exited", "Running": False, "ExitCode": 0, "Health": None}
    (found,) = inspect(container(State=state, HostConfig={"RestartPolicy": {"Name": "no"}})).findings
    assert found.severity == "info"


def test_memory_that_ran_out_is_named() -> None:
    state = {"Status": "exited", "Running": False, "ExitCode": 137, "OOMKilled": True, "Health": None}
    assert code_set(inspect(container(State=state))) == {"container.exited", "container.oom_killed"}


def test_a_first_start_that_failed_on_a_taken_port_says_so() -> None:
    error = (
        "driver failed programming external connectivity on endpoint vllm-gen (ab): Bind "
        "for 0.0.0.0:8022 failed: port is already allocated"
    )
    state = {"Status": "created", "Running": False, "ExitCode": 128, "Error": error, "Health": None}
    (found,) = inspect(container(State=state)).findings
    assert found.evidence["cause"] == "port.taken"
    assert found.evidence["retry"] is False


def test_restarts_that_climb_are_a_loop_even_while_it_runs() -> None:
    (found,) = inspect(container(RestartCount=7)).findings
    assert (found.code, found.severity) == ("container.restart_loop", "warning")


def test_an_unhealthy_container_shows_what_its_check_printed() -> None:
    health = {"Status": "unhealthy", "FailingStreak": 3, "Log": [{"ExitCode": 1, "Output": "curl: (7) refused\n"}]}
    (found,) = inspect(container(State={"Health": health})).findings
    assert found.evidence["last_outputs"] == ["curl: (7) refused"]


def test_leftovers_of_an_interrupted_recreate_are_found_by_name_and_label() -> None:
    by_name = inspect(container(Name="/0123456789ab_vllm-gen"))
    assert codes(by_name) == [("container.recreate_leftover", "container:0123456789ab_vllm-gen")]
    by_label = inspect(container(Config={"Labels": {"com.docker.compose.replace": "vllm-gen"}}))
    assert codes(by_label) == [("container.recreate_leftover", "container:vllm-gen")]


def test_a_single_object_and_a_list_read_the_same() -> None:
    one = read("docker-inspect", json.dumps(container()))
    assert [r.as_dict() for r in one.records] == [r.as_dict() for r in inspect(container()).records]


def test_keys_that_an_engine_leaves_out_are_unknown_not_wrong() -> None:
    seen = read("docker-inspect", '[{"Id": "ab", "State": {"Status": "running", "Running": true}}]')
    assert seen.findings == []
    assert record(seen, "container")["unknown"]["restart_count"] == "not in this output"


def test_a_list_that_is_cut_gives_the_containers_before_the_cut() -> None:
    text = json.dumps([container(), container(Name="/b")])
    seen = read("docker-inspect", text[: len(text) - 40])
    assert [one.kind for one in seen.records] == ["container"]
    assert code_set(seen) == {"parse.truncated"}


def test_a_missing_object_is_said_to_be_missing() -> None:
    assert codes(read("docker-inspect", "[]\nError: No such object: vllm-gen\n", 1)) == [
        ("container.not_found", "tool:compose")
    ]


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ({"Id": "sha256:1", "RepoTags": ["x:1"], "RootFS": {}}, "image"),
        ({"Name": "gen_default", "IPAM": {}, "Scope": "local"}, "network"),
        ({"Name": "v", "Mountpoint": "/x"}, "volume"),
    ],
)
def test_other_objects_are_told_from_containers(said: dict[str, Any], word: str) -> None:
    (found,) = read("docker-inspect", json.dumps([said])).findings
    assert found.code == "parse.other_object"
    assert word in found.message


def test_an_image_tells_the_commit_it_was_built_from() -> None:
    said = {
        "Id": "sha256:1",
        "RepoTags": ["x:1"],
        "RootFS": {},
        "Config": {"Env": ["VLLM_BUILD_COMMIT=abc"], "Labels": {}},
    }
    assert record(read("docker-inspect", json.dumps([said])), "image")["revision"] == "abc"


TABLE = (
    "CONTAINER ID   IMAGE                    COMMAND         CREATED      STATUS          "
    "           PORTS                                         NAMES\n"
    '9f9f9f9f9f9f   vllm/vllm-openai:v0.11   "vllm serve"    9 days ago   Up 9 hours '
    "(healthy)       0.0.0.0:8001-8002->8001-8002/tcp, 9000/tcp    vllm-a\n"
    '8e8e8e8e8e8e   litellm:main             "litellm"       9 days ago   Exited (137) 2 '
    "hours ago                                                 litellm\n"
    '7d7d7d7d7d7d   x                        "sleep…"        9 days ago   Restarting (1) '
    "5 sec ago                                                 loop\n"
)


def test_the_table_for_people_is_read_by_its_columns() -> None:
    seen = read("docker-ps", TABLE)
    rows = [one.as_dict() for one in seen.records]
    assert [(row["name"], row["state"], row["exit_code"]) for row in rows] == [
        ("vllm-a", "running", None),
        ("litellm", "exited", 137),
        ("loop", "restarting", 1),
    ]
    assert [one["host_port"] for one in rows[0]["published_ports"]] == [8001, 8002]
    assert [one["container_port"] for one in rows[0]["exposed_ports"]] == [9000]
    assert codes(seen) == [("container.exited", "container:litellm"), ("container.restart_loop", "container:loop")]


def test_the_table_of_compose_is_read_too() -> None:
    text = (
        "NAME       IMAGE   COMMAND   SERVICE   CREATED      STATUS                            PORTS\n"
        'llm-a-1    x       "serve"   a         2 days ago   Up 2 seconds (health: starting)   [::]:80->80/tcp\n'
    )
    summary = record(read("docker-ps", text), "container_summary")
    assert (summary["name"], summary["service"], summary["health"]) == ("llm-a-1", "a", "starting")
    assert summary["published_ports"][0]["host_ip"] == "::"


def test_lines_of_docker_ps_with_ports_as_text_are_read() -> None:
    line = {
        "ID": "9f",
        "Names": "a",
        "State": "running",
        "Status": "Up",
        "Ports": "127.0.0.1:80->80/tcp",
        "Labels": "k=v=w",
    }
    summary = record(read("docker-ps", json.dumps(line) + "\n"), "container_summary")
    assert summary["published_ports"][0]["host_ip"] == "127.0.0.1"
    assert summary["labels"] == {"k": "v=w"}


def test_a_cut_line_is_a_finding_and_whole_lines_count() -> None:
    seen = read("docker-ps", '{"Name":"a","State":"running"}\n{"Name":"b","Sta')
    assert [one.as_dict()["name"] for one in seen.records] == ["a"]
    assert code_set(seen) == {"parse.truncated"}


def test_an_empty_list_of_old_compose_means_that_nothing_runs() -> None:
    seen = read("docker-ps", "[]\n")
    assert (seen.records, seen.findings) == ([], [])


def test_an_engine_that_is_down_is_no_empty_list() -> None:
    seen = read(
        "docker-ps",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n",
        1,
    )
    assert code_set(seen) == {"compose.engine_unreachable"}


def test_docker_port_with_a_port_prints_addresses_only() -> None:
    seen = read("docker-port", "# $ docker port vllm-gen 8000\n0.0.0.0:8022\n[::]:8022\n# rc=0\n")
    assert [(one["container_port"], one["host_port"]) for one in record(seen, "published_ports")["ports"]] == [
        (8000, 8022),
        (8000, 8022),
    ]
