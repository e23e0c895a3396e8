"""Tests against the running lab host (`make lab`); `make test` starts it first."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SSH_CONFIG = PROJECT / ".lab" / "ssh_config"
_SCRIPT = """
set -eu; shopt -s dotglob
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"; tar -x
for stack in ./*/; do
    find "$stack" -type f -exec sed -i "s#@DIR@#$dir#g" {} +
    if ! docker compose -f "$stack/compose.yaml" config --format json > "$stack/out.json" 2> "$stack/err.txt"; then
        echo "rc $?" >> "$stack/err.txt"
    fi
done
tar -c ./*/out.json ./*/err.txt
"""


class ComposeOnHost:
    """The real ``docker compose config`` of the lab host, for many projects in one connection."""

    def config(self, projects: dict[str, dict[str, str]]) -> dict[str, Any]:
        """Name -> files (path -> text, ``@DIR@`` stands for the directory they land in) to name -> parsed config.

        Raises AssertionError with Compose's own words for a project that it refuses or warns about.
        """
        done = subprocess.run(
            ["ssh", "-F", str(SSH_CONFIG), "fv-ml1", "bash -c " + shlex.quote(_SCRIPT)],
            input=_tar(projects),
            capture_output=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        texts = {path.removeprefix("./"): text for path, text in _untar(done.stdout).items()}
        for name in projects:
            assert texts[f"{name}/err.txt"] == "", f"{name}: {texts[f'{name}/err.txt']}"
        return {name: json.loads(texts[f"{name}/out.json"]) for name in projects}


def _tar(projects: dict[str, dict[str, str]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, files in projects.items():
            for path, text in files.items():
                data = text.encode()
                entry = tarfile.TarInfo(f"{name}/{path}")
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def _untar(data: bytes) -> dict[str, str]:
    texts = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for entry in tar.getmembers():
            file = tar.extractfile(entry)
            if file is not None:
                texts[entry.name] = file.read().decode()
    return texts


@pytest.fixture(scope="session")
def compose() -> ComposeOnHost:
    """Compose of the lab host; a lab that is not up is an error, never a skip."""
    if not SSH_CONFIG.is_file():
        pytest.fail("the lab host is not there: start it with `make lab`")
    return ComposeOnHost()
