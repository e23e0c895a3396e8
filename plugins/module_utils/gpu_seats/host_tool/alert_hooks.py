"""Alerts: programs of a directory are told when what fails changes.

Every executable file of the directory is run with a JSON object on its standard input::

    {"host": "fv-ml1", "time": "...", "source": "caps", "new": [finding, ...],
     "cleared": [{"code": "...", "subject": "..."}], "findings": [finding, ...]}

findings is all that stands now, new what this hook was not told yet. What a hook took is kept for each by itself: one
that fails is called again with the next run, and the others are not told twice. A hook that fails is told, never fatal.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..findings import Finding
from ..observe.command import run
from ..observe.records import first_line

LIMIT_S = 30.0
_LEFTOVER = re.compile(r"^\.|~$|\.(?:bak|orig|swp|disabled|dpkg-\w+|rpm\w+|ucf-\w+)$")

Key = tuple[str, str]


def hooks_in(directory: str) -> list[Path]:
    """Executable files by name; what editors and packages leave behind is none."""
    try:
        entries = sorted(Path(directory).iterdir())
    except OSError:
        return []
    return [one for one in entries if not _LEFTOVER.search(one.name) and one.is_file() and os.access(one, os.X_OK)]


def call_hooks(
    hooks: Iterable[Path],
    about: Mapping[str, Any],
    findings: Sequence[Finding],
    told: Mapping[str, Any],
    limit_s: float = LIMIT_S,
) -> tuple[dict[str, list[Key]], list[str]]:
    """Calls each hook that was not told of exactly these findings. about: host, time and source, for its input.

    told: by hook, code and subject of what it was told last. Returns the same for the next time, and a line for each
    hook that failed.
    """
    now = {(one.code, one.subject): one for one in findings}
    after: dict[str, list[Key]] = {}
    problems = []
    for hook in hooks:
        known = _keys(told.get(hook.name))
        if known == set(now):
            after[hook.name] = sorted(known)
            continue
        given = {
            **about,
            "new": [one.as_dict() for key, one in now.items() if key not in known],
            "cleared": [{"code": code, "subject": subject} for code, subject in sorted(known - set(now))],
            "findings": [one.as_dict() for one in findings],
        }
        ended = run([str(hook)], limit_s, given=json.dumps(given).encode("utf-8") + b"\n")
        after[hook.name] = sorted(now) if ended.ok else sorted(known)
        if not ended.ok:
            how = f"did not end within {limit_s:g} s" if ended.timed_out else f"ended with {ended.rc}"
            said = first_line(ended.stderr or ended.stdout)
            problems.append(f"alert hook {hook} {how}" + (f": {said}" if said else ""))
    return after, problems


def _keys(kept: Any) -> set[Key]:
    """What was kept of a hook; nothing where the file was damaged, the hook is then told once more."""
    rows = kept if isinstance(kept, list) else []
    return {(str(one[0]), str(one[1])) for one in rows if isinstance(one, (list, tuple)) and len(one) == 2}


__all__ = ["call_hooks", "hooks_in"]
