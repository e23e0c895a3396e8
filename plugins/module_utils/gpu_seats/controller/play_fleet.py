"""The fleet as one play sees it: found from the playbook's directory and the inventory that was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..declare.fleet import Fleet, load_fleet
from ..declare.project import Project, project_at, project_root
from .declared_faults import PlayHostError


def project_of_play(variables: Mapping[str, Any]) -> Project:
    """The project above `playbook_dir`, with the first inventory source that has host_vars beside it.

    Reads Ansible's magic variables `playbook_dir` and `ansible_inventory_sources`. Raises ProjectNotFoundError.
    """
    root = project_root(Path(str(variables["playbook_dir"])))
    sources = [Path(str(source)) for source in variables.get("ansible_inventory_sources") or ()]
    directories = [source if source.is_dir() else source.parent for source in sources]
    with_records = [directory for directory in directories if (directory / "host_vars").is_dir()]
    return project_at(root, with_records[0] if with_records else None)


@lru_cache(maxsize=4)
def _loaded(project: Project) -> Fleet:
    return load_fleet(project.root, project.inventory, project.stacks_dirs)


def fleet_of_play(variables: Mapping[str, Any]) -> Fleet:
    """The fleet, loaded once a process: workers inherit what the play's host pattern has loaded already."""
    return _loaded(project_of_play(variables))


def seat_names(value: object) -> str:
    """What `-e seat=` may carry, as one comma-separated text: a name, a comma list, or a YAML list of names.

    Raises PlayHostError for anything else.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence) and all(isinstance(name, str) for name in value):
        return ",".join(value)
    raise PlayHostError(f"seat: {value!r} is not a name or a list of names; write -e seat=flash-next or -e seat=a,b")
