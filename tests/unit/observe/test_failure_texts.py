"""Each failure text of Docker, Compose and the NVIDIA runtime has its own code, subject and advice on trying again."""

from __future__ import annotations

import pytest
from captured import code_set, codes, read, record

from gpu_seats.catalogue import CATALOGUE
from gpu_seats.observe.compose.causes import CAUSES, GENERIC
from gpu_seats.observe.compose.failures import classify

_DAEMON = "Error response from daemon: "
_EXTERNAL = _DAEMON + "driver failed programming external connectivity on endpoint vllm-gen (9255fe0b): "
_OCI = (
    _DAEMON + "failed to create task for container: failed to create shim task: OCI runtime create failed: runc create "
    "failed: unable to start container process: "
)
_HOOK = (
    _OCI + "error during container init: error running prestart hook #0: exit status 1, "
    "stdout: , stderr: Auto-detected mode as 'legacy'\n"
)

CASES: list[tuple[str, str, str]] = [
    (_EXTERNAL + "Bind for 0.0.0.0:8022 failed: port is already allocated", "port.taken", "port:8022"),
    (
        _EXTERNAL + "failed to bind host port for 0.0.0.0:8022:172.18.0.2:8000/tcp: address already in use",
        "port.taken",
        "port:8022",
    ),
    (_EXTERNAL + "failed to bind host port 0.0.0.0:8022/tcp: address already in use", "port.taken", "port:8022"),
    (
        _EXTERNAL + "Error starting userland proxy: listen tcp4 0.0.0.0:80: bind: address already in use",
        "port.taken",
        "port:80",
    ),
    (
        _DAEMON + "Ports are not available: exposing port TCP 0.0.0.0:3000 -> 0.0.0.0:0: listen "
        "tcp 0.0.0.0:3000: bind: address already in use",
        "port.taken",
        "port:3000",
    ),
    (
        _EXTERNAL + "Error starting userland proxy: listen tcp6 [::]:8022: bind: address already in use",
        "port.taken",
        "port:8022",
    ),
    (
        _EXTERNAL + "Error starting userland proxy: listen tcp4 10.0.81.10:80: bind: cannot assign requested address",
        "port.address_not_up",
        "port:80",
    ),
    (
        _EXTERNAL + "failed to bind host port 10.0.81.10:80/tcp: cannot assign requested address",
        "port.address_not_up",
        "port:80",
    ),
    (
        _EXTERNAL + " (iptables failed: iptables --wait -t nat -A DOCKER -p tcp: iptables: No "
        "chain/target/match by that name.\n (exit status 1))",
        "compose.firewall_chains_gone",
        "container:vllm-gen",
    ),
    (
        _DAEMON + 'could not select device driver "nvidia" with capabilities: [[gpu]]',
        "gpu.runtime_missing",
        "tool:compose",
    ),
    (_DAEMON + 'could not select device driver "" with capabilities: [[gpu]]', "gpu.runtime_missing", "tool:compose"),
    (_DAEMON + "unknown or invalid runtime name: nvidia", "gpu.runtime_missing", "tool:compose"),
    (
        _HOOK + "nvidia-container-cli: device error: GPU-1234: unknown device: unknown",
        "gpu.unknown_device",
        "tool:compose",
    ),
    (
        _HOOK + "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.9, "
        "please update your driver to a newer version: unknown",
        "gpu.driver_requirement",
        "tool:compose",
    ),
    (
        _HOOK + "nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown",
        "gpu.driver_unreachable",
        "tool:compose",
    ),
    (
        _HOOK + "nvidia-container-cli: initialization error: nvml error: driver/library version mismatch: unknown",
        "gpu.driver_mismatch",
        "tool:compose",
    ),
    (
        _HOOK + "nvidia-container-cli: initialization error: load library failed: "
        "libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown",
        "gpu.driver_library_missing",
        "tool:compose",
    ),
    (
        _HOOK
        + "nvidia-container-cli: mount error: failed to add device rules: unable to find any existing device filters",
        "gpu.container_toolkit_failed",
        "tool:compose",
    ),
    (
        _DAEMON + "OCI runtime create failed: could not apply required modification to OCI "
        "specification: error modifying OCI spec: failed to inject CDI devices: "
        "unresolvable CDI devices nvidia.com/gpu=all: unknown",
        "gpu.cdi_unresolved",
        "tool:compose",
    ),
    (
        _DAEMON
        + 'error gathering device information while adding custom device "/dev/nvidia-uvm": no such file or directory',
        "gpu.device_node_missing",
        "tool:compose",
    ),
    (
        _DAEMON + 'error gathering device information while adding custom device "/dev/dri": no such file or directory',
        "compose.device_missing",
        "tool:compose",
    ),
    (_DAEMON + "cannot set both Count and DeviceIDs on device request", "gpu.count_and_ids", "tool:compose"),
    (
        'services.a.deploy.resources.reservations.devices.0: "count" and "device_ids" attributes are exclusive',
        "gpu.count_and_ids",
        "tool:compose",
    ),
    (
        "error decoding 'devices[0].count': invalid string value for 'count' (the only value allowed is 'all')",
        "gpu.count_invalid",
        "tool:compose",
    ),
    (_DAEMON + "No such image: vllm/vllm-openai:v0.29.1rc0", "compose.image_missing", "tool:compose"),
    (
        _DAEMON + "manifest for vllm/vllm-openai:v9 not found: manifest unknown: manifest unknown",
        "image.missing",
        "tool:compose",
    ),
    (
        _DAEMON + "pull access denied for foo/bar, repository does not exist or may require "
        "'docker login': denied: requested access to the resource is denied",
        "image.access_denied",
        "tool:compose",
    ),
    (
        _DAEMON + "toomanyrequests: You have reached your unauthenticated pull rate limit.",
        "image.rate_limited",
        "tool:compose",
    ),
    (
        _DAEMON + 'Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host',
        "image.registry_unreachable",
        "tool:compose",
    ),
    (
        _DAEMON + 'Get "https://registry-1.docker.io/v2/": net/http: request canceled while '
        "waiting for connection (Client.Timeout exceeded while awaiting headers)",
        "image.registry_unreachable",
        "tool:compose",
    ),
    ("no matching manifest for linux/arm64/v8 in the manifest list entries", "image.no_platform", "tool:compose"),
    ("unable to get image 'x y': " + _DAEMON + "invalid reference format", "image.reference_invalid", "tool:compose"),
    ("failed to register layer: write /usr/lib/x: no space left on device", "host.disk_full", "tool:compose"),
    (
        "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
        "compose.engine_denied",
        "tool:compose",
    ),
    (
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        "compose.engine_unreachable",
        "tool:compose",
    ),
    (
        "failed to connect to the docker API at unix:///var/run/docker.sock; check if the "
        "path is correct and if the daemon is running: dial unix "
        "/var/run/docker.sock: connect: no such file or directory",
        "compose.engine_unreachable",
        "tool:compose",
    ),
    ("docker: 'compose' is not a docker command.\nSee 'docker --help'", "compose.plugin_missing", "tool:compose"),
    (
        "docker: unknown command: docker compose\n\nRun 'docker --help' for more information",
        "compose.plugin_missing",
        "tool:compose",
    ),
    ("unknown shorthand flag: 'd' in -d\nSee 'docker --help'.", "compose.plugin_missing", "tool:compose"),
    ("bash: docker: command not found", "compose.command_missing", "tool:compose"),
    (
        _DAEMON + "client version 1.52 is too new. Maximum supported API version is 1.41",
        "compose.api_version",
        "tool:compose",
    ),
    (
        "network homepage_default declared as external, but could not be found",
        "compose.network_missing",
        "tool:compose",
    ),
    (
        "failed to create network x_default: " + _DAEMON + "Pool overlaps with other one on this address space",
        "compose.network_pool",
        "tool:compose",
    ),
    (_DAEMON + "all predefined address pools have been fully subnetted", "compose.network_pool", "tool:compose"),
    (
        _DAEMON + "error while removing network: network x_default id ab has active endpoints",
        "compose.network_in_use",
        "tool:compose",
    ),
    (
        _DAEMON + "endpoint with name vllm-gen already exists in network gen_default",
        "compose.endpoint_stale",
        "tool:compose",
    ),
    (
        "network x_default was found but has incorrect label com.docker.compose.network set "
        'to "" (expected: "default")',
        "compose.network_foreign",
        "tool:compose",
    ),
    ('external volume "models" not found', "compose.volume_missing", "tool:compose"),
    (
        _DAEMON + 'Conflict. The container name "/vllm-gen" is already in use by container "0123456789abcdef".',
        "compose.container_name_taken",
        "container:vllm-gen",
    ),
    (
        'invalid project name "gpu01.lan": must consist only of lowercase alphanumeric '
        "characters, hyphens, and underscores",
        "compose.project_name_invalid",
        "tool:compose",
    ),
    ("no configuration file provided: not found", "compose.file_missing", "tool:compose"),
    ("yaml: line 2: found character that cannot start any token", "compose.yaml_invalid", "tool:compose"),
    (
        "validating /srv/c/compose.yaml: services.a additional properties 'lables' not allowed",
        "compose.schema_invalid",
        "tool:compose",
    ),
    (
        'service "a" has neither an image nor a build context specified: invalid compose project',
        "compose.schema_invalid",
        "tool:compose",
    ),
    (
        "invalid interpolation format for services.a.environment.KEY.\nYou may need to escape any $ with another $.",
        "compose.interpolation_invalid",
        "tool:compose",
    ),
    (
        "error while interpolating services.a.image: required variable TAG is missing a value: set it",
        "compose.variable_required",
        "tool:compose",
    ),
    (
        "env file /srv/c/.env not found: stat /srv/c/.env: no such file or directory",
        "compose.env_file_missing",
        "tool:compose",
    ),
    (
        _DAEMON + 'invalid mount config for type "bind": bind source path does not exist: /tank/aimodels/x',
        "compose.mount_source_missing",
        "tool:compose",
    ),
    (
        _OCI + 'error mounting "/a" to rootfs at "/b": not a directory: unknown: Are you trying '
        "to mount a directory onto a file (or vice-versa)?",
        "compose.mount_not_a_directory",
        "tool:compose",
    ),
    (
        " Container db  Error\ndependency failed to start: container db is unhealthy",
        "compose.dependency_failed",
        "container:db",
    ),
    (_DAEMON + "context deadline exceeded", "compose.timeout", "tool:compose"),
    (
        _DAEMON + "tried to kill container, but did not receive an exit event",
        "compose.container_wedged",
        "tool:compose",
    ),
    (_OCI + 'exec: "vllm": executable file not found in $PATH: unknown', "container.command_missing", "tool:compose"),
    (_OCI + "container init was OOM-killed (memory limit too low?): unknown", "container.oom_killed", "tool:compose"),
    (
        _OCI + "error setting rlimits for ready process: error setting rlimit type 8: operation not permitted",
        "container.rlimit_refused",
        "tool:compose",
    ),
    (_OCI + "something that is new", "container.start_failed", "tool:compose"),
    (_DAEMON + "something that is new", "compose.engine_refused", "tool:compose"),
]


@pytest.mark.parametrize(("text", "code", "subject"), CASES, ids=[f"{n}-{one[1]}" for n, one in enumerate(CASES)])
def test_each_text_has_its_own_finding(text: str, code: str, subject: str) -> None:
    assert codes(read("compose-up", text + "\n", 1)) == [(code, subject)]


@pytest.mark.parametrize(
    ("text", "retry"),
    [
        (_EXTERNAL + "Bind for 0.0.0.0:8022 failed: port is already allocated", False),
        (
            _EXTERNAL
            + "Error starting userland proxy: listen tcp4 10.0.81.10:80: bind: cannot assign requested address",
            True,
        ),
        (_DAEMON + "toomanyrequests: x", True),
        (_EXTERNAL + "(iptables failed: No chain/target/match by that name.)", False),
        ("validating x: services.a Additional property y is not allowed", False),
        (_DAEMON + 'error gathering device information while adding custom device "/dev/nvidia0": no such file', True),
    ],
)
def test_trying_again_is_right_only_where_time_cures(text: str, retry: bool) -> None:
    assert classify(text)[0].evidence["retry"] is retry


def test_every_code_of_the_tables_is_in_the_catalogue_with_a_remedy() -> None:
    for one in (*CAUSES, *GENERIC):
        assert CATALOGUE[one.code].remedy


def test_the_container_of_a_failed_bind_is_named() -> None:
    (found,) = classify(_EXTERNAL + "Bind for 0.0.0.0:8022 failed: port is already allocated")
    assert (found.evidence["container"], found.evidence["port"], found.evidence["address"]) == (
        "vllm-gen",
        8022,
        "0.0.0.0",
    )


def test_an_error_behind_a_progress_word_on_one_line_is_not_lost() -> None:
    text = "Container opvll Creating Error response from daemon: unknown or invalid runtime name: nvidia\n"
    assert code_set(read("compose-up", text, 1)) == {"gpu.runtime_missing"}


def test_two_failures_of_one_run_are_two_findings() -> None:
    text = _DAEMON + "No such image: a:1\n" + _EXTERNAL + "Bind for 0.0.0.0:8022 failed: port is already allocated\n"
    assert code_set(read("compose-up", text, 1)) == {"compose.image_missing", "port.taken"}


def test_a_secret_in_a_broken_env_file_is_not_repeated() -> None:
    text = (
        'failed to read /srv/c/.env: line 3: unexpected character "!" in variable name near "TOKEN hf_secret\\nX=1"\n'
    )
    seen = read("compose-up", text, 1)
    assert code_set(seen) == {"compose.env_file_invalid"}
    assert "hf_secret" not in str(seen.as_dict())


PROGRESS = """time="2026-11-30T14:41:42Z" level=warning msg="Found orphan containers ([llm-old-1 llm-x-1])."
 Container a  Recreate
 Container a  Recreated
 Container a  Starting
 Container a  Started
 ✔ Container b  Running                                                  0.0s
 Network x_default  Created
"""


def test_progress_tells_recreated_from_running() -> None:
    seen = read("compose-up", PROGRESS, 0)
    rows = {one.as_dict()["name"]: one.as_dict() for one in seen.records}
    assert (rows["a"]["outcome"], rows["a"]["recreated"], rows["a"]["changed"]) == ("Started", True, True)
    assert (rows["b"]["outcome"], rows["b"]["recreated"], rows["b"]["changed"]) == ("Running", False, False)
    assert rows["x_default"]["resource"] == "network"
    assert codes(seen) == [("compose.orphans", "tool:compose")]
    assert seen.findings[0].evidence["containers"] == ["llm-old-1", "llm-x-1"]


def test_a_dry_run_is_marked_as_one() -> None:
    seen = read("compose-up", " DRY-RUN MODE -  Container a  Recreate\n DRY-RUN MODE -  Container a  Recreated\n", 0)
    assert record(seen, "compose_event")["dry_run"] is True
    assert record(seen, "compose_event")["recreated"] is True


def test_progress_of_compose_v1_and_of_json_mode_is_read() -> None:
    old = read("compose-up", "Recreating foo_web_1 ... done\nfoo_db_1 is up-to-date\n", 0)
    assert [one.as_dict()["outcome"] for one in old.records] == ["Recreated", "Running"]
    new = read(
        "compose-up",
        '{"id":"Container a","status":"Working","text":"Starting"}\n{"id":"Container a","text":"Started"}\n',
        0,
    )
    assert record(new, "compose_event")["states"] == ["Starting", "Started"]


def test_a_failure_code_without_a_known_text_is_a_failure() -> None:
    assert codes(read("compose-up", " Container a  Started\n", 1)) == [("compose.failed", "tool:compose")]


def test_no_output_and_no_error_is_nothing_to_report() -> None:
    assert read("compose-up", "", 0).findings == []
