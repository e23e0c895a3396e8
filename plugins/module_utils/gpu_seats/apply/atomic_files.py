"""Files that are written whole or not at all.

The new content goes to a temporary file in the same directory, is flushed to the disk, and takes the name of the old
one in one step. A full disk, a kill or a power cut leaves either the old file or the new one, never a part.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECRET_CHANGED = "(secret content changed)"
"""Stands in a diff for content that nobody may read there."""

TEMPORARY_PREFIX = ".gpu-seats-new."
"""What is left by a killed run starts with this and is removed by the next one."""


@dataclass(frozen=True)
class WantedFile:
    """One file as it is to be. mode: permission bits. uid, gid: numbers, None keeps what is there.

    binary: the bytes of a file that is no text; `content` is then what a diff shows in their place.
    """

    path: str
    content: str
    mode: int = 0o644
    secret: bool = False
    uid: int | None = None
    gid: int | None = None
    binary: bytes | None = None

    @property
    def data(self) -> bytes:
        return self.content.encode("utf-8") if self.binary is None else self.binary


def binary_file(path: str, data: bytes, mode: int = 0o644) -> WantedFile:
    """A wanted file that is no text: a diff shows its size and digest."""
    return WantedFile(path, _described(data), mode, binary=data)


def _described(data: bytes) -> str:
    return f"({len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()})\n"


@dataclass(frozen=True)
class FileChange:
    """What differs of one file. before: its text, None where there is no file (or it is no text)."""

    wanted: WantedFile
    before: str | None
    exists: bool
    content_differs: bool
    mode_before: int | None
    uid_before: int | None = None

    @property
    def differs(self) -> bool:
        return self.content_differs or self.mode_before != self.wanted.mode or self.owner_differs

    @property
    def owner_differs(self) -> bool:
        """A secret file that belongs to another user can be read by that user, whatever its mode."""
        return self.wanted.secret and self.uid_before not in (None, _secret_owner(self.wanted))

    @property
    def why(self) -> str:
        if not self.exists:
            return f"{self.wanted.path} is new"
        if self.content_differs:
            return f"{self.wanted.path} differs"
        if self.mode_before is not None and self.mode_before != self.wanted.mode:
            return f"{self.wanted.path} has mode {self.mode_before:04o}, {self.wanted.mode:04o} is wanted"
        if self.owner_differs:
            wanted = _secret_owner(self.wanted)
            return f"{self.wanted.path} belongs to user id {self.uid_before}, {wanted} is wanted"
        return ""

    def diff(self) -> dict[str, str]:
        """The entry of Ansible's diff mode; content of a secret file is never in it."""
        entry = {"before_header": self.wanted.path, "after_header": self.wanted.path}
        if self.wanted.secret:
            entry["before"] = "(secret content)\n" if self.exists else ""
            entry["after"] = f"{SECRET_CHANGED}\n" if self.content_differs else entry["before"]
        else:
            entry["before"] = self.before or ""
            entry["after"] = self.wanted.content
        if self.exists and self.mode_before is not None and self.mode_before != self.wanted.mode:
            entry["before"] = "mode: {:04o}\n{}".format(self.mode_before, entry["before"])
            entry["after"] = "mode: {:04o}\n{}".format(self.wanted.mode, entry["after"])
        return entry


class FileError(Exception):
    """A file could not be read or written: which, why in the system's words, and what to do."""

    def __init__(self, path: str, error: OSError, doing: str) -> None:
        self.path = path
        self.error = error
        self.doing = doing
        super().__init__(f"cannot {doing} {path}: {error.strerror or error}")

    def evidence(self) -> dict[str, Any]:
        return {"path": self.path, "errno": self.error.errno, "doing": self.doing}


def file_change(wanted: WantedFile) -> FileChange:
    """`wanted` compared with the disk. Raises FileError if something that is no file stands there.

    Not for devices and pipes: reading one may never end, and writing would put a file in its place.
    """
    path = Path(wanted.path)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            code = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EINVAL
            raise OSError(code, os.strerror(code) if code == errno.EISDIR else "Is a device or a pipe, no file")
        raw = path.read_bytes()
    except FileNotFoundError:
        return FileChange(wanted, None, False, True, None)
    except OSError as error:
        raise FileError(wanted.path, error, "read") from error
    before: str | None
    try:
        before = raw.decode("utf-8") if wanted.binary is None else _described(raw)
    except UnicodeDecodeError:
        before = None
    same = raw == wanted.data
    return FileChange(wanted, before, True, not same, stat.S_IMODE(status.st_mode), status.st_uid)


def write_file(change: FileChange) -> bool:
    """Make the file what `change` wants; True if something was written. Raises FileError, the old file then stands."""
    wanted = change.wanted
    if not change.differs:
        return False
    path = Path(wanted.path)
    try:
        make_directory(path.parent, 0o755)
        if change.content_differs:
            _replace(path, wanted)
        else:
            if change.owner_differs:
                os.chown(path, _secret_owner(wanted), -1)
            path.chmod(wanted.mode)
    except OSError as error:
        raise FileError(wanted.path, error, "write") from error
    return True


def make_directory(path: Path, mode: int) -> None:
    """The directory and its parents; `mode` only for those made now, an existing one keeps its own."""
    if path.is_dir():
        return
    make_directory(path.parent, 0o755)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=mode)
        path.chmod(mode)


def remove_leftovers(directory: Path) -> list[str]:
    """Remove temporary files of killed runs; their paths. One that another run is writing now stays, and so does what
    can't be removed: a leftover does no harm."""
    removed = []
    if directory.is_dir():
        for leftover in sorted(directory.glob(TEMPORARY_PREFIX + "*")):
            if _is_being_written(leftover):
                continue
            with contextlib.suppress(OSError):
                leftover.unlink()
                removed.append(str(leftover))
    return removed


def _is_being_written(temporary: Path) -> bool:
    """Whether the process whose id the name ends with is alive and another one than this."""
    writer = temporary.name.rpartition(".")[2]
    return writer.isdigit() and int(writer) != os.getpid() and Path("/proc", writer).exists()


def sync_directory(directory: Path) -> None:
    """Flush a directory's names, so that a rename survives a power cut."""
    descriptor = os.open(str(directory), os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace(path: Path, wanted: WantedFile) -> None:
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{path.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()  # of a killed run that had the same process id
    # O_EXCL with the final mode: secret content is at no moment in a file that others can open
    descriptor = os.open(str(temporary), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(wanted.data)
            stream.flush()
            os.fchmod(stream.fileno(), wanted.mode)
            uid, gid = _owner(path, wanted)
            if uid != -1 or gid != -1:
                os.fchown(stream.fileno(), uid, gid)
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    sync_directory(path.parent)


def _secret_owner(wanted: WantedFile) -> int:
    return os.geteuid() if wanted.uid is None else wanted.uid


def _owner(path: Path, wanted: WantedFile) -> tuple[int, int]:
    """uid and gid for the new file: as wanted, else those of the old file, else -1 (the process's own)."""
    try:
        status = path.stat()
        old = (status.st_uid, status.st_gid)
    except OSError:
        old = (-1, -1)
    own = (os.geteuid(), os.getegid())
    if wanted.secret:
        old = (_secret_owner(wanted), old[1])
    kept = tuple(-1 if had == mine else had for had, mine in zip(old, own))
    uid = wanted.uid if wanted.uid is not None else kept[0]
    gid = wanted.gid if wanted.gid is not None else kept[1]
    return uid, gid


__all__ = [
    "SECRET_CHANGED",
    "TEMPORARY_PREFIX",
    "FileChange",
    "FileError",
    "WantedFile",
    "binary_file",
    "file_change",
    "make_directory",
    "remove_leftovers",
    "sync_directory",
    "write_file",
]
