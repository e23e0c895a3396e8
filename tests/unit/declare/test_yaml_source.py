"""Text that YAML reads as something else, and files that are hardly YAML: a fault with a line, never a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_seats.declare.problems import DeclarationError
from gpu_seats.declare.yaml_source import Source, read_source, reading

_TAG = "tag:yaml.org,2002:"


def source_of(tmp_path: Path, text: str | bytes, below: str = "") -> Source | None:
    path = tmp_path / "x.yml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_source(path, "x.yml", below)


def faults(tmp_path: Path, text: str | bytes) -> list[str]:
    try:
        source = source_of(tmp_path, text)
    except DeclarationError as error:
        return [str(problem) for problem in error.problems]
    assert source is not None
    return [str(problem) for problem in source.problems]


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("no", "bool", "YAML 1.1 reads no as false, YAML 1.2 as text"),
        ("NO", "bool", "YAML 1.1 reads NO as false, YAML 1.2 as text"),
        ("on", "bool", "YAML 1.1 reads on as true, YAML 1.2 as text"),
        ("true", "bool", ""),
        ("False", "bool", ""),
        ("1.10", "float", "YAML reads 1.10 as the number 1.1 and drops the last zero"),
        ("1.1", "float", ""),
        ("1.0", "float", ""),
        ("22:22", "int", "YAML 1.1 reads 22:22 as a number in base 60"),
        ("22:22.5", "float", "YAML 1.1 reads 22:22.5 as a number in base 60"),
        ("012", "int", "YAML 1.1 reads 012 as the octal number 10, YAML 1.2 as 12"),
        ("0", "int", ""),
        ("0x1F", "int", ""),
        ("0b11", "int", "YAML 1.1 reads 0b11 as a binary number, YAML 1.2 as text"),
        ("1_000", "int", "YAML 1.1 drops the underscores of 1_000, YAML 1.2 reads text"),
        ("2026-09-30", "timestamp", "YAML 1.1 reads 2026-09-30 as a date"),
    ],
)
def test_how_yaml_reads_a_plain_scalar(text: str, kind: str, words: str) -> None:
    assert reading(text, _TAG + kind) == words


@pytest.mark.parametrize("text", ["no", "off", "Yes", "22:22", "190:20:30", "012", "1_000", "0b11", "0o8:1"])
def test_two_readings_are_a_fault_only_without_quotes(text: str, tmp_path: Path) -> None:
    quoted = faults(tmp_path, f'key: "{text}"\n')
    assert quoted == []
    if text != "0o8:1":  # text to both versions
        assert [
            fault.startswith("x.yml:1: key: ") and "two readings" in fault
            for fault in faults(tmp_path, f"key: {text}\n")
        ] == [True]
    else:
        assert faults(tmp_path, f"key: {text}\n") == []


def test_keys_are_text_as_written(tmp_path: Path) -> None:
    """A key `on` is no truth value and a card `0` no number."""
    source = source_of(tmp_path, "on: 1\n0: 2\n1.10: 3\n2026-01-01: 4\n")
    assert source is not None
    assert source.data == {"on": 1, "0": 2, "1.10": 3, "2026-01-01": 4}
    assert source.problems == []


def test_a_key_that_stands_twice_names_both_lines(tmp_path: Path) -> None:
    assert faults(tmp_path, "a:\n  b: 1\n  c: 2\n  b: 3\n") == [
        "x.yml:4: a.b: the key stands twice (first in line 2), and YAML would keep only the last; remove one of the two"
    ]


def test_anchors_and_merges_are_fine(tmp_path: Path) -> None:
    source = source_of(tmp_path, "a: &x {p: 1, q: 2}\nb: *x\nc:\n  <<: *x\n  q: 3\n")
    assert source is not None
    assert source.problems == []
    assert source.data == {"a": {"p": 1, "q": 2}, "b": {"p": 1, "q": 2}, "c": {"p": 1, "q": 3}}
    assert source.value_line(("c", "q")) == 5
    assert source.value_line(("c", "p")) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &x [*x]\n", "x.yml:1: an anchor that holds itself"),
        ("a: &x {b: *x}\n", "x.yml:1: an anchor that holds itself"),
        ("a: 1\n\tb: 2\n", "x.yml:2: a tab in the indentation"),
        ("\ta: 1\n", "x.yml:1: a tab in the indentation"),
        ("a: 1\n---\nb: 2\n", "x.yml:2: a second document begins here"),
        ("", "x.yml:1: is empty"),
        ("# only a comment\n", "x.yml:1: is empty"),
        ("- a\n", "x.yml:1: is not a mapping of keys at its top"),
        ("just text\n", "x.yml:1: is not a mapping of keys at its top"),
        ("a: [1, 2\n", "x.yml:2: is no YAML"),
        ("a: b: c\n", "put text that holds ': ' in quotes"),
        ("a: *missing\n", "put text that begins with * in quotes"),
        ("a: !vault x\n", "remove the tag"),
        ("a: !!python/object/apply:os.system [ls]\n", "remove the tag"),
        ("? [a]\n: 1\n", "keys are text"),
        ("a: @b\n", "put text that begins with such a character in quotes"),
        ("a: 2026-13-45\n", "x.yml:1: a: 2026-13-45 is no date"),
        ("a: !!int x\n", "cannot be read as data"),
        ("a: {<<: 1}\n", "is no YAML"),
        (b"a: 1\nb: \xff\n", "x.yml:2: byte 0xff is not UTF-8"),
        (b"b: 1\na: \x00\n", "x.yml:2: is no YAML: character U+0000 cannot stand in it"),
        ("a: " + "[" * 5000 + "]" * 5000 + "\n", "nested too deeply"),
        ("a: " + "{b: " * 5000 + "\n", "nested too deeply"),
        ("".join(" " * n + "a:\n" for n in range(700)), "nested too deeply"),
        ("- " * 3000 + "a\n", "nested too deeply"),
        ("x" * (2**20 + 1), "more than a declaration can have"),
    ],
)
def test_files_that_are_no_declaration(text: str | bytes, words: str, tmp_path: Path) -> None:
    found = faults(tmp_path, text)
    assert len(found) == 1, found
    assert words in found[0]


def test_anchors_that_multiply_are_refused(tmp_path: Path) -> None:
    """Nine lines can stand for a billion values; they must not take the controller down."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert faults(tmp_path, "\n".join(lines) + "\n") == ["x.yml: holds more values than a declaration can"]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match=r"x\.yml: cannot be read: Is a directory"):
        read_source(tmp_path, "x.yml")


def test_only_what_is_below_the_key_is_ours(tmp_path: Path) -> None:
    """Ansible's own variables stand beside the declaration; templates and tags in them are fine."""
    text = "other: !vault |\n  $ANSIBLE\nflag: yes\nt: '{{ x }}'\nmine:\n  a: 1\n"
    source = source_of(tmp_path, text, below="mine")
    assert source is not None
    assert (source.data, source.problems) == ({"a": 1}, [])
    assert source.value_line(("a",)) == 6
    assert source_of(tmp_path, text, below="nothing") is None


def test_a_long_value_is_cut(tmp_path: Path) -> None:
    source = source_of(tmp_path, f"a: {'x' * 500}\n")
    assert source is not None
    assert source.written(("a",)) == "x" * 57 + "..."
