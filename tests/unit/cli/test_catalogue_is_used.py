"""No code reaches an operator undocumented, and no documented code is dead."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_seats.catalogue import CATALOGUE
from gpu_seats.findings import SEVERITIES, finding

PROJECT = Path(__file__).resolve().parents[3]
PACKAGE = PROJECT / "plugins" / "module_utils" / "gpu_seats"
SOURCES = [
    path
    for folder in (PROJECT / "plugins", PROJECT / "library")
    for path in sorted(folder.rglob("*.py"))
    if PACKAGE / "catalogue" not in path.parents
]


def parsed() -> Iterator[tuple[Path, ast.AST]]:
    for path in SOURCES:
        yield path, ast.parse(path.read_text(encoding="utf-8"), str(path))


def texts(node: ast.AST) -> set[str]:
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)}


def raised_codes(tree: ast.AST) -> Iterator[str]:
    """First argument of each call of `finding`, where it is written out (also both sides of a condition)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            first = node.args[0]
            branches = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
            if name == "finding":
                yield from (one.value for one in branches if isinstance(one, ast.Constant))


def test_every_code_that_the_source_raises_is_registered() -> None:
    raised = {(code, path.name) for path, tree in parsed() for code in raised_codes(tree)}
    assert raised, "no call was found: the search is broken"
    assert sorted((code, name) for code, name in raised if code not in CATALOGUE) == []


def test_every_registered_code_is_raised_somewhere() -> None:
    written = {text for _, tree in parsed() for text in texts(tree)}
    assert sorted(set(CATALOGUE) - written) == []


def test_an_unregistered_code_is_refused_when_it_is_raised() -> None:
    with pytest.raises(KeyError):
        finding("no.such_code", "host:x", "text")


def test_every_entry_says_severity_meaning_and_what_to_do() -> None:
    short = [
        code
        for code, kind in CATALOGUE.items()
        if kind.severity not in SEVERITIES or len(kind.meaning) < 20 or len(kind.remedy) < 5
    ]
    assert short == []
