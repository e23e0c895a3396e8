"""One known failure text: the type that the tables of causes are made of."""

from __future__ import annotations

import re
from typing import NamedTuple

AT = r"(?P<address>\[[^\]\s]*\]|[^\s:\[\]]*):(?P<port>\d{1,5})"
"""Host address and port of a failed bind."""
NAME = r"[\"'“]?(?P<name>[^\s\"'”,:]+)"
"""A name with or without quotes."""


class Cause(NamedTuple):
    """One kind of failure. subject: the group ("port", "name") that it is about; retry: trying again is right."""

    code: str
    pattern: re.Pattern[str]
    message: str
    retry: bool = False
    subject: str = ""


def cause(code: str, pattern: str, message: str, retry: bool = False, subject: str = "") -> Cause:
    return Cause(code, re.compile(pattern, re.IGNORECASE), message, retry, subject)
