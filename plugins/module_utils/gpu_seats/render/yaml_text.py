"""A mapping as YAML text that Compose (YAML 1.2-like) and Ansible (YAML 1.1) read alike.

Every text value is quoted, so that ``no``, ``1.10``, ``012``, ``22:22`` and dates stay text. Keys are plain where
no reader can take them for anything else.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

_PLAIN_KEY = re.compile(r"^[A-Za-z_][A-Za-z0-9_.-]*$")
_READ_AS_OTHER = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_PRINTABLE_ONE_LINE = re.compile(r"^[\x20-\x7e]*$")


class _Dumper(yaml.SafeDumper):
    """SafeDumper that quotes text values and never writes anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "'" if '"' in text and "'" not in text and _PRINTABLE_ONE_LINE.match(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _mapping_node(dumper: yaml.SafeDumper, mapping: dict[str, Any]) -> yaml.MappingNode:
    node = dumper.represent_mapping("tag:yaml.org,2002:map", mapping.items())
    for key, _ in node.value:
        if _PLAIN_KEY.match(key.value) and key.value.lower() not in _READ_AS_OTHER:
            key.style = None
    return node


_Dumper.add_representer(str, _text_node)
_Dumper.add_representer(dict, _mapping_node)


def yaml_text(mapping: dict[str, Any]) -> str:
    """`mapping` as YAML, keys in its own order, one item a line."""
    return yaml.dump(
        mapping, Dumper=_Dumper, sort_keys=False, default_flow_style=False, width=2**20, allow_unicode=True, indent=2
    )


def compose_escaped(value: Any) -> Any:
    """`value` with every ``$`` of a text doubled: Compose's interpolation then gives the text back.

    The only place where this is done; keys are not interpolated and stay as they are.
    """
    if isinstance(value, str):
        return value.replace("$", "$$")
    if isinstance(value, dict):
        return {key: compose_escaped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [compose_escaped(item) for item in value]
    return value


def compose_yaml(compose: dict[str, Any], made_from: str) -> str:
    """The text of ``compose.yaml`` for a Compose mapping; `made_from` names the declaration."""
    header = f"# Made by gpu-seats from {made_from}; edits here are overwritten by the next deploy.\n"
    return header + yaml_text(compose_escaped(compose))
