"""The Debian mirror that this machine installs from, read from its apt sources at run time."""

from __future__ import annotations

import re
from pathlib import Path

_SOURCES = (Path("/etc/apt/sources.list"), Path("/etc/apt/sources.list.d"))
_DEBIAN_SUITE = re.compile(r"^(bookworm|trixie|forky|sid|stable|testing|unstable)$")


def debian_mirror_in(text: str, *, deb822: bool) -> str | None:
    """The first URI in an apt source file whose suite is a Debian release, or None.

    Security and backports archives do not count: they have no base system.
    """
    pairs = _deb822_entries(text) if deb822 else _one_line_entries(text)
    for uri, suites in pairs:
        if any(_DEBIAN_SUITE.match(suite) for suite in suites):
            return uri.rstrip("/")
    return None


def _one_line_entries(text: str) -> list[tuple[str, list[str]]]:
    found = []
    for line in text.splitlines():
        match = re.match(r"^deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)", line.strip())
        if match:
            found.append((match[1], [match[2]]))
    return found


def _deb822_entries(text: str) -> list[tuple[str, list[str]]]:
    found = []
    for stanza in re.split(r"\n\s*\n", text):
        fields: dict[str, str] = {}
        for line in stanza.splitlines():
            name, colon, value = line.partition(":")
            if colon and not line.startswith(("#", " ", "\t")):
                fields[name.strip().lower()] = value.strip()
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes") == "no":
            continue
        found += [(uri, fields.get("suites", "").split()) for uri in fields.get("uris", "").split()]
    return found


def debian_mirror() -> str | None:
    """The URI of this machine's Debian mirror, or None where apt installs from elsewhere (Ubuntu, no apt)."""
    files = [_SOURCES[0], *sorted(_SOURCES[1].glob("*.list")), *sorted(_SOURCES[1].glob("*.sources"))]
    for file in files:
        if file.is_file():
            found = debian_mirror_in(file.read_text(errors="replace"), deb822=file.suffix == ".sources")
            if found:
                return found
    return None
