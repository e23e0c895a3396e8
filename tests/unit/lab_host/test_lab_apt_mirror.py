"""The lab must find the machine's own Debian mirror in every form that apt sources are written in."""

from __future__ import annotations

import pytest

from lab.apt_mirror import debian_mirror_in

DEB822 = """\
# Debian
Types: deb deb-src
URIs: http://mirror.example/debian/
Suites: trixie trixie-updates
Components: main

Types: deb
URIs: http://mirror.example/debian-security
Suites: trixie-security
Components: main
"""


def test_deb822_gives_the_archive_with_a_base_system() -> None:
    assert debian_mirror_in(DEB822, deb822=True) == "http://mirror.example/debian"


@pytest.mark.parametrize(
    "stanza",
    [
        "Types: deb\nURIs: http://mirror.example/debian\nSuites: trixie-security\n",
        "Types: deb-src\nURIs: http://mirror.example/debian\nSuites: trixie\n",
        "Enabled: no\nTypes: deb\nURIs: http://mirror.example/debian\nSuites: trixie\n",
        "Types: deb\nURIs: http://mirror.example/ubuntu\nSuites: noble noble-updates\n",
    ],
)
def test_deb822_without_a_debian_base_gives_none(stanza: str) -> None:
    assert debian_mirror_in(stanza, deb822=True) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("deb http://mirror.example/debian bookworm main", "http://mirror.example/debian"),
        (
            "deb [signed-by=/k.gpg arch=amd64] https://mirror.example/debian/ trixie main",
            "https://mirror.example/debian",
        ),
        ("# deb http://mirror.example/debian bookworm main", None),
        ("deb-src http://mirror.example/debian bookworm main", None),
        ("deb http://mirror.example/debian-security bookworm-security main", None),
        ("deb https://packages.example/apt cloud-sdk-bookworm main", None),
    ],
)
def test_one_line_form(line: str, expected: str | None) -> None:
    assert debian_mirror_in(line + "\n", deb822=False) == expected
