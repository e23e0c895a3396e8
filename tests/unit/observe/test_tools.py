"""The parsers by tool name: every saved output has expectations, and no text makes a parser raise."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import test_compose_captures
import test_docker_captures
import test_ipmi_captures
import test_nvidia_captures
import test_vllm_log
from captured import CAPTURES, capture, capture_names, tool_of
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_seats.catalogue import _AREAS, CATALOGUE
from gpu_seats.observe import tools
from gpu_seats.observe.records import on_host
from gpu_seats.observe.tools import PARSERS, TOOLS, observe, read_capture

EXPECTED = {
    *(f"nvidia-smi/{name}" for name in test_nvidia_captures.FINDINGS),
    *(f"ipmitool/{name}" for name in test_ipmi_captures.FINDINGS),
    *(f"docker/{name}" for name in test_docker_captures.FINDINGS),
    *(f"compose/{name}" for name in test_compose_captures.FINDINGS),
    *(f"llm/{name}" for name in test_vllm_log.EXPECTED),
    "llm/llamacpp-ok.log",
    *(f"ss/{name}.txt" for name in ("filter-none", "unprivileged", "userland-proxy-false-nftables", "with-header")),
    "models/config-modelopt-nvfp4.json",
    "models/config-nested-text-config.json",
    "models/generation_config.json",
    "models/lfs-pointer-instead-of-weights.txt",
    "models/model.safetensors.index.json",
}


def test_every_saved_output_has_expected_values() -> None:
    assert set(capture_names()) == EXPECTED


@pytest.mark.parametrize("name", capture_names())
def test_an_answer_is_plain_data_that_json_can_hold(name: str) -> None:
    data = capture(name).as_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["tool"] == tool_of(name)


@pytest.mark.parametrize("name", capture_names())
def test_findings_use_codes_of_the_catalogue_and_carry_a_remedy(name: str) -> None:
    for found in capture(name).findings:
        assert found.code in CATALOGUE
        assert found.remedy
        assert ":" in found.subject


def test_no_code_is_in_two_areas_of_the_catalogue() -> None:
    named = [code for area in _AREAS for code in area.KINDS]
    assert sorted({code for code in named if named.count(code) > 1}) == []


def test_the_tools_are_these() -> None:
    assert list(TOOLS) == [
        "nvidia-smi",
        "docker-inspect",
        "docker-ps",
        "docker-port",
        "compose-up",
        "compose-config",
        "ss",
        "vllm-log",
        "llamacpp-log",
        "safetensors-index",
        "model-config",
        "ipmitool-dcmi",
        "ipmitool-sensor",
        "ipmitool-chassis",
        "ipmitool-sel",
    ]
    assert all(tool.summary for tool in TOOLS.values())


def test_a_given_exit_code_counts_more_than_a_note() -> None:
    assert observe("nvidia-smi", "No devices were found\n# rc=6\n", 9).rc == 9
    assert TOOLS["nvidia-smi"]("No devices were found\n# rc=6\n").rc == 6


def test_an_unknown_tool_is_refused() -> None:
    with pytest.raises(KeyError):
        observe("nope", "")


def test_binary_input_is_said_to_be_binary() -> None:
    seen = observe("docker-inspect", bytes(range(256)) * 20)
    assert [one.code for one in seen.findings] == ["parse.not_text"]


def test_line_ends_marks_and_colours_change_nothing() -> None:
    for name in ("nvidia-smi/csv-l40s-595.80-util100-noproc.txt", "ss/with-header.txt", "llm/vllm-ok.log"):
        plain = (CAPTURES / name).read_text()
        for odd in (
            plain.replace("\n", "\r\n").encode(),
            b"\xef\xbb\xbf" + plain.encode(),
            plain.encode("utf-16"),
            "".join(f"\x1b[36m{line}\x1b[0m\n" for line in plain.splitlines()).encode(),
        ):
            assert read_capture(tool_of(name), odd).as_dict() == capture(name).as_dict()


def test_a_fault_of_a_parser_is_a_finding_not_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str, rc: int | None, command: str | None) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setitem(tools.PARSERS, "ss", lambda: broken)
    (found,) = observe("ss", "x").findings
    assert found.code == "parse.fault"
    assert found.evidence["error"] == "ZeroDivisionError: oops"


def test_findings_can_be_put_below_a_host() -> None:
    (found,) = on_host(observe("nvidia-smi", "No devices were found\n").findings, "fv-ml1")
    assert found.subject == "host:fv-ml1/tool:nvidia-smi"
    assert on_host([found], "other")[0].subject == "host:fv-ml1/tool:nvidia-smi"


def test_asking_for_the_registry_imports_no_parser() -> None:
    script = (
        "import sys, gpu_seats.observe.tools; "
        "print([m for m in sys.modules if m.startswith('gpu_seats.observe.') and m.count('.') > 2])"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert printed.stdout.strip() == "[]"


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(PARSERS)), st.text(max_size=400), st.sampled_from([None, 0, 1]))
def test_no_text_makes_a_parser_raise(tool: str, text: str, rc: int | None) -> None:
    json.dumps(read_capture(tool, text, rc).as_dict())


_LINES = sorted(
    {line for name in capture_names() for line in (CAPTURES / name).read_text(errors="replace").splitlines()[:40]}
)


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(sorted(PARSERS)), st.lists(st.sampled_from(_LINES), max_size=25))
def test_no_mix_of_real_lines_makes_a_parser_raise(tool: str, lines: list[str]) -> None:
    json.dumps(read_capture(tool, "\n".join(lines)).as_dict())


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(capture_names()), st.data())
def test_no_damage_to_a_real_output_makes_its_parser_raise(name: str, data: st.DataObject) -> None:
    original = (CAPTURES / name).read_bytes()[:6000]
    damaged = bytearray(original[: data.draw(st.integers(0, len(original)))])
    for _ in range(data.draw(st.integers(0, 5))):
        place = data.draw(st.integers(0, len(damaged)))
        damaged[place : place + data.draw(st.integers(0, 12))] = data.draw(st.binary(max_size=6))
    json.dumps(read_capture(tool_of(name), bytes(damaged)).as_dict())


@pytest.mark.parametrize("tool", sorted(PARSERS))
@pytest.mark.parametrize("text", ["[" * 100000, '{"a":' * 50000, "(" * 100000, "a: " * 50000, "network a " * 30000])
def test_huge_nested_or_repeated_text_ends_soon(tool: str, text: str) -> None:
    """A parser that takes minutes on one line is as bad as one that raises."""
    read_capture(tool, text[:120000])
