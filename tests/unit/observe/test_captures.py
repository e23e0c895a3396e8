"""Notes around a saved output are told from the tool's own text, so that a capture reads like the tool itself."""

from __future__ import annotations

import pytest

from gpu_seats.observe.captures import blocks
from gpu_seats.observe.cleantext import looks_binary, plain


def shape(text: str) -> list[tuple[str | None, int | None, str]]:
    return [(block.command, block.rc, block.text) for block in blocks(text)]


def test_text_without_notes_is_one_block() -> None:
    assert shape("a\nb\n") == [(None, None, "a\nb\n")]


def test_command_and_exit_code_are_taken_from_notes() -> None:
    assert shape("# $ nvidia-smi -L\nNo devices were found\n# rc=6\n") == [
        ("nvidia-smi -L", 6, "No devices were found\n")
    ]


def test_exit_code_glued_to_the_last_line_is_split_off() -> None:
    assert shape('# --- $ docker compose config --format json\n{\n  "name": "x"\n}# rc=0\n') == [
        ("docker compose config --format json", 0, '{\n  "name": "x"\n}\n')
    ]


def test_glued_exit_code_inside_the_output_stays() -> None:
    assert shape("a: b# rc=1\nc: d\n") == [(None, None, "a: b# rc=1\nc: d\n")]


def test_notes_before_the_output_are_notes_whatever_they_hold() -> None:
    (block,) = blocks(
        "# docker compose 2.26.1\n# --- compose.yaml\n#   services: {}\n# --- $ docker compose config\nname: x\n"
    )
    assert block.text == "name: x\n"
    assert block.command == "docker compose config"
    assert block.notes == ["docker compose 2.26.1", "--- compose.yaml", "services: {}"]


def test_hash_lines_of_the_tool_itself_stay() -> None:
    text = "# $ nvidia-smi dmon -c 1\n# gpu   pwr\n# Idx     W\n    0    43\n"
    assert shape(text) == [("nvidia-smi dmon -c 1", None, "# gpu   pwr\n# Idx     W\n    0    43\n")]


def test_hash_lines_in_the_middle_of_yaml_stay() -> None:
    assert shape("a: |\n  x\n# not a note\nb: 1\n")[0][2] == "a: |\n  x\n# not a note\nb: 1\n"


def test_several_commands_in_one_file_are_several_blocks() -> None:
    text = "# $ docker port a\n8000/tcp -> 0.0.0.0:8000\n# rc=0\n# older text\nError: x\n# $ docker port b\n# rc=0\n"
    assert shape(text) == [
        ("docker port a", 0, "8000/tcp -> 0.0.0.0:8000\n"),
        (None, None, "Error: x\n"),
        ("docker port b", 0, ""),
    ]


@pytest.mark.parametrize("note", ["# rc=4", "# rc = 4", "# exit code: 4", "# (exit code: 4)", "# exit=4"])
def test_exit_code_notes_are_read_in_their_usual_spellings(note: str) -> None:
    assert blocks(f"x\n{note}\n")[0].rc == 4


def test_rules_of_hashes_part_the_sections_of_a_collected_file() -> None:
    text = (
        "####\n# version\n# $ nvidia-smi --version\n####\nNVML version : "
        "1.0\n\n####\n# $ nvidia-smi -L\n####\nGPU 0: x\n"
    )
    assert [(b.command, b.text) for b in blocks(text)] == [
        ("nvidia-smi --version", "NVML version : 1.0\n"),
        ("nvidia-smi -L", "GPU 0: x\n"),
    ]


@pytest.mark.parametrize(
    "damaged",
    [
        b"\xef\xbb\xbfok\r\n",
        "ok\n".encode("utf-16"),
        b"\x1b[32mok\x1b[0m\n",
        b"\x1b]0;title\x07ok\n",
        b"o\x00k\n",
    ],
    ids=["bom-crlf", "utf-16", "colour", "title", "nul"],
)
def test_traces_of_terminals_and_editors_are_taken_off(damaged: bytes) -> None:
    assert plain(damaged) == "ok\n"


def test_progress_bars_that_overwrite_their_line_become_lines() -> None:
    assert plain("10%\r20%\rdone\n") == "10%\n20%\ndone\n"


def test_weights_and_archives_are_told_from_text() -> None:
    assert looks_binary(bytes(range(256)) * 8)
    assert not looks_binary("Zażółć gęślą jaźń █ ✔\n")
    assert not looks_binary("")
