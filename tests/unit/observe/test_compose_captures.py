"""Every saved output of ``docker compose config`` gives project and services, or the reason why it was refused."""

from __future__ import annotations

from typing import Any

import pytest
from captured import capture, code_set, codes, read, record

FINDINGS: dict[str, list[tuple[str, str]]] = {
    "cdi-driver.txt": [],
    "env-coercion.txt": [],
    "gpu-count-interpolated.txt": [("gpu.unpinned", "service:stack/a")],
    "gpus-key.txt": [("gpu.unpinned", "service:stack/a")],
    "interp-dotenv.txt": [("compose.variable_unset", "tool:compose")],
    "interp-invalid.txt": [("compose.interpolation_invalid", "tool:compose")],
    "labels-coercion.txt": [],
    "labels-list-noeq.txt": [("compose.schema_invalid", "tool:compose")],
    "labels-nested.txt": [("compose.schema_invalid", "tool:compose")],
    "ports-forms.txt": [],
    "project-dir-01-llm.txt": [],
    "project-dir-a_b.txt": [],
    "project-name-dot.txt": [("compose.project_name_invalid", "tool:compose")],
    "project-name-in-file-dot.txt": [],
    "tab-indent.txt": [("compose.yaml_invalid", "tool:compose")],
    "unknown-key.txt": [("compose.schema_invalid", "tool:compose")],
    "version-key-warning.txt": [("compose.version_obsolete", "tool:compose")],
}
PROJECTS = {
    "cdi-driver.txt": "stack",
    "project-dir-01-llm.txt": "01-llm",
    "project-dir-a_b.txt": "a_b",
    "project-name-in-file-dot.txt": "gpu01lan",
    "ports-forms.txt": "stack",
}
REFUSED = ("interp-invalid.txt", "labels-list-noeq.txt", "labels-nested.txt", "project-name-dot.txt", "tab-indent.txt")


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_the_findings_are_these_and_no_others(name: str) -> None:
    assert codes(capture(f"compose/{name}")) == FINDINGS[name]


@pytest.mark.parametrize("name", sorted(PROJECTS))
def test_the_project_has_the_name_that_compose_made_of_it(name: str) -> None:
    assert record(capture(f"compose/{name}"), "compose_project")["name"] == PROJECTS[name]


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_file_gives_no_project(name: str) -> None:
    assert capture(f"compose/{name}").records == []


def service(name: str) -> dict[str, Any]:
    return record(capture(f"compose/{name}"), "compose_service")


def test_cdi_ids_are_read_without_their_class() -> None:
    asked = service("cdi-driver.txt")["gpu_request"]
    assert (asked["kind"], asked["ids"]) == ("cdi", ["GPU-1a2b3c4d-0000-4000-8000-0000000000aa"])


def test_a_count_from_a_variable_is_a_number_after_rendering() -> None:
    assert service("gpu-count-interpolated.txt")["gpu_request"]["count"] == 1


def test_the_short_key_for_all_cards_is_all_cards() -> None:
    assert service("gpus-key.txt")["gpu_request"]["kind"] == "all"


def test_labels_come_out_as_compose_printed_them() -> None:
    labels = service("labels-coercion.txt")["labels"]
    assert labels["version"] == "1.1"
    assert labels["oct"] == "10"
    assert labels["sex"] == "12:30:45"
    assert labels["date"] == "2026-11-30 00:00:00 +0000 UTC"
    assert labels["big"] == "12345678901234567890"


def test_every_form_of_a_port_is_read() -> None:
    ports = service("ports-forms.txt")["ports"]
    assert [(one["host_ip"], one["host_port"], one["container_port"], one["protocol"]) for one in ports] == [
        ("", 2122, 22, "tcp"),
        ("", 22, 22, "tcp"),
        ("127.0.0.1", 8000, 8000, "tcp"),
        ("::1", 8001, 8000, "tcp"),
        ("", None, 8002, "tcp"),
        ("", 8003, 8003, "tcp"),
        ("", 8004, 8004, "tcp"),
        ("10.0.0.5", 8080, 80, "tcp"),
        ("", 8081, 81, "udp"),
    ]


def test_values_of_variables_do_not_come_out() -> None:
    seen = capture("compose/interp-dotenv.txt")
    assert service("interp-dotenv.txt")["env_names"] == ["S1", "S2", "S3", "S4", "S5", "X1", "X2"]
    assert "pa#ss" not in str([one.as_dict() for one in (*seen.records, *seen.findings)])


def test_a_warning_that_comes_often_is_one_finding_with_a_number() -> None:
    (found,) = capture("compose/interp-dotenv.txt").findings
    assert (found.evidence["variable"], found.evidence["times"]) == ("Pg8A", 7)


def test_the_message_of_a_refusal_names_the_key() -> None:
    assert "lables" in capture("compose/unknown-key.txt").findings[0].message
    assert "services.a.environment.KEY" in capture("compose/interp-invalid.txt").findings[0].message


def config(body: str):  # type: ignore[no-untyped-def]
    return read("compose-config", f"name: s\nservices:\n  a:\n    image: x\n{body}", 0)


def devices(entry: str) -> str:
    return f"    deploy:\n      resources:\n        reservations:\n          devices:\n            - {entry}\n"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("{driver: nvidia, capabilities: [gpu]}", {"gpu.none_requested"}),
        ("{driver: nvidia, capabilities: [gpu], count: all}", {"gpu.unpinned"}),
        ("{driver: nvidia, capabilities: [gpu], count: -1}", {"gpu.unpinned"}),
        ("{driver: nvidia, capabilities: [gpu], count: 2}", {"gpu.unpinned"}),
        ('{driver: nvidia, capabilities: [gpu], count: "1"}', {"gpu.count_invalid", "gpu.unpinned"}),
        ("{driver: nvidia, capabilities: [gpu], count: true}", {"gpu.count_invalid", "gpu.none_requested"}),
        ('{driver: nvidia, capabilities: [gpu], count: 1, device_ids: ["GPU-a"]}', {"gpu.count_and_ids"}),
        ("{driver: nvidia, capabilities: [gpu], device_ids: [false]}", {"gpu.id_coerced"}),
        ("{driver: nvidia, capabilities: [gpu], device_ids: [0]}", {"gpu.id_coerced", "gpu.pinned_by_index"}),
        ('{driver: nvidia, device_ids: ["GPU-a"]}', {"gpu.capability_missing"}),
        ('{driver: nvidia, capabilities: [gpu], device_ids: ["GPU-a"]}', set()),
        ('{driver: cdi, device_ids: ["nvidia.com/gpu=all"]}', {"gpu.unpinned"}),
        ("{driver: other, capabilities: [tpu], count: 1}", set()),
    ],
)
def test_gpu_requests_are_checked_after_rendering(entry: str, expected: set[str]) -> None:
    assert code_set(config(devices(entry))) == expected


def test_the_nvidia_runtime_with_all_cards_is_not_pinned() -> None:
    body = "    runtime: nvidia\n    environment:\n      NVIDIA_VISIBLE_DEVICES: all\n"
    assert code_set(config(body)) == {"gpu.unpinned"}


def test_a_missing_create_host_path_is_false() -> None:
    body = (
        "    volumes:\n"
        "      - {type: bind, source: /a, target: /b, bind: {}}\n"
        "      - {type: bind, source: /c, target: /d, bind: {create_host_path: true}}\n"
    )
    seen = config(body)
    assert [one["creates_host_path"] for one in record(seen, "compose_service")["binds"]] == [False, True]
    assert codes(seen) == [("compose.creates_host_path", "service:s/a")]


def test_yaml_words_of_version_1_1_stay_text() -> None:
    labels = record(config("    labels:\n      a: yes\n      b: 12:30\n      c: 2026-11-30\n"), "compose_service")[
        "labels"
    ]
    assert labels == {"a": "yes", "b": "12:30", "c": "2026-11-30"}


def test_json_and_yaml_of_one_project_read_the_same() -> None:
    as_json = read("compose-config", '{"name": "s", "services": {"a": {"image": "x"}}}', 0)
    as_yaml = read("compose-config", "name: s\nservices:\n  a:\n    image: x\n", 0)
    assert [one.as_dict() for one in as_json.records] == [one.as_dict() for one in as_yaml.records]


def test_quiet_mode_prints_nothing_for_a_valid_file() -> None:
    assert read("compose-config", "# $ docker compose config -q\n# rc=0\n").findings == []


def test_an_unknown_refusal_is_still_a_failure() -> None:
    assert code_set(read("compose-config", "something new went wrong\n", 1)) == {"compose.failed"}


def test_cut_json_is_damaged_not_unknown() -> None:
    assert code_set(read("compose-config", '{"name": "s", "serv', None)) == {"parse.truncated"}
