"""Secrets as an env file that Compose reads back exactly.

Compose expands ``$`` in unquoted and double-quoted values; only single quotes protect it. What single quotes cannot
hold (a backslash before a quote or at the end) goes into double quotes with everything escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class EnvValueError(ValueError):
    """A value that no container environment can hold; the message names the variable, never the value."""


def env_file_text(values: Mapping[str, str]) -> str:
    """One ``NAME='value'`` a line, sorted by name. Raises EnvValueError for a NUL or a carriage return."""
    return "".join(f"{name}={_quoted(name, values[name])}\n" for name in sorted(values))


def _quoted(name: str, value: str) -> str:
    if "\0" in value or "\r" in value:
        raise EnvValueError(f"secret {name} holds a NUL or a carriage return, which an env file cannot carry")
    if "\\" not in value and "'" not in value:
        return f"'{value}'"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$").replace("\n", "\\n")
    return f'"{escaped}"'
