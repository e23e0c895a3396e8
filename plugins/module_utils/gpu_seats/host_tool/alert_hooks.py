"""Alerts: programs of a directory are told when what fails changes.

Every executable file of the directory is run with a JSON object on its standard input::

    {"host": "fv-ml1", "time": "...", "source": "caps", "new": [finding, ...],
     "cleared": [{"code": "...", "subject": "..."}], "findings": [finding, ...]}

findings is all that stands now, new what this hook was not told yet. What a hook took is kept for each by itself: one
that fails is called again with the next run, and the others are not told twice. A hook that fails is told, never fatal,
and one that hangs does not keep the others waiting: they run side by side.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..findings import Finding
from ..observe.command import run
from ..observe.records import first_line

LIMIT_S = 30.0
_AT_A_TIME = 8
_SAID = 2000
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
    looked: bool = True,
) -> tuple[dict[str, list[Key]], list[str]]:
    """Calls each hook that was not told of exactly these findings. about: host, time and source, for its input.

    told: by hook, code and subject of what it was told last. looked: False for a run that could look at no card, which
    clears nothing. Returns what is told now, for the next time, and a line for each hook that failed.
    """
    asked = list(hooks)
    with ThreadPoolExecutor(max(1, min(_AT_A_TIME, len(asked)))) as pool:
        ended = list(
            pool.map(lambda hook: _called(hook, about, findings, _keys(told.get(hook.name)), limit_s, looked), asked)
        )
    after = {hook.name: sorted(known) for hook, (known, _problem) in zip(asked, ended)}
    return after, [problem for _known, problem in ended if problem]


def _called(
    hook: Path,
    about: Mapping[str, Any],
    findings: Sequence[Finding],
    known: set[Key],
    limit_s: float,
    looked: bool,
) -> tuple[set[Key], str]:
    """What the hook knows now, and how it failed. It is not run when it knows all of it already."""
    now = {(one.code, one.subject): one for one in findings}
    cleared = known - set(now) if looked else set()
    if known - cleared == known | set(now):
        return known, ""
    given = {
        **about,
        "new": [one.as_dict() for key, one in now.items() if key not in known],
        "cleared": [{"code": code, "subject": subject} for code, subject in sorted(cleared)],
        "findings": [one.as_dict() for one in findings],
    }
    ended = run([str(hook)], limit_s, given=json.dumps(given).encode("utf-8") + b"\n")
    if ended.ok:
        return (known - cleared) | set(now), ""
    if ended.missing:
        return known, f"alert hook {ended.stderr}"
    how = f"did not end within {limit_s:g} s" if ended.timed_out else f"ended with {ended.rc}"
    said = first_line(ended.stderr[:_SAID] or ended.stdout[:_SAID])
    return known, f"alert hook {hook} {how}" + (f": {said}" if said else "")


def _keys(kept: Any) -> set[Key]:
    """What was kept of a hook; nothing where the file was damaged, the hook is then told once more."""
    rows = kept if isinstance(kept, list) else []
    return {(str(one[0]), str(one[1])) for one in rows if isinstance(one, (list, tuple)) and len(one) == 2}


__all__ = ["call_hooks", "hooks_in"]
