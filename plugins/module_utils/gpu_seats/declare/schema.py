"""JSON Schema of stack, host and site files, made from the records, so that editors complete and check them.

What a schema cannot say (references between files, arithmetic) stays with loading and planning; what it says is never
stricter than loading.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from .fleet import HOST_KEY, SITE_KEY
from .host import Host
from .site import Site
from .stack import Stack

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_BY_HAND_NEVER = ("count", "device_ids")
"""Keys that are declared only so that their error has its own text."""


def schema_documents() -> dict[str, dict[str, Any]]:
    """``{"stack": ..., "host": ..., "site": ...}``: one JSON Schema (2020-12) for each kind of file."""
    return {
        "stack": _document(Stack, "A stack: stacks/<stack>/stack.yml", None),
        "host": _document(Host, "A host: host_vars/<host>.yml", HOST_KEY),
        "site": _document(Site, "A site: group_vars/site_<site>.yml", SITE_KEY),
    }


def _document(record: type[BaseModel], title: str, below: str | None) -> dict[str, Any]:
    made = record.model_json_schema(schema_generator=GenerateJsonSchema)
    definitions = {name: _record_schema(name, body) for name, body in made.pop("$defs", {}).items()}
    body = _record_schema(record.__name__, made)
    if below is not None:  # Ansible variables stand beside the key: other keys are none of ours
        definitions[record.__name__] = body
        body = {"type": "object", "properties": {below: {"$ref": f"#/$defs/{record.__name__}"}}, "required": [below]}
    return {"$schema": DIALECT, **body, "title": title, "$defs": dict(sorted(definitions.items()))}


def _record_schema(name: str, body: dict[str, Any]) -> dict[str, Any]:
    body = _as_written(body)
    for key in _BY_HAND_NEVER:
        body.get("properties", {}).pop(key, None)
    rules = _RULES.get(name)
    return {**body, "allOf": rules} if rules else body


def _as_written(node: Any) -> Any:
    """`node` as files may be written: no nulls, no titles made from field names, sizes with their units."""
    if isinstance(node, list):
        return [_as_written(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = _without_null(node)
    made = {
        key: _properties(value) if key in ("properties", "patternProperties", "$defs") else _as_written(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
    }
    if "patternProperties" in made:
        made["additionalProperties"] = False
    if "default" in made and not _is_written_default(made):
        made.pop("default")
    said = made.get("description")
    if isinstance(said, str):
        made["description"] = " ".join(re.sub(r"``?", "", said).split())
    return made


def _properties(properties: dict[str, Any]) -> dict[str, Any]:
    """Below "properties" the keys are the operator's own words: one may be called title."""
    return {name: _as_written(body) for name, body in properties.items()}


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    options = node.get("anyOf")
    if not isinstance(options, list):
        return node
    kept = [option for option in options if option != {"type": "null"}]
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    return {**kept[0], **rest} if len(kept) == 1 else {**rest, "anyOf": kept}


def _is_written_default(node: dict[str, Any]) -> bool:
    """A default that an operator could write there: records and counted sizes are shown nowhere."""
    default = node["default"]
    if default is None or isinstance(default, (dict, list)):
        return False
    return not (node.get("type") == "string" and not isinstance(default, str))


def _when(states: list[str], *required: str, key: str = "state") -> dict[str, Any]:
    """Where `key` is one of `states` the keys `required` must be there."""
    condition = {"properties": {key: {"enum": states}}, "required": [key]}
    return {"if": condition, "then": {"required": list(required)}}


_RULES = {
    "Seat": [_when(["serving", "on_demand"], "image", "gpus", "port"), _when(["retired"], "reason")],
    "Service": [_when(["serving", "on_demand"], "image"), _when(["retired"], "reason")],
    "Circuit": [
        _when(["breaker", "inlet", "pdu"], "amps", "volts", key="kind"),
        _when(["ups"], "rating_va", "power_factor", key="kind"),
    ],
    "WattsFigure": [_when(["measured"], "date", "how", key="standing")],
}
