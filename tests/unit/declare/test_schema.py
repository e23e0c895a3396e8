"""The schema that editors use accepts every file of the fleet, refuses what loading refuses, and is written to docs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from declared_project import HOST, SITE, STACK, TENANT, spoilt

from gpu_seats.declare.schema import schema_documents

ROOT = Path(__file__).parents[3]
DOCUMENTS = schema_documents()
FILES = {
    "stack": sorted(ROOT.glob("stacks/*/stack.yml")),
    "host": sorted(ROOT.glob("inventories/production/host_vars/*.yml")),
    "site": sorted(ROOT.glob("inventories/production/group_vars/site_*.yml")),
}


class _JsonLikeLoader(yaml.SafeLoader):
    """Reads as an editor's YAML 1.2 parser does where it matters here: dates are text, and so is the key ``on``."""


_JsonLikeLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp") and first not in "oO"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def errors(kind: str, text: str) -> list[str]:
    validator = jsonschema.Draft202012Validator(DOCUMENTS[kind])
    return [error.message for error in validator.iter_errors(yaml.load(text, _JsonLikeLoader))]


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_each_document_is_a_schema(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(DOCUMENTS[kind])


@pytest.mark.parametrize(
    ("kind", "path"), [(kind, path) for kind, paths in FILES.items() for path in paths], ids=lambda value: str(value)
)
def test_every_file_of_the_fleet_fits(kind: str, path: Path) -> None:
    assert errors(kind, path.read_text(encoding="utf-8")) == []


def test_the_fleet_has_files_of_each_kind() -> None:
    """The test above runs over what it finds; it must find something."""
    assert {kind: len(paths) > 2 for kind, paths in FILES.items()} == {"stack": True, "host": True, "site": True}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("stack", spoilt(STACK, "port: 8022", 'port: "80x"')),
        ("stack", spoilt(STACK, "port: 8022", "port: 90000")),
        ("stack", spoilt(STACK, "port: 8022", "prot: 8022")),
        ("stack", spoilt(STACK, '["2"]', "[2]")),
        ("stack", spoilt(STACK, '["2"]', '["two"]')),
        ("stack", spoilt(STACK, "93GiB", "93")),
        ("stack", spoilt(STACK, "93GiB", "93 gigs")),
        ("stack", spoilt(STACK, "state: serving", "state: servng")),
        ("stack", spoilt(STACK, "state: serving", "state: retired")),
        ("stack", spoilt(STACK, 'gpus: ["2"]', "count: 1")),
        ("stack", spoilt(STACK, 'gpus: ["2"]', "reason: no cards")),
        ("stack", spoilt(STACK, "    port: 8022\n", "")),
        ("stack", spoilt(STACK, "  flash-next:", "  Flash Next:")),
        ("stack", spoilt(STACK, "host: fv-ml1", "host:")),
        ("stack", spoilt(TENANT, "    image: blender:4.5\n", "")),
        ("host", spoilt(HOST, "gpu_seats_host", "gpu_seat_host")),
        ("host", spoilt(HOST, '"2":', '"two":')),
        ("host", spoilt(HOST, "limit: 275W", "limit: 275")),
        ("host", spoilt(HOST, "{watts: 313W, standing: derived, how: what the BMC reads less the cards}", "313W")),
        ("host", spoilt(HOST, "date: 2026-09-19, ", "")),
        ("site", spoilt(SITE, ", amps: 20", "")),
        ("site", spoilt(SITE, "kind: breaker", "kind: ups")),
        ("site", spoilt(SITE, "kind: breaker", "kind: braker")),
        ("site", spoilt(SITE, "amps: 20", "amps: 0")),
    ],
)
def test_what_loading_refuses_an_editor_marks(kind: str, text: str) -> None:
    assert errors(kind, text)


@pytest.mark.parametrize(("kind", "text"), [("stack", STACK), ("stack", TENANT), ("host", HOST), ("site", SITE)])
def test_what_loads_an_editor_does_not_mark(kind: str, text: str) -> None:
    assert errors(kind, text) == []


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_the_written_schema_is_the_current_one(kind: str) -> None:
    """`gpu-seats schema --write` after a change of the records."""
    written = json.loads((ROOT / f"docs/schema/{kind}.json").read_text(encoding="utf-8"))
    assert written == DOCUMENTS[kind]


def test_stack_files_name_their_schema() -> None:
    wanted = "# yaml-language-server: $schema=../../docs/schema/stack.json"
    without = [str(path) for path in FILES["stack"] if path.read_text(encoding="utf-8").splitlines()[0] != wanted]
    assert without == []


def _nodes(node: Any) -> list[dict[str, Any]]:
    if isinstance(node, list):
        return [found for item in node for found in _nodes(item)]
    if not isinstance(node, dict):
        return []
    return [node, *(found for item in node.values() for found in _nodes(item))]


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_no_key_may_be_null_or_is_named_by_the_library(kind: str) -> None:
    """Loading refuses empty values; and `count`/`device_ids` exist only to be refused."""
    nodes = _nodes(DOCUMENTS[kind])
    assert not [node for node in nodes if node.get("type") == "null"]
    keys = {key for node in nodes for key in node.get("properties", {}) if isinstance(node.get("properties"), dict)}
    assert not keys & {"count", "device_ids"}


def test_the_keys_that_an_operator_writes_are_described() -> None:
    """An editor shows the description beside the key."""
    seat = DOCUMENTS["stack"]["$defs"]["Seat"]["properties"]
    without = [key for key, body in seat.items() if "description" not in body and key not in ("needs",)]
    assert set(without) <= {"vllm", "llamacpp"}, without
