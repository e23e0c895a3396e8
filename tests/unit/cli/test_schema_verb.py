"""schema prints what editors need, and --write keeps docs/schema current."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from small_project import Outcome

Command = Callable[..., Outcome]
PUBLISHED = Path(__file__).resolve().parents[3] / "docs" / "schema"


def test_one_or_all_schemas_are_printed(gpu_seats: Command) -> None:
    every = json.loads(gpu_seats("schema").out)
    assert set(every) == {"stack", "host", "site"}
    assert json.loads(gpu_seats("schema", "stack").out) == every["stack"]


def test_write_puts_the_published_schemas_into_the_project(project: Path, gpu_seats: Command) -> None:
    outcome = gpu_seats("schema", "--write", "--json")
    written = [Path(name) for name in json.loads(outcome.out)["written"]]
    assert [path.parent for path in written] == [project / "docs" / "schema"] * 3
    for path in written:
        assert path.read_text(encoding="utf-8") == (PUBLISHED / path.name).read_text(encoding="utf-8"), (
            "run `make docs`"
        )


def test_an_unknown_schema_is_a_usage_error(gpu_seats: Command) -> None:
    outcome = gpu_seats("schema", "seat")
    assert outcome.code == 2
    assert "stack" in outcome.err
