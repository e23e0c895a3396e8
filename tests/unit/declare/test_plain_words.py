"""Protects: no error shows a bare regular expression to an operator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpu_seats.declare.plain_words import _PATTERNS

SCHEMAS = Path(__file__).parents[3] / "docs" / "schema"
WITH_UNITS = ("iB|", "k?W", "ms|s|m")
"""Sizes, watts and durations are read by their own parsers, which speak for themselves."""


def patterns(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        yield from patterns(part)


def test_every_pattern_of_a_declaration_is_told_in_words() -> None:
    found = {one for file in SCHEMAS.glob("*.json") for one in patterns(json.loads(file.read_text(encoding="utf-8")))}
    bare = {one for one in found if not any(unit in one for unit in WITH_UNITS)}
    assert len(bare) > 5 and bare <= set(_PATTERNS)
