"""The host tool as one file: a zip that ``python3`` runs, with exactly the modules that its verbs need.

The same sources give the same bytes on every controller: entries are sorted, dated alike and stored as they are
(compressors differ from one zlib to the next), so that a host's file changes only when the tool does.
"""

from __future__ import annotations

import ast
import io
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
_NAME = "gpu_seats"
_ENTRY = "host_tool"
_DATE = (1980, 1, 1, 0, 0, 0)
_MODE = 0o100644 << 16
_UNIX = 3

_SHEBANG = b"#!/usr/bin/python3 -I\n"
_MAIN = """\
import sys

if sys.version_info < (3, 9):
    sys.exit("gpu-seats-host needs Python 3.9 or newer, this is %d.%d" % sys.version_info[:2])

from gpu_seats.host_tool.main import main

sys.exit(main(sys.argv[1:]))
"""


@lru_cache(maxsize=1)
def archive_bytes() -> bytes:
    """The archive. Raises OSError if a source can't be read."""
    files = {f"{_NAME}/{path.relative_to(PACKAGE).as_posix()}": path.read_bytes() for path in needed_sources()}
    packed = io.BytesIO()
    packed.write(_SHEBANG)
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_STORED) as archive:
        for name, content in sorted({**files, "__main__.py": _MAIN.encode("ascii")}.items()):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system = _UNIX
            entry.external_attr = _MODE
            archive.writestr(entry, content)
    return packed.getvalue()


def needed_sources() -> list[Path]:
    """Every file of the package that a verb may import, also inside a function; verbs are all of the tool's folder."""
    found: set[Path] = set()
    ahead = sorted((PACKAGE / _ENTRY).glob("*.py"))
    while ahead:
        path = ahead.pop()
        if path in found:
            continue
        found.add(path)
        ahead += _packages_of(path)
        ahead += _imported(path)
    return sorted(found)


def _packages_of(path: Path) -> Iterator[Path]:
    """The ``__init__.py`` of every package that holds the file."""
    for folder in path.parents:
        if not folder.is_relative_to(PACKAGE):
            return
        yield folder / "__init__.py"


def _imported(path: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            yield from _module_files(base)
            for alias in node.names:
                yield from _module_files(base / alias.name)


def _module_files(base: Path) -> Iterator[Path]:
    """The file of a module by its path without suffix; none for a name that is no module (a class, a function)."""
    for path in (base.with_name(base.name + ".py"), base / "__init__.py"):
        if path.is_file():
            yield path


__all__ = ["archive_bytes", "needed_sources"]
