"""Failure texts of more releases and engines than the saved captures hold: each leads to its own cause, not to a
general one, and what a text does not say stays out of the message."""

from __future__ import annotations

import pytest
from captured import read, record

_RUNTIME = "failed to create task for container: failed to create shim task: OCI runtime create failed: "

COMPOSE = [
    ("nvidia-container-cli: detection error: nvml error: gpu is lost: unknown", "gpu.lost"),
    ("nvidia-container-cli: detection error: nvml error: no device found: unknown", "gpu.no_devices"),
    (
        "nvidia-container-cli: initialization error: nvml error: insufficient permissions: unknown",
        "gpu.permission_denied",
    ),
    ('failed to inject CDI devices: failed to stat CDI host device "/dev/nvidia-uvm"', "gpu.device_node_missing"),
    ("requirement error: invalid expression: cuda>=13.0 brand=unknown", "gpu.driver_requirement"),
    (
        "error decoding 'devices[0].count': invalid value \"x\", the only value allowed is 'all' or a number",
        "gpu.count_invalid",
    ),
    ("services.a.deploy.resources.reservations.devices.0 missing property 'capabilities'", "gpu.capability_missing"),
    (
        "services.a.deploy.resources.reservations.devices.0.device_ids.0 must be a string",
        "gpu.id_coerced",
    ),
    (
        'Error response from daemon: Head "https://ghcr.io/v2/x/y/manifests/server": denied: denied',
        "image.access_denied",
    ),
    (
        'Error response from daemon: Head "https://ghcr.io/v2/x/y/manifests/latest": unauthorized',
        "image.access_denied",
    ),
    (
        "Error response from daemon: received unexpected HTTP status: 502 Bad Gateway",
        "image.registry_unreachable",
    ),
    (
        "Error response from daemon: container is marked for removal and cannot be started",
        "container.removal_in_progress",
    ),
    (
        "driver failed programming external connectivity on endpoint x (y): all ports are allocated",
        "port.taken",
    ),
    (
        'on endpoint x (y): exec: "docker-proxy": executable file not found in $PATH',
        "compose.firewall_failed",
    ),
    ("open /opt/stacks/x/.env: permission denied", "compose.env_file_invalid"),
    ('  line 12: mapping key "labels" already defined at line 8', "compose.yaml_invalid"),
    ("application not healthy after 5m0s", "compose.dependency_failed"),
]


@pytest.mark.parametrize(("text", "code"), COMPOSE)
def test_a_text_of_compose_has_its_own_cause(text: str, code: str) -> None:
    assert [one.code for one in read("compose-up", text, 1).findings] == [code]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('could not select device driver "" with capabilities: [[gpu]]', "no device driver for gpu"),
        ("project name must not be empty", "the project has no name"),
        (
            _RUNTIME + "fork/exec /usr/bin/nvidia-container-runtime: no such file or directory: <nil>: unknown",
            "the NVIDIA runtime is not installed",
        ),
        (
            "error while creating mount source path '/mnt/models': mkdir /mnt/models: file exists",
            "/mnt/models is there and can't be used",
        ),
        ('service "a" extends unknown service', 'service "a" extends'),
    ],
)
def test_a_message_says_what_the_text_says(text: str, told: str) -> None:
    assert told in read("compose-up", text, 1).findings[0].message


def test_an_interrupted_pull_is_told_as_one_and_its_bars_are_progress() -> None:
    text = "[+] Pulling 2/5\n ⠧ vllm [⣿⣿⡀⣿] 4.2GB / 9.1GB Pulling  121.3s\n   ✔ 6b59a28fa201 Pull complete  3.2s\n"
    found = read("compose-up", text, 130).findings
    assert [one.code for one in found] == ["compose.failed"]
    assert "interrupted" in found[0].message
    assert "nothing printed" in found[0].message


VLLM = [
    ("huggingface_hub.errors.HfHubHTTPError: 401 Client Error: Unauthorized for url: https://x", "engine.gated_repo"),
    ("huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests", "engine.hub_unreachable"),
    ("OSError: [Errno 28] No space left on device", "host.disk_full"),
    ("RuntimeError: Data processing error: I/O error: No space left on device (os error 28)", "host.disk_full"),
    ("RuntimeError: unable to write to file </torch_123>: No space left on device (28)", "engine.shm_too_small"),
    ("Fatal Python error: Bus error", "engine.shm_too_small"),
    (
        "RuntimeError: Engine core initialization failed. Failed core proc(s): {'EngineCore': -9}",
        "engine.worker_killed",
    ),
    (
        "RuntimeError: Engine core initialization failed. Failed core proc(s): {'EngineCore': -11}",
        "engine.process_crashed",
    ),
    ("ImportError: libcuda.so.1: cannot open shared object file: No such file", "engine.no_gpu_visible"),
    ("  Value error, Device string must not be empty [type=value_error]", "engine.no_gpu_visible"),
    (
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized",
        "engine.gpu_failed",
    ),
    ("RuntimeError: Could not find nvcc and default cuda_home='/usr/local/cuda'", "engine.compiler_missing"),
    ("TimeoutError: Timed out waiting for engines to send initial message", "engine.ready_timeout"),
    ("/opt/nvidia/nvidia_entrypoint.sh: line 67: exec: vllm: not found", "container.command_missing"),
    ("exec /usr/bin/python3: exec format error", "image.no_platform"),
    (
        "ValueError: Weight output_size_per_partition = 1 is not divisible by min_thread_n = 64.",
        "engine.parallel_size_unfit",
    ),
]


@pytest.mark.parametrize(("text", "code"), VLLM)
def test_a_last_line_of_vllm_has_its_own_cause(text: str, code: str) -> None:
    assert record(read("vllm-log", text), "engine_log")["root_cause"] == code


def test_an_exception_of_no_known_kind_is_the_cause_when_nothing_follows_it() -> None:
    head = "INFO 11-02 10:11:12 [api_server.py:1896] vLLM API server version 0.25.0\n"
    died = head + "Traceback (most recent call last):\n  File 'x', line 1\nZeroDivisionError: division by zero\n"
    assert record(read("vllm-log", died), "engine_log")["root_cause"] == "engine.failed"
    ignored = died.replace("Traceback", "Exception ignored in: <function x>\nTraceback")
    assert record(read("vllm-log", ignored), "engine_log")["root_cause"] is None
    went_on = died + "INFO 11-02 10:11:14 [gpu_model_runner.py:1] Starting to load model x...\n"
    log = record(read("vllm-log", went_on), "engine_log")
    assert (log["root_cause"], log["stage"]) == (None, "loading")


def test_what_explains_a_refusal_stands_before_the_refusal() -> None:
    text = (
        "  Value error, The repository x contains custom code which must be executed to correctly load the model.\n"
        "Please pass the argument `trust_remote_code=True` to allow custom code to be run. [type=value_error]\n"
    )
    assert record(read("vllm-log", text), "engine_log")["root_cause"] == "engine.needs_remote_code"


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("vllm-log", "RuntimeError: The NVIDIA driver on your system is too old (found version 12080)."),
        ("vllm-log", "ValueError: model type `qwen3_next` but Transformers does not recognize this architecture."),
        ("vllm-log", "KeyError: 'layers.0.mlp.experts.w13_weight_scale'"),
        ("vllm-log", "!!!!!!! Segfault encountered !!!!!!!"),
        ("llamacpp-log", "ggml_cuda_init: failed to initialize CUDA: unknown error"),
        ("llamacpp-log", "srv load_model: failed to load multimodal model, '/models/mmproj.gguf'"),
    ],
)
def test_a_message_has_no_gaps(tool: str, text: str) -> None:
    """A fact that this wording does not print, or prints under another name, leaves no question mark."""
    found = read(tool, text).findings
    assert found
    assert not any("?" in one.message for one in found)


def test_memory_of_an_old_torch_is_read() -> None:
    text = (
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacty of "
        "23.64 GiB of which 0 bytes is free."
    )
    evidence = read("vllm-log", text).findings[0].evidence
    assert (evidence["container_gpu"], evidence["total_gib"], evidence["free"]) == (1, 23.64, "0 bytes")


LLAMA = [
    ("gguf_init_from_file: failed to open GGUF file '/models/x.gguf' (Permission denied)", "engine.permission_denied"),
    ("/app/llama-server: error while loading shared libraries: libcuda.so.1: cannot open", "engine.no_gpu_visible"),
    (
        "ggml_cuda_init: failed to initialize CUDA: CUDA driver version is insufficient for CUDA runtime version",
        "engine.driver_too_old",
    ),
    ("CUDA error: no kernel image is available for execution on the device", "engine.no_kernel_image"),
    ("Illegal instruction (core dumped)", "engine.process_crashed"),
    ("error: failed to download model from Hugging Face", "engine.hub_unreachable"),
    ("error: failed to get manifest: 401 Unauthorized", "engine.gated_repo"),
]


@pytest.mark.parametrize(("text", "code"), LLAMA)
def test_a_line_of_llamacpp_has_its_own_cause(text: str, code: str) -> None:
    assert record(read("llamacpp-log", text), "llama_server_log")["root_cause"] == code


@pytest.mark.parametrize(
    ("rc", "code"),
    [(9, "gpu.driver_unreachable"), (15, "gpu.lost"), (124, "command.hung"), (127, "command.missing")],
)
def test_an_exit_code_without_text_tells_the_fault_and_no_count(rc: int, code: str) -> None:
    said = read("nvidia-smi", f"# rc={rc}\n")
    assert [one.code for one in said.findings] == [code]
    assert record(said, "gpu_inventory")["card_count"] is None


@pytest.mark.parametrize("tool", ["docker-ps", "docker-inspect", "ss", "compose-up", "compose-config"])
def test_a_command_that_was_ended_in_silence_is_hung(tool: str) -> None:
    assert [one.code for one in read(tool, "# rc=124\n").findings] == ["command.hung"]


def test_cards_that_were_not_asked_for_are_not_counted_as_none() -> None:
    said = read("nvidia-smi", "No devices were found via uuid GPU-1\n# rc=6\n")
    assert [one.code for one in said.findings] == ["gpu.not_listed"]
    assert record(said, "gpu_inventory")["card_count"] is None


def test_a_listing_may_go_on_after_the_uuid() -> None:
    said = read("nvidia-smi", "GPU 0: NVIDIA X (UUID: GPU-11111111-2222-3333-4444-555555555555) (S/N: 1324)\n")
    assert record(said, "gpu_card")["uuid"] == "GPU-11111111-2222-3333-4444-555555555555"


def test_error_cells_of_both_rows_belong_to_one_card() -> None:
    text = (
        "| NVIDIA-SMI 580.95.05   Driver Version: 580.95.05   CUDA Version: 13.0 |\n"
        "|   1  ERR!                Off  |   00000000:42:00.0 Off |        ERR! |\n"
        "|ERR! ERR!  ERR!   ERR! / ERR!  |GPU is lost             |   ERR! ERR! |\n"
        "+-------------------------------+------------------------+-------------+\n"
    )
    found = [one for one in read("nvidia-smi", text).findings if one.severity != "info"]
    assert [(one.code, one.subject) for one in found] == [("gpu.lost", "gpu:1")]


def test_a_version_mismatch_of_the_kernel_log_may_name_the_program() -> None:
    text = (
        "[ 12.3] NVRM: API mismatch: the client 'nvidia-smi' (pid 4242)\n"
        "[ 12.3] NVRM: has the version 580.65.06, but this kernel module has\n"
        "[ 12.3] NVRM: the version 575.57.08.  Please make sure that this\n"
    )
    found = read("nvidia-smi", text).findings
    assert [one.code for one in found] == ["gpu.driver_mismatch"]
    assert (found[0].evidence["library"], found[0].evidence["loaded"]) == ("580.65.06", "575.57.08")


def test_a_table_row_that_does_not_fit_gives_no_invented_address() -> None:
    text = (
        "NAME         IMAGE     STATUS              PORTS\n"
        "flash-next   vllm      Up 3 hours (health: starting)   0.0.0.0:8000->8000/tcp\n"
    )
    said = read("docker-ps", text)
    assert [one.code for one in said.findings] == ["parse.row_malformed"]
    assert not said.records


def test_details_and_sockets_without_ports_are_no_broken_rows() -> None:
    text = (
        'u_str LISTEN 0 4096 /run/docker.sock 1234 * 0 users:(("dockerd",pid=1,fd=3))\n'
        'tcp LISTEN 0 4096 0.0.0.0:8000 0.0.0.0:* users:(("docker-proxy",pid=4242,fd=7))\n'
        "\t skmem:(r0,rb131072,t0,tb16384,f0,w0,o0,bl0,d0) cubic cwnd:10\n"
    )
    said = read("ss", text)
    assert not said.findings
    assert [one.as_dict()["port"] for one in said.records] == [8000]


def _running(host: str, ports: str, config: str = '"Image":"x"') -> str:
    state = '"State":{"Status":"running","Running":true}'
    return f'[{{"Name":"/x",{state},"HostConfig":{host},"NetworkSettings":{{"Ports":{ports}}},"Config":{{{config}}}}}]'


@pytest.mark.parametrize(
    ("wanted", "there", "codes"),
    [
        ("10.0.81.10", "127.0.0.1", ["port.unpublished"]),
        ("10.0.81.10", "10.0.81.10", []),
        ("10.0.81.10", "0.0.0.0", []),
        ("0.0.0.0", "::", []),
        ("invalid IP", "0.0.0.0", []),
    ],
)
def test_a_port_is_published_on_the_address_that_was_asked_for(wanted: str, there: str, codes: list[str]) -> None:
    host = f'{{"PortBindings":{{"8000/tcp":[{{"HostIp":"{wanted}","HostPort":"8000"}}]}}}}'
    ports = f'{{"8000/tcp":[{{"HostIp":"{there}","HostPort":"8000"}}]}}'
    assert [one.code for one in read("docker-inspect", _running(host, ports)).findings] == codes


def test_all_exposed_ports_are_wanted_where_all_are_to_be_published() -> None:
    text = _running('{"PublishAllPorts":true}', "{}", '"Image":"x","ExposedPorts":{"8000/tcp":{}}')
    assert [one.code for one in read("docker-inspect", text).findings] == ["port.unpublished"]


def test_device_nodes_are_a_gpu_request() -> None:
    host = '{"Devices":[{"PathOnHost":"/dev/nvidia3"},{"PathOnHost":"/dev/nvidiactl"}],"DeviceRequests":null}'
    request = record(read("docker-inspect", _running(host, "{}")), "container")["gpu_request"]
    assert (request["kind"], request["ids"]) == ("device_nodes", ["3"])


@pytest.mark.parametrize(
    ("service", "kind", "codes"),
    [
        ("devices: [nvidia.com/gpu=0]", "cdi", []),
        ("devices: [{source: /dev/nvidia0, target: /dev/nvidia0}]", "device_nodes", []),
        ("runtime: nvidia", "none", ["gpu.unpinned"]),
    ],
)
def test_every_way_to_ask_for_a_card_is_read(service: str, kind: str, codes: list[str]) -> None:
    said = read("compose-config", f"name: x\nservices:\n  a:\n    image: x\n    {service}\n")
    assert record(said, "compose_service")["gpu_request"]["kind"] == kind
    assert [one.code for one in said.findings] == codes


def test_a_file_as_it_was_written_is_read_too() -> None:
    """Short ports and merge keys, which ``config`` has already resolved."""
    ports = '["2122:22", "127.0.0.1:8000:8000", "9000", "[::1]:80:80", "8000-8002:8000-8002/udp"]'
    text = f"name: x\nx-a: &a\n  image: i\nservices:\n  a:\n    <<: *a\n    ports: {ports}\n"
    service = record(read("compose-config", text), "compose_service")
    assert service["image"] == "i"
    assert [(p["host_ip"], p["host_port"], p["container_port"], p["protocol"]) for p in service["ports"]] == [
        ("", 2122, 22, "tcp"),
        ("127.0.0.1", 8000, 8000, "tcp"),
        ("", None, 9000, "tcp"),
        ("::1", 80, 80, "tcp"),
        ("", 8000, 8000, "udp"),
    ]


@pytest.mark.parametrize(
    "text",
    ['{"error":"Repository not found"}', "We had to rate limit your IP (192.0.2.1). To continue, create an account"],
)
@pytest.mark.parametrize("tool", ["model-config", "safetensors-index"])
def test_an_answer_saved_under_a_files_name_is_no_file(tool: str, text: str) -> None:
    assert [one.code for one in read(tool, text).findings] == ["model.error_page"]


def test_an_index_that_says_zero_bytes_says_nothing() -> None:
    index = read("safetensors-index", '{"metadata":{"total_size":0},"weight_map":{"a":"model.safetensors"}}')
    assert record(index, "safetensors_index")["total_size_bytes"] is None


def test_a_file_without_a_number_does_not_stand_in_for_a_numbered_shard() -> None:
    text = '{"metadata":{},"weight_map":{"a":"model-00001-of-00002.safetensors","m":"mtp.safetensors"}}'
    assert [one.code for one in read("safetensors-index", text).findings] == ["model.shards_unnamed"]


@pytest.mark.parametrize(
    ("text", "kind", "field", "value"),
    [
        ('{"architectures":["W"],"max_target_positions":448}', "model_config", "context_tokens", 448),
        ('{"_from_model_config":true,"bos_token_id":1}', "generation_config", "temperature", None),
    ],
)
def test_files_of_other_models_are_read(text: str, kind: str, field: str, value: object) -> None:
    said = read("model-config", text)
    assert not said.findings
    assert record(said, kind)[field] == value


@pytest.mark.parametrize(
    ("text", "kind", "method"),
    [
        (
            '{"architectures":["A"],"max_position_embeddings":9,"compression_config":{"quant_method":"x"}}',
            "model_config",
            "x",
        ),
        ('{"producer":{"name":"modelopt"},"quantization":{"quant_algo":"NVFP4"}}', "quant_config", "modelopt"),
    ],
)
def test_quantisation_is_found_under_every_key(text: str, kind: str, method: str) -> None:
    assert record(read("model-config", text), kind)["quantization"]["method"] == method


@pytest.mark.parametrize(
    ("tool", "text", "code"),
    [
        (
            "compose-up",
            'ERROR: for x  "host" network_mode is incompatible with port_bindings',
            "container.mode_conflict",
        ),
        ("llamacpp-log", "error loading model: unable to allocate CUDA_Host buffer", "engine.host_out_of_memory"),
        ("vllm-log", "INFO 11-02 10:11:12 [x.py:1] Model loading took 74.36 GiB\nKilled\n", "engine.worker_killed"),
    ],
)
def test_a_general_text_does_not_hide_the_cause(tool: str, text: str, code: str) -> None:
    assert [one.code for one in read(tool, text).findings] == [code]


def test_a_container_between_two_starts_has_no_missing_ports() -> None:
    """Docker calls it running, and a finding about ports would hide why it does not stay up."""
    state = '"State":{"Status":"restarting","Running":true,"Restarting":true,"ExitCode":1},"RestartCount":17'
    host = '"HostConfig":{"PortBindings":{"8000/tcp":[{"HostIp":"","HostPort":"8000"}]}}'
    text = f'[{{"Name":"/x",{state},{host},"NetworkSettings":{{"Ports":{{}}}},"Config":{{"Image":"x"}}}}]'
    assert [one.code for one in read("docker-inspect", text).findings] == ["container.restart_loop"]


def test_all_cards_by_cdi_are_not_pinned() -> None:
    host = '{"DeviceRequests":[{"Driver":"cdi","Count":0,"DeviceIDs":["nvidia.com/gpu=all"]}]}'
    assert [one.code for one in read("docker-inspect", _running(host, "{}")).findings] == ["gpu.unpinned"]


def test_a_card_that_comes_again_is_one_card() -> None:
    text = (
        "timestamp, index, memory.used [MiB]\n"
        "2026/09/01 20:47:29.520, 0, 10 MiB\n2026/09/01 20:47:29.520, 1, 10 MiB\n"
        "2026/09/01 20:47:30.520, 0, 12 MiB\n2026/09/01 20:47:30.520, 1, 11 MiB\n"
    )
    assert record(read("nvidia-smi", text), "gpu_inventory")["card_count"] == 2


def test_a_reset_that_worked_is_no_setting_without_effect() -> None:
    assert not read("nvidia-smi", "GPU 00000000:41:00.0 was successfully reset.\nAll done.\n").findings


def test_the_centred_table_of_compose_1_is_read() -> None:
    text = (
        "   Name              Command               State            Ports         \n"
        "--------------------------------------------------------------------------\n"
        "web_app_1   /docker-entrypoint.sh ng ...   Up       0.0.0.0:8080->80/tcp\n"
        "web_db_1    docker-entrypoint.sh post ...  Exit 1\n"
    )
    said = read("docker-ps", text)
    assert [(one.as_dict()["name"], one.as_dict()["state"]) for one in said.records] == [
        ("web_app_1", "running"),
        ("web_db_1", "exited"),
    ]
    assert [one.code for one in said.findings] == ["container.exited"]
