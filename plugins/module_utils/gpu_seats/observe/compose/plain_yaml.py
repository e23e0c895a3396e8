"""YAML as Docker Compose reads it, for its rendered configuration. Controller only: needs PyYAML."""

from __future__ import annotations

import re
from typing import Any

_INT = re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$")
_FLOAT = re.compile(r"^[-+]?[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?$")


class PlainYamlError(ValueError):
    """Text that is no YAML; the message holds the parser's words."""


def load_plain(text: str) -> Any:
    """The document with strings, numbers, true/false and null only: no dates, no yes/no, no base-60 numbers.

    Raises PlainYamlError.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012  (PyYAML's own attribute)

    Loader.add_implicit_resolver("tag:yaml.org,2002:int", _INT, list("-+0123456789"))
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+0123456789"))
    Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
    Loader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"^<<$"), ["<"])
    Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(?:null|~|)$"), ["n", "~", ""])
    try:
        return yaml.load(text, Loader)
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise PlainYamlError(" ".join(str(error).split())[:300]) from error
