"""parse reads one saved output as an operator would report it: records, findings, exit code."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from small_project import Outcome

from gpu_seats.observe.tools import TOOLS

Command = Callable[..., Outcome]
CAPTURES = Path(__file__).parents[1] / "data" / "captures"


class Input:
    """Standard input that holds `data`."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)

    def isatty(self) -> bool:
        return False


def test_list_names_every_tool(gpu_seats: Command) -> None:
    outcome = gpu_seats("parse", "--list")
    assert outcome.code == 0
    assert all(name in outcome.out for name in TOOLS)
    assert set(json.loads(gpu_seats("parse", "--list", "--json").out)) == set(TOOLS)


def test_a_lost_card_is_a_finding_and_exit_code_1(gpu_seats: Command) -> None:
    outcome = gpu_seats("parse", "nvidia-smi", str(CAPTURES / "nvidia-smi" / "err-gpu-lost.txt"))
    assert outcome.code == 1
    assert "gpu.lost" in outcome.out and "do: " in outcome.out


def test_a_good_output_gives_records_and_exit_code_0(gpu_seats: Command) -> None:
    outcome = gpu_seats("parse", "ss", str(CAPTURES / "ss" / "with-header.txt"), "--json")
    document = json.loads(outcome.out)
    assert outcome.code == 0
    assert document["tool"] == "ss" and document["records"]


def test_standard_input_is_read_and_notes_are_not_tool_text(
    gpu_seats: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Input(b"# $ nvidia-smi -L\nNo devices were found\n# rc=6\n"))
    document = json.loads(gpu_seats("parse", "nvidia-smi", "--json").out)
    assert document["rc"] == 6
    assert [found["code"] for found in document["findings"]] == ["gpu.no_devices"]


def test_what_a_tool_does_not_give_is_said_with_its_reason(gpu_seats: Command) -> None:
    outcome = gpu_seats("parse", "vllm-log", str(CAPTURES / "llm" / "vllm-ok.log"))
    assert re.search(r"unknown \(not in the log \(yet\)\): version\b", outcome.out)
    assert all(len(line) <= 100 for line in outcome.out.splitlines())


def test_binary_input_is_a_finding_and_not_a_crash(gpu_seats: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Input(bytes(range(256)) * 20))
    outcome = gpu_seats("parse", "docker-inspect", "-")
    assert outcome.code == 1
    assert "parse.not_text" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["parse", "ss", "no-such-file"], "no-such-file: No such file or directory"),
        (["parse", "ss", "."], ".: Is a directory"),
        (["parse", "nvidia-sim", "x"], "did you mean nvidia-smi?"),
        (["parse"], "name a tool: nvidia-smi"),
    ],
)
def test_what_cannot_be_read_is_named(arguments: list[str], said: str, gpu_seats: Command) -> None:
    outcome = gpu_seats(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


@pytest.mark.parametrize("tool", sorted(TOOLS))
@pytest.mark.parametrize("text", [b"", b"\n", b"\xff\xfe\x00", b"{", b"[]", b"null", b"hello\n", b"<x>"])
def test_no_input_is_a_crash(tool: str, text: bytes, gpu_seats: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Input(text))
    outcome = gpu_seats("parse", tool, "--json")
    document = json.loads(outcome.out)
    assert outcome.code in (0, 1)
    assert "parse.fault" not in [found["code"] for found in document["findings"]]


@pytest.mark.parametrize("order", [("--json", "TOOL", "FILE"), ("TOOL", "--json", "FILE"), ("TOOL", "FILE", "--json")])
def test_options_may_stand_anywhere(gpu_seats: Command, order: tuple[str, ...]) -> None:
    capture = str(CAPTURES / "nvidia-smi" / "err-gpu-lost.txt")
    given = [{"TOOL": "nvidia-smi", "FILE": capture}.get(word, word) for word in order]
    outcome = gpu_seats("parse", *given)
    assert json.loads(outcome.out)["findings"][0]["code"] == "gpu.lost"
