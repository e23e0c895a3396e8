"""Makes plain lines of what terminals, pipes and editors did to a tool's output."""

from __future__ import annotations

import re

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[()][0-9A-B]|[@-Z\\^_=>78])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BOMS = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_BINARY_SHARE = 0.1
"""More control and replacement characters than this share of the text: it is not text."""


def decoded(data: bytes | str) -> str:
    """Bytes as text: UTF-8 with or without a mark, UTF-16 with one (PowerShell redirects write it)."""
    if isinstance(data, str):
        return data
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[2:].decode(encoding, errors="replace")
    return data.decode("utf-8-sig", errors="replace")


def plain(data: bytes | str) -> str:
    """Text with ``\\n`` line ends only, without byte order marks, terminal colours and control characters.

    A lone carriage return (progress bars write over their line) ends a line as well.
    """
    text = decoded(data).lstrip("\ufeff\ufffe")
    text = _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text)


def looks_binary(data: bytes | str) -> bool:
    """Whether this is no text at all (an archive, weights, a core file)."""
    sample = decoded(data)[:4096]
    if not sample:
        return False
    odd = len(_CONTROL.findall(_ANSI.sub("", sample))) + sample.count("\ufffd")
    wide_text = "\x00" in sample and sample.replace("\x00", "").isprintable()
    return odd > len(sample) * _BINARY_SHARE and not wide_text
