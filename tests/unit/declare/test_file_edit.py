"""Protects: a value set in a file that a person wrote changes the lines of that value and nothing else."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gpu_seats.declare.file_edit import Written, with_item, with_value

FILE = """\
---
# the host
top:
  a: 1  # one
  power:
    # about the load
    load:
      watts: 400W
      how: >-
        a guess that
        goes on

    # about readings
    readings:
      - date: "2026-09-13"
        gpus: [3.80W, 3.88W]
      # a remark between

    flow: {x: 1, y: "two"}
    short: []
  same:
  - 1
  - 2
  last: end
"""


def changed_lines(after: str) -> tuple[list[str], list[str]]:
    """(lines that are gone, lines that are new)."""
    before, now = FILE.splitlines(), after.splitlines()
    return [line for line in before if line not in now], [line for line in now if line not in before]


def test_a_block_is_replaced_and_what_stands_around_it_stays():
    after = with_value(FILE, ("top", "power", "load"), {"watts": Written("412W"), "how": "read"})
    gone, new = changed_lines(after)
    assert gone == ["      watts: 400W", "      how: >-", "        a guess that", "        goes on"]
    assert new == ["      watts: 412W", "      how: read"]
    assert "\n\n    # about readings\n    readings:\n" in after


def test_a_new_key_stands_behind_the_last_one_of_its_parent():
    after = with_value(FILE, ("top", "power", "loss"), {"reads": Written("ac")})
    assert "    short: []\n    loss:\n      reads: ac\n  same:\n" in after


def test_items_at_the_column_of_their_key():
    after = with_item(FILE, ("top", "same"), Written("3"))
    assert "  same:\n  - 1\n  - 2\n  - 3\n  last: end\n" in after


def test_an_item_of_a_block_list():
    after = with_item(FILE, ("top", "power", "readings"), {"date": Written('"2026-10-01"'), "gpus": [Written("1W")]})
    assert '        gpus: [3.80W, 3.88W]\n      - date: "2026-10-01"\n        gpus: [1W]\n      # a remark' in after


def test_flow_values_are_written_anew_as_they_were():
    after = with_value(FILE, ("top", "power", "flow", "y"), Written("3"))
    assert "    flow:\n      x: 1\n      y: 3\n    short: []\n" in after
    after = with_item(FILE, ("top", "power", "short"), Written("3"))
    assert "    short: [3]\n" in after
    assert "    made: [3]\n" in with_item(FILE, ("top", "power", "made"), Written("3"))


def test_a_file_without_a_newline_at_its_end():
    assert with_value("a: 1\nb: 2", ("c",), Written("3")) == "a: 1\nb: 2\nc: 3\n"
    assert with_item("a:\n  - 1", ("a",), Written("2")) == "a:\n  - 1\n  - 2\n"


@pytest.mark.parametrize("path", [("no", "where"), ("top", "a", "deeper"), ("top", "power", "readings", "x")])
def test_no_parent_no_edit(path):
    with pytest.raises(KeyError):
        with_value(FILE, path, "x")


words = st.text(st.characters(max_codepoint=0x17F, exclude_categories=["Cc", "Cs"]), min_size=1, max_size=300)


@given(words.filter(lambda text: text.split()))
def test_every_text_is_read_as_it_was_meant(text):
    after = with_value(FILE, ("top", "power", "load", "how"), text)
    data = yaml.safe_load(after)
    assert data["top"]["power"]["load"]["how"] == " ".join(text.split())
    data["top"]["power"]["load"]["how"] = "a guess that goes on"
    assert data == yaml.safe_load(FILE)
