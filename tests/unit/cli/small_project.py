"""A small project to write to disk, and what one run of the command gave."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import yaml

HOST = {
    "host": "box1",
    "site": "lab",
    "summary": "A host with two cards",
    "address": "192.0.2.10",
    "ram": "256GiB",
    "gpus": {
        "0": {"model": "Card", "vram": "97887MiB", "uuid": "GPU-00000000-0000-4000-8000-000000000000"},
        "1": {"model": "Card", "vram": "97887MiB", "uuid": "GPU-00000001-0000-4000-8000-000000000000"},
    },
}
SITE = {"site": "lab", "summary": "A site"}
CHAT = {
    "state": "serving",
    "engine": "other",
    "image": "registry.test/chat:1.0",
    "gpus": ["1"],
    "port": 8010,
    "container_port": 8000,
    "claim": {"vram": "40GiB"},
    "secrets": ["API_KEY"],
}
OLD = {"state": "retired", "reason": "replaced by chat", "engine": "other"}
STACK = {"stack": "chat-seat", "host": "box1", "summary": "Chat", "seats": {"chat": CHAT, "old": OLD}}


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


def write(path: Path, document: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
