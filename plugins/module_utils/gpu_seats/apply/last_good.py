"""The files of the last deploy that was verified, kept beside the live ones for a rollback.

``<directory>/.last-good/`` (0700) holds compose.yaml, checks.json, stack.json (names, digests, run states) and
``files/`` (what else the stack had, secrets included, each 0600). It is written whole under another name and then
swapped in; the one that it replaces stays as ``.previous-good/``, which also serves where a swap was cut short.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .atomic_files import FileError, file_change, make_directory, sync_directory
from .wanted import COMPOSE_FILE, WantedStack, wanted_stack

KEPT = ".last-good"
_NEW = ".last-good.new"
PREVIOUS = ".previous-good"
RETIRED = ".retired"


def is_last_good(stack: WantedStack) -> bool:
    """Whether what is kept is exactly `stack` (run states aside), so that nothing needs keeping."""
    kept = read_last_good(stack.directory)
    return kept is not None and _kept_parts(kept) == _kept_parts(stack)


def keep_last_good(stack: WantedStack) -> bool:
    """Keep `stack` as the last good one; False if it is kept already. Raises FileError."""
    if is_last_good(stack):
        return False
    base = Path(stack.directory)
    new, previous, kept = base / _NEW, base / PREVIOUS, base / KEPT
    try:
        make_directory(base, 0o755)
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        _write(new / COMPOSE_FILE, stack.compose_text)
        _write(new / "checks.json", json.dumps([dict(check) for check in stack.checks], indent=1, sort_keys=True))
        _write(new / "stack.json", json.dumps(_description(stack), indent=1, sort_keys=True))
        (new / "files").mkdir(mode=0o700)
        for number, wanted in enumerate(stack.files):
            _write(new / "files" / str(number), wanted.content)
        sync_directory(new)
        if kept.exists():
            shutil.rmtree(previous, ignore_errors=True)
            kept.rename(previous)
        new.rename(kept)
        sync_directory(base)
    except OSError as error:
        raise FileError(str(kept), error, "write") from error
    return True


def read_last_good(directory: str) -> WantedStack | None:
    """The stack that is kept for `directory`; None if none is (or what is there cannot be read as one)."""
    return _read(Path(directory) / KEPT) or _read(Path(directory) / PREVIOUS)


def dropped_secret_files(stack: WantedStack) -> list[str]:
    """Secret files that a kept deploy of the stack wrote, that still lie there, and that it no longer has."""
    base = Path(stack.directory)
    kept = [one for one in (_read(base / KEPT), _read(base / PREVIOUS)) if one is not None]
    paths = {file.path for one in kept for file in one.files if file.secret}
    return sorted(path for path in paths - {file.path for file in stack.all_files} if Path(path).is_file())


def rollback_target(directory: str, promote: bool) -> WantedStack | None:
    """What a rollback brings back: the last good deploy, or the one before it where the last good one is in place.

    promote: the one before then becomes the last good one, before anything else is touched. So a rollback that is
    killed goes on where it was, and a second one finds nothing to bring back instead of swapping to and fro.
    """
    base = Path(directory)
    kept, before = _read(base / KEPT), _read(base / PREVIOUS)
    if kept is None or before is None or not _in_place(kept):
        return kept or before
    if promote:
        try:
            shutil.rmtree(base / KEPT)
            (base / PREVIOUS).rename(base / KEPT)
            sync_directory(base)
        except OSError as error:
            raise FileError(str(base / KEPT), error, "replace") from error
    return before


def _in_place(stack: WantedStack) -> bool:
    return not any(file_change(wanted).differs for wanted in stack.all_files)


def archive_retired(stack: WantedStack, now: float | None = None) -> str | None:
    """Move the stack's directory below ``.retired/`` beside it; the new path, None if there was nothing to move."""
    base = Path(stack.directory)
    if not base.is_dir():
        return None
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    target = base.parent / RETIRED / (f"{stack.name}-{stamp}")
    try:
        make_directory(target.parent, 0o700)
        kept = read_last_good(stack.directory)
        for wanted in {*stack.files, *(kept.files if kept else ())}:
            _move_into(Path(wanted.path), base, target)
        base.rename(target)
        sync_directory(target.parent)
    except OSError as error:
        raise FileError(str(target), error, "move files to") from error
    return str(target)


def _move_into(path: Path, base: Path, target: Path) -> None:
    """A file of the stack that lives elsewhere (env files) goes along; it lies in `base` until the one rename."""
    if path.is_file() and base not in path.parents:
        folder = base / "conf"
        make_directory(folder, 0o700)
        path.replace(folder / path.name) if _same_device(path, folder) else shutil.move(str(path), folder / path.name)


def _same_device(one: Path, other: Path) -> bool:
    return one.stat().st_dev == other.stat().st_dev


def _kept_parts(stack: WantedStack) -> tuple[Any, ...]:
    services = {name: (s.digest, s.container, s.image) for name, s in stack.services.items()}
    return stack.compose_text, stack.files, tuple(dict(check) for check in stack.checks), services


def _description(stack: WantedStack) -> dict[str, Any]:
    return {
        "name": stack.name,
        "project": stack.project,
        "directory": stack.directory,
        "project_aliases": list(stack.project_aliases),
        "files": [{"path": f.path, "mode": f"{f.mode:04o}", "secret": f.secret} for f in stack.files],
        "services": {
            name: {
                "digest": service.digest,
                "container": service.container,
                "run": service.run,
                "image": service.image,
                "seat": service.seat,
                "labels": dict(service.labels),
                "gpus": list(service.gpus),
            }
            for name, service in stack.services.items()
        },
    }


def _read(folder: Path) -> WantedStack | None:
    try:
        data: dict[str, Any] = json.loads((folder / "stack.json").read_text(encoding="utf-8"))
        data["compose_text"] = (folder / COMPOSE_FILE).read_text(encoding="utf-8")
        data["checks"] = json.loads((folder / "checks.json").read_text(encoding="utf-8"))
        data["files"] = [_with_content(entry, folder / "files" / str(n)) for n, entry in enumerate(data["files"])]
        return wanted_stack(data)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _with_content(entry: Mapping[str, Any], path: Path) -> dict[str, Any]:
    key = "secret_content" if entry["secret"] else "content"
    return {**entry, key: path.read_text(encoding="utf-8")}


def _write(path: Path, text: str) -> None:
    descriptor = os.open(str(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


__all__ = [
    "KEPT",
    "RETIRED",
    "archive_retired",
    "dropped_secret_files",
    "is_last_good",
    "keep_last_good",
    "read_last_good",
    "rollback_target",
]
