"""Each declared key becomes exactly what Compose needs, and what is not declared gets a safe default."""

from __future__ import annotations

import pytest
from render_cases import UUIDS, host, rendered, service, stack, vllm_seat

from gpu_seats.render.compose import go_duration


def rendered_seat(**over):
    return rendered(stack({"x": vllm_seat(**over)}), asked="s").compose["services"]["x"]


def command_of(**over):
    return rendered_seat(**over)["command"]


@pytest.mark.parametrize(("state", "restart"), [("serving", "unless-stopped"), ("on_demand", "no"), ("dormant", "no")])
def test_only_serving_seats_come_back_by_themselves(state, restart):
    assert rendered_seat(state=state)["restart"] == restart


def test_project_name_is_always_written_and_a_dotted_stack_keeps_its_old_one():
    assert rendered(stack({"x": vllm_seat()}, stack="qwen3.5-122b")).compose["name"] == "qwen35-122b"


def test_cards_are_pinned_by_uuid_and_by_index_text_without_one():
    pinned = rendered_seat(gpus=["0", "1"])["deploy"]["resources"]["reservations"]["devices"]
    assert pinned == [{"capabilities": ["gpu"], "driver": "nvidia", "device_ids": [UUIDS["0"], UUIDS["1"]]}]
    bare = host(gpus={"0": {"model": "card", "vram": "97887MiB"}})
    loose = rendered(stack({"x": vllm_seat()}), on=bare).compose["services"]["x"]
    assert loose["deploy"]["resources"]["reservations"]["devices"][0]["device_ids"] == ["0"]


def test_cpu_seat_asks_for_no_card():
    cpu = {"engine": "llamacpp", "vllm": None, "gpus": [], "claim": {}, "model": {"path": "/m/a.gguf"}}
    read = rendered_seat(**cpu, image="ghcr.io/ggml-org/llama.cpp:server")
    assert "deploy" not in read
    assert read["command"][read["command"].index("-ngl") + 1] == "0"


def test_llamacpp_command_line():
    options = {"ctx_size": 4096, "parallel": 2, "repack": False, "flags": {"threads": 4, "jinja": True, "webui": False}}
    read = rendered_seat(
        engine="llamacpp",
        image="ghcr.io/ggml-org/llama.cpp:server-cuda",
        vllm=None,
        model={"path": "/m/a.gguf", "served_name": "a"},
        llamacpp=options,
    )
    assert read["command"] == [
        *("-m", "/m/a.gguf", "-a", "a", "--host", "0.0.0.0", "--port", "8080"),
        *("-c", "4096", "-np", "2", "-ngl", "all", "--metrics", "--no-repack"),
        *("--jinja", "--threads", "4", "--no-webui"),
    ]
    assert read["ports"][0]["target"] == 8080
    assert read["healthcheck"]["test"][:2] == ["CMD", "curl"]


def test_model_and_caches_are_mounted_and_only_the_compile_cache_may_be_made():
    mounts = {mount["target"]: mount for mount in rendered_seat()["volumes"]}
    assert mounts["/tank/aimodels/m"] == {
        "type": "bind",
        "source": "/tank/aimodels/m",
        "target": "/tank/aimodels/m",
        "read_only": True,
        "bind": {"create_host_path": False},
    }
    assert mounts["/hf"]["source"] == "/tank/aimodels/huggingface"
    assert mounts["/hf"]["bind"] == {"create_host_path": False}
    assert mounts["/root/.cache/vllm"]["source"] == "/tank/aimodels/cache/s/x"
    assert mounts["/root/.cache/vllm"]["bind"] == {"create_host_path": True}
    assert rendered_seat()["environment"]["HF_HOME"] == "/hf"


def test_declared_mount_replaces_the_default_of_the_same_target():
    mine = {"source": "/elsewhere", "target": "/hf"}
    mounts = [mount for mount in rendered_seat(mounts=[mine])["volumes"] if mount["target"] == "/hf"]
    assert [mount["source"] for mount in mounts] == ["/elsewhere"]


def test_seat_without_a_directory_is_served_from_its_repository_at_its_revision():
    command = command_of(model={"repo": "Qwen/Qwen3-0.6B", "revision": "abc1234"})
    assert command[:5] == ["Qwen/Qwen3-0.6B", "--served-model-name", "x", "--revision", "abc1234"]


@pytest.mark.parametrize("task", ["embedding", "rerank", "reward"])
def test_pooling_tasks_get_the_pooling_runner(task):
    command = command_of(task=task)
    assert command[command.index("--runner") + 1] == "pooling"
    assert "--runner" not in command_of()


def test_one_tensor_parallel_worker_a_card():
    command = command_of(gpus=["0", "1"])
    assert command[command.index("--tensor-parallel-size") + 1] == "2"
    assert "--tensor-parallel-size" not in command_of()
    spread = {"gpu_memory_utilization": 0.2, "flags": {"data-parallel-size": 2}}
    assert "--tensor-parallel-size" not in command_of(gpus=["0", "1"], vllm=spread)


def test_a_value_that_begins_like_a_flag_stays_its_flags_value():
    """argparse ends at "expected one argument" when the two stand apart."""
    command = command_of(vllm={"gpu_memory_utilization": 0.2, "flags": {"chat-template": "--x", "seed": 1}})
    assert "--chat-template=--x" in command
    assert command[command.index("--seed") + 1] == "1"


def test_further_flags_are_written_as_the_parser_reads_them():
    flags = {
        "enable-prefix-caching": False,
        "headless": False,
        "seed": 7,
        "limit-mm-per-prompt": {"image": 2},
        "lora-modules": ["a=/x", "b=/y"],
        "middleware": ["m.A", "m.B"],
        "allowed-origins": ["http://a:1"],
    }
    del flags["headless"]
    command = command_of(vllm={"gpu_memory_utilization": 0.2, "flags": flags})
    assert command[command.index("--allowed-origins") :] == [
        *("--allowed-origins", '["http://a:1"]'),
        "--no-enable-prefix-caching",
        *("--limit-mm-per-prompt", '{"image": 2}'),
        *("--lora-modules", "a=/x", "b=/y"),
        *("--middleware", "m.A", "--middleware", "m.B"),
        *("--seed", "7"),
    ]


def test_own_port_in_the_container_reaches_command_health_check_and_publishing():
    read = rendered_seat(container_port=9000)
    assert read["command"][read["command"].index("--port") + 1] == "9000"
    assert read["ports"][0]["target"] == 9000
    assert "127.0.0.1:9000/health" in read["healthcheck"]["test"][-1]


def test_speculation_and_overrides_are_json_without_our_own_keys():
    options = {
        "gpu_memory_utilization": 0.2,
        "speculative": {"method": "mtp", "num_speculative_tokens": 1, "mtp_layers": 1},
        "hf_overrides": {"text_config": {"ple_embedding_dtype": "float8_e4m3fn"}},
    }
    command = command_of(vllm=options)
    assert command[command.index("--speculative-config") + 1] == '{"method": "mtp", "num_speculative_tokens": 1}'
    assert command[command.index("--hf-overrides") + 1] == '{"text_config": {"ple_embedding_dtype": "float8_e4m3fn"}}'


@pytest.mark.parametrize(
    ("over", "key", "value"),
    [
        ({}, "shm_size", str(8 * 2**30)),
        ({"gpus": ["0", "1"]}, "shm_size", str(16 * 2**30)),
        ({"resources": {"shm_size": "1GiB"}}, "shm_size", str(2**30)),
        ({"resources": {"ipc": "host"}}, "shm_size", None),
        ({"resources": {"ipc": "host"}}, "ipc", "host"),
        ({"claim": {"vram": "20GiB", "host_ram": "10GiB"}}, "mem_limit", str(13 * 2**30)),
        ({"resources": {"mem_limit": "5GiB"}}, "mem_limit", str(5 * 2**30)),
        ({}, "mem_limit", None),
        ({"resources": {"memlock_unlimited": True}}, "ulimits", {"memlock": -1}),
        ({}, "ulimits", None),
        ({"resources": {"cap_add": ["SYS_NICE"]}}, "cap_add", ["SYS_NICE"]),
    ],
    ids=str,
)
def test_resource_caps(over, key, value):
    assert rendered_seat(**over).get(key) == value


def test_health_check_waits_as_long_as_the_model_may_load():
    assert rendered_seat(timeouts={"load": "20m"})["healthcheck"]["start_period"] == "20m0s"
    mine = {"test": ["CMD", "true"], "interval_s": 90}
    assert rendered_seat(healthcheck=mine)["healthcheck"]["interval"] == "1m30s"


@pytest.mark.parametrize(("seconds", "text"), [(0, "0s"), (15, "15s"), (60, "1m0s"), (900, "15m0s"), (3661, "1h1m1s")])
def test_durations_as_compose_prints_them(seconds, text):
    assert go_duration(seconds) == text


def test_service_with_host_networking_publishes_nothing_and_joins_no_network():
    read = rendered(stack(services={"agent": service(network_mode="host")}))
    assert "ports" not in read.compose["services"]["agent"]
    assert "networks" not in read.compose


def test_ports_in_long_form_with_text_for_the_published_one():
    ports = [{"host": 53, "container": 5353, "protocol": "udp", "address": "10.251.50.54"}]
    read = rendered(stack(services={"dns": service(ports=ports)})).compose["services"]["dns"]
    assert read["ports"] == [
        {"mode": "ingress", "host_ip": "10.251.50.54", "target": 5353, "published": "53", "protocol": "udp"}
    ]


def test_tile_links_to_the_hosts_address_and_follows_a_renumbering():
    tile = {"group": "AI seats", "name": "X", "icon": "mdi-chip", "weight": 10, "path": "/docs"}
    read = rendered(stack({"x": vllm_seat(homepage=tile)}), on=host(address="10.9.9.9")).compose
    labels = read["services"]["x"]["labels"]
    assert labels["homepage.href"] == "http://10.9.9.9:8015/docs"
    assert labels["homepage.weight"] == "10"
    v6 = rendered(stack({"x": vllm_seat(homepage=tile)}), on=host(address="fd00::1")).compose
    assert v6["services"]["x"]["labels"]["homepage.href"] == "http://[fd00::1]:8015/docs"


def test_every_service_says_whose_it_is():
    read = rendered(stack({"x": vllm_seat()}, {"web": service(labels={"team": "ops"})})).compose["services"]
    assert read["x"]["labels"]["gpu-seats.seat"] == "x"
    assert read["web"]["labels"]["gpu-seats.service"] == "web"
    assert {one["labels"]["gpu-seats.stack"] for one in read.values()} == {"s"}
    assert read["web"]["labels"]["team"] == "ops"


def test_seat_with_host_networking_listens_on_its_own_port_and_keeps_its_link():
    tile = {"group": "AI seats", "name": "X"}
    made = rendered(stack({"x": vllm_seat(network_mode="host", homepage=tile)}))
    read = made.compose["services"]["x"]
    assert read["command"][read["command"].index("--port") + 1] == "8015"
    assert ("ports" in read, read["network_mode"]) == (False, "host")
    assert read["labels"]["homepage.href"] == "http://10.251.50.54:8015/"
    assert "127.0.0.1:8015/health" in read["healthcheck"]["test"][-1]
    assert (made.checks[0]["port"], made.checks[0]["container_port"]) == (8015, 8015)
