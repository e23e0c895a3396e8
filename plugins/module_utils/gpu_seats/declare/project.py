"""Where the declarations of one project stand.

A project is a directory with ``stacks/`` and ``inventories/``. An inventory may carry a ``gpu-seats.cfg`` (Ansible
does not read files of that ending as inventory) that names further stack directories::

    [gpu-seats]
    stacks = stacks, lab/stacks
"""

from __future__ import annotations

import configparser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CONFIG_NAME = "gpu-seats.cfg"


class ProjectNotFoundError(Exception):
    """No directory with stacks/ and inventories/ at or above the place where the search began."""


@dataclass(frozen=True)
class Project:
    """root: the project. inventory: where host_vars/ and group_vars/ stand. stacks_dirs: in reading order."""

    root: Path
    inventory: Path
    stacks_dirs: tuple[Path, ...]


def project_root(start: Path) -> Path:
    """The nearest directory at or above `start` that holds stacks/ and inventories/. Raises ProjectNotFoundError."""
    for directory in (start.resolve(), *start.resolve().parents):
        if (directory / "stacks").is_dir() and (directory / "inventories").is_dir():
            return directory
    raise ProjectNotFoundError(
        f"{start}: neither this directory nor one above it holds stacks/ and inventories/; "
        "run from the project, or name it with --root"
    )


def project_at(root: Path, inventory: Path | None = None, stacks_dirs: Sequence[Path] = ()) -> Project:
    """The project at `root` as seen from one inventory (``inventories/production`` unless given)."""
    chosen = (inventory or root / "inventories" / "production").resolve()
    if chosen.is_file():
        chosen = chosen.parent
    return Project(root, chosen, tuple(stacks_dirs) or _configured_stacks_dirs(root, chosen))


def _configured_stacks_dirs(root: Path, inventory: Path) -> tuple[Path, ...]:
    config = configparser.ConfigParser()
    config.read(inventory / CONFIG_NAME)
    names = config.get("gpu-seats", "stacks", fallback="stacks")
    return tuple(root / name.strip() for name in names.split(",") if name.strip())
