"""Names on the host: Compose projects and containers.

Old Compose made a project's name from its directory: lowercase, characters outside ``[a-z0-9_-]`` dropped, leading
``_`` and ``-`` stripped (``qwen3.5-122b`` ran as ``qwen35-122b``). Today's ``-p`` refuses a dotted name, while the
file's ``name:`` and the directory are still stripped in silence (docker/compose#9216). So a project always gets its
name written out, by the old rule, and keeps its containers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..declare.stack import Stack
    from ..declare.workload import Workload

_DROPPED = re.compile(r"[^a-z0-9_-]")


def compose_name(directory: str) -> str:
    """The project name that Compose makes of a directory name; empty where nothing is left."""
    return _DROPPED.sub("", directory.lower()).lstrip("_-")


def project_name(stack: Stack) -> str:
    """The stack's Compose project: its declared `project`, else the name Compose gave its directory."""
    return stack.project or compose_name(stack.stack)


def project_aliases(stack: Stack) -> list[str]:
    """Other spellings under which an older project of this stack may still run.

    Operators (and some tools) replaced a dot by ``-`` or ``_`` instead of dropping it, and a stack whose `project` is
    declared may have run under the name of its directory before.
    """
    plain = stack.stack.lower()
    spellings = [
        compose_name(plain),
        compose_name(plain.replace(".", "-")),
        compose_name(plain.replace(".", "_")),
        plain,
    ]
    own = project_name(stack)
    return list(dict.fromkeys(name for name in spellings if name and name != own))


def container_name(name: str, workload: Workload) -> str:
    """The declared container name, else the workload's own name."""
    return workload.container_name or name
