"""Which flag tables a version has: releases have their own, what lies between two has both."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def release_of(version: str) -> tuple[int, int, int]:
    """The three numbers of a version or tag: ``v0.29.1rc0`` -> (0, 29, 1)."""
    match = re.match(r"v?(\d+)\.(\d+)(?:\.(\d+))?", version)
    if match is None:
        raise ValueError(f"{version!r} is no vLLM version")
    return int(match[1]), int(match[2]), int(match[3] or 0)


def is_release(version: str) -> bool:
    return re.fullmatch(r"v?\d+(\.\d+){1,2}", version) is not None


def available_tables(folder: Path) -> dict[tuple[int, int, int], Path]:
    paths = folder.glob("serve-flags-*.json")
    return {release_of(p.stem.removeprefix("serve-flags-")): p for p in sorted(paths)}


def tables_for(version: str, folder: Path) -> list[Path]:
    """The tables whose union is what this version accepts, newest first.

    A release with a table: that one. A build of main between two releases: the next one and the one before. Older than
    every table: the oldest. Newer, or a name without numbers (``nightly-<commit>``, ``latest``): the newest.
    """
    tables = available_tables(folder)
    known = sorted(tables)
    if re.match(r"v?\d+\.\d+", version) is None:
        return [tables[known[-1]]]
    release = release_of(version)
    if release in tables and is_release(version):
        return [tables[release]]
    older = [r for r in known if r < release]
    newer = [r for r in known if r >= release]
    if not older or not newer:
        return [tables[known[0] if not older else known[-1]]]
    return [tables[newer[0]], tables[older[-1]]]


def flag_rows(paths: list[Path]) -> list[Row]:
    """Rows of all tables, each destination once (the first table wins)."""
    rows: dict[str, Row] = {}
    for path in paths:
        for row in json.loads(path.read_text(encoding="utf-8"))["flags"]:
            rows.setdefault(row["dest"], row)
    return list(rows.values())
