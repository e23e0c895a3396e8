"""Files as the module systemd_units is given them.

Protects: what a task wrote wrongly is named with its file, before anything is written.
"""

from __future__ import annotations

import base64
import importlib.util
import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gpu_seats

LIBRARY = Path(__file__).resolve().parents[3] / "library"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    # on a target Ansible puts the package there
    monkeypatch.setitem(sys.modules, "ansible.module_utils.gpu_seats", gpu_seats)
    spec = importlib.util.spec_from_file_location("module_systemd_units", LIBRARY / "systemd_units.py")
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def given(**more: Any) -> dict[str, Any]:
    return {"path": "/etc/a", "content": None, "content_zlib": None, "mode": "0644", **more}


def test_text_and_packed_files_come_as_they_are(module: ModuleType) -> None:
    text = module.wanted_file(given(content="a\n", mode="0600"))
    assert (text.data, text.mode) == (b"a\n", 0o600)
    packed = base64.b64encode(zlib.compress(b"\xff\x00")).decode()
    tool = module.wanted_file(given(content_zlib=packed, mode="0755"))
    assert tool.data == b"\xff\x00" and tool.mode == 0o755 and "2 bytes" in tool.content


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"content": "a", "mode": "rw"}, "/etc/a: mode 'rw' is no octal number"),
        ({"content": "a", "mode": "420u"}, "/etc/a: mode '420u' is no octal number"),
        ({"content_zlib": "%%%"}, "/etc/a: content_zlib is not base64 of zlib"),
        ({"content_zlib": base64.b64encode(b"plain").decode()}, "/etc/a: content_zlib is not base64 of zlib"),
    ],
)
def test_what_can_not_be_written_is_named_with_its_file(module: ModuleType, more: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        module.wanted_file(given(**more))
