"""Files that are not what their name says: Git LFS pointers and error pages saved by a download."""

from __future__ import annotations

import re

from ...findings import Finding, finding
from ..records import first_line

_LFS = re.compile(r"^version https?://(?:git-lfs|hawser)\S*/spec/v1\s*$", re.MULTILINE)
_OID = re.compile(r"^oid (?P<oid>sha256:[0-9a-f]{64})\s*$", re.MULTILINE)
_SIZE = re.compile(r"^size (?P<size>\d{1,18})\s*$", re.MULTILINE)
_ERROR_PAGE = re.compile(
    r"^\s*(?:\{\s*\"error\"\s*:|We had to rate limit"
    r"|<!doctype html|<html|Entry not found|Repository not found|Invalid (?:username|credentials)|Access to model"
    r"|Unauthorized|Not Found\s*$|<\?xml[^>]*>\s*<Error>)",
    re.IGNORECASE,
)


def lfs_pointer(text: str, subject: str) -> Finding | None:
    """The finding for a Git LFS pointer (about 134 bytes) where a real file should be, else None."""
    if not _LFS.search(text[:200]):
        return None
    oid, size = _OID.search(text), _SIZE.search(text)
    wanted = int(size.group("size")) if size else None
    message = "a Git LFS pointer stands here instead of the file" + (f" of {wanted} bytes" if wanted else "")
    return finding(
        "model.lfs_pointer", subject, message, {"oid": oid.group("oid") if oid else None, "size_bytes": wanted}
    )


def error_page(text: str, subject: str) -> Finding | None:
    """The finding for an error page that a download saved under the file's name, else None."""
    if not _ERROR_PAGE.match(text):
        return None
    message = f"a download saved an error page under this name: {first_line(text, 80)}"
    return finding("model.error_page", subject, message, {"first_line": first_line(text)})
