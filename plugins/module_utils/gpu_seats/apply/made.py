"""Which configuration the containers were made with, by Compose's own hash of it.

A Compose file that was edited on the host and brought up by hand makes a container that carries every label of the
last deploy and is none of its containers. What a deploy made is noted in ``<directory>/.made.json``: the digest of
the declaration, and the hash that Compose gave the configuration. Another hash under the same digest is a hand's work.
A run that was killed before its note leaves the note of an older digest, which proves nothing and is not used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from .atomic_files import WantedFile, file_change, write_file
from .docker_state import Standing
from .wanted import LABEL_DIGEST

MADE_FILE = ".made.json"
CONFIG_HASH = "com.docker.compose.config-hash"
WORKING_DIRECTORY = "com.docker.compose.project.working_dir"

Made = Mapping[str, Mapping[str, str]]
"""Service -> ``{"digest": ..., "config_hash": ...}``."""


def read_made(directory: str) -> Made:
    """What deploys noted for the stack in `directory`; empty where there is no readable note."""
    try:
        data = json.loads((Path(directory) / MADE_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(data, dict):
        return {}
    noted = {str(name): one for name, one in data.items() if isinstance(one, dict)}
    return {name: {key: str(value) for key, value in one.items()} for name, one in noted.items()}


def note_made(directory: str, containers: Iterable[Standing]) -> None:
    """Add what `containers`, just made by a deploy, were made with. Raises FileError."""
    noted = dict(read_made(directory))
    for one in containers:
        if one.labels.get(CONFIG_HASH) and one.labels.get(LABEL_DIGEST):
            noted[one.service] = {"digest": one.labels[LABEL_DIGEST], "config_hash": one.labels[CONFIG_HASH]}
    text = json.dumps(noted, indent=1, sort_keys=True) + "\n"
    write_file(file_change(WantedFile(f"{directory}/{MADE_FILE}", text, 0o600)))


def is_remade_by_hand(container: Standing, made: Made) -> bool:
    """Whether somebody else made `container` anew with another configuration, under the labels of a deploy."""
    noted = made.get(container.service) or {}
    config_hash = container.labels.get(CONFIG_HASH)
    if not config_hash or noted.get("digest") != container.labels.get(LABEL_DIGEST):
        return False
    return config_hash != noted.get("config_hash")


__all__ = ["CONFIG_HASH", "MADE_FILE", "WORKING_DIRECTORY", "Made", "is_remade_by_hand", "note_made", "read_made"]
