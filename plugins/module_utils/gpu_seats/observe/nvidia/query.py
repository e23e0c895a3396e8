"""The short way to read a query whose columns are known, for modules: on a target every imported file is compiled anew.

Anything that is not rows or errors takes the long way through `parse`, which knows all of nvidia-smi's outputs.
"""

from __future__ import annotations

from ..records import Parsed
from .csv_query import header_fields, looks_like_rows, parse_csv
from .errors import take_errors


def parse_query(text: str, rc: int | None, command: str, fields: list[str]) -> Parsed:
    """Cards or processes of ``nvidia-smi --query-...`` in CSV. fields: the columns of rows without a header."""
    errors = take_errors(text)
    lines = [line for line in errors.rest if line.strip()]
    if (lines and not header_fields(lines[0]) and not looks_like_rows(lines)) or not text.strip():
        from .parse import parse_nvidia_smi

        return parse_nvidia_smi(text, rc, command, fields)
    if not lines:
        return errors.parsed
    return errors.parsed.add(parse_csv("\n".join(lines), command, fields))
