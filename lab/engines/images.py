"""Which simulator or real engine stands behind each image name that the stacks use, and what it is built from."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import declared
from ..command import run
from ..layout import PROJECT, STATE
from ..progress import step
from .facts import standin_arguments, workloads

ENGINES = Path(__file__).resolve().parent
FLAG_TABLES = PROJECT / "plugins/module_utils/gpu_seats/data/vllm"
CONTEXTS = STATE / "contexts"
WHEELS = STATE / "wheels"
_XLLAMACPP = "xllamacpp==2026.10.11549"
_PLATFORMS = ("manylinux2014_x86_64", "manylinux_2_28_x86_64")


@dataclass(frozen=True)
class EngineImage:
    """One image to build inside the lab host: its full name, build context and Docker build arguments."""

    name: str
    context: Path
    args: dict[str, str] = field(default_factory=dict)


def kind_of(name: str) -> str:
    """Which engine folder an image name stands for: ``vllm``, ``llamacpp`` or ``standin``."""
    repository = name.partition("@")[0].rpartition(":")[0] or name
    if repository.endswith("vllm/vllm-openai"):
        return "vllm"
    if repository.endswith("ggml-org/llama.cpp"):
        return "llamacpp"
    return "standin"


def vllm_version(tag: str) -> str:
    """The version that a tag of vllm-openai claims: ``v0.29.1rc0`` and ``v0.29.1rc0-cu130`` -> ``0.29.1rc0``."""
    match = re.match(r"v?(\d+\.\d+[0-9a-z.+]*)", tag)
    return match[1] if match else tag


def commit_of(name: str) -> str:
    """The commit that the image says it was built from: a nightly's own, else made up from the name."""
    match = re.search(r"\b[0-9a-f]{40}\b", name)
    return match[0] if match else hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()


def build_args(name: str, members: Iterable[dict[str, Any]]) -> dict[str, str]:
    kind = kind_of(name)
    if kind == "vllm":
        return {"VERSION": vllm_version(name.partition("@")[0].rpartition(":")[2]), "COMMIT": commit_of(name)}
    return {"IMAGE": name, **standin_arguments(name, members)} if kind == "standin" else {}


def engine_images(wanted: Iterable[str]) -> list[EngineImage]:
    """A build for every wanted image name; lays the build contexts below ``.lab/contexts``."""
    names = list(wanted)
    members = workloads(stack for _, stack in declared.read_stacks(declared.stack_files()))
    contexts = {kind: laid_context(kind) for kind in sorted({kind_of(name) for name in names})}
    return [EngineImage(name, contexts[kind_of(name)], build_args(name, members)) for name in names]


def laid_context(kind: str) -> Path:
    """The engine's own folder plus what it shares with others, as one folder that Docker gets."""
    target, fresh = CONTEXTS / kind, CONTEXTS / f".{kind}.{os.getpid()}"
    ignore = shutil.ignore_patterns("__pycache__", "compact_flags.py")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(ENGINES / kind, fresh, ignore=ignore)
    shutil.copytree(ENGINES / "openai_api", fresh / "openai_api", ignore=ignore)
    if kind == "vllm":
        (fresh / "flags").mkdir()
        for table in sorted(FLAG_TABLES.glob("serve-flags-*.json")):
            shutil.copy(table, fresh / "flags")
    if kind == "llamacpp":
        shutil.copy(llamacpp_wheel(), fresh)
    if _contents(fresh) == _contents(target):
        shutil.rmtree(fresh)
    else:
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)
    return target


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def llamacpp_wheel() -> Path:
    """The wheel with the prebuilt llama.cpp: downloaded once, for the lab's Python 3.13, kept in ``.lab/wheels``."""
    pattern = f"{_XLLAMACPP.replace('==', '-')}-*.whl"
    found = sorted(WHEELS.glob(pattern))
    if not found:
        WHEELS.mkdir(parents=True, exist_ok=True)
        with step(f"fetched {_XLLAMACPP} (32 MiB)", usual="2 to 20 s"):
            where = [*("--no-deps", "--only-binary=:all:", "--python-version", "3.13", "--dest", str(WHEELS))]
            platforms = [part for name in _PLATFORMS for part in ("--platform", name)]
            run([sys.executable, "-m", "pip", "--quiet", "download", *where, *platforms, _XLLAMACPP], timeout_s=600)
        found = sorted(WHEELS.glob(pattern))
    return found[0]
