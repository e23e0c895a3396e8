"""A declaration that someone damaged either still loads or is refused with a text; nothing else ever comes out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from declared_project import FILES, HOST_FILE, SITE_FILE, STACK_FILE, write_project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_seats.declare.fleet import load_fleet
from gpu_seats.declare.problems import DeclarationError

TARGETS = (STACK_FILE, "stacks/blender/stack.yml", HOST_FILE, SITE_FILE)
SNIPPETS = (
    "no", "1.10", "22:22", "012", "1e3", "2026-13-45", "{{ x }}", "${X}", "&a", "*a", "!!int x", "!x y", "<<: 1", "- ",
    "? ", ": ", "[", "]", "{", "}", "\t", "\n", "---\n", "...\n", "'", '"', "|", ">", "#", "%TAG", "\x00", "\ufeff",
    "ﬀ", "~", ".nan", ".inf", "-1", "99999999999999999999", "0x", "=", "%", "@",
)  # fmt: skip
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.dates(),
    st.datetimes(),
    st.binary(max_size=4),
    st.sampled_from(SNIPPETS),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(SCALARS, inner, max_size=3)),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def project() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as directory:
        yield write_project(Path(directory))


def loads_or_is_refused(project: Path, name: str, data: bytes) -> None:
    path = project / name
    good = path.read_bytes()
    path.write_bytes(data)
    try:
        load_fleet(project)
    except DeclarationError as error:
        assert error.problems
        for problem in error.problems:
            assert problem.message and problem.file
            assert "\n" not in str(problem)
    finally:
        path.write_bytes(good)


MODERATE = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@MODERATE
@given(name=st.sampled_from(TARGETS), data=st.data())
def test_damaged_text(project: Path, name: str, data: st.DataObject) -> None:
    """A slip of the hand anywhere in a file: something typed over, cut out, or put in."""
    text = FILES[name]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 30)))
    put = data.draw(st.one_of(st.sampled_from(SNIPPETS), st.text(max_size=6)))
    damaged = text[:start] + put + text[end:]
    loads_or_is_refused(project, name, damaged.encode("utf-8", "surrogatepass"))


@MODERATE
@given(name=st.sampled_from(TARGETS), data=st.data())
def test_a_value_of_another_kind(project: Path, name: str, data: st.DataObject) -> None:
    """Any value in place of any other: a list for a port, a date for an image, a mapping for a card."""
    document = yaml.safe_load(FILES[name])
    places = list(_places(document))
    holder, key = data.draw(st.sampled_from(places))
    holder[key] = data.draw(VALUES)
    text = yaml.dump(document, allow_unicode=True)
    loads_or_is_refused(project, name, text.encode("utf-8", "surrogatepass"))


@MODERATE
@given(name=st.sampled_from(TARGETS), raw=st.binary(max_size=60))
def test_bytes_that_are_no_text(project: Path, name: str, raw: bytes) -> None:
    loads_or_is_refused(project, name, raw)


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []
    for key in keys:
        yield node, key
        yield from _places(node[key])
