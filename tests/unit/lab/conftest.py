"""The simulators are programs for other machines; their modules are found the way those machines find them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
for folder in ("lab/engines/llamacpp", "lab/engines/vllm", "lab/engines", "lab/sim", "lab/bmc"):
    sys.path.insert(0, str(PROJECT / folder))


@pytest.fixture
def cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Four freshly booted simulated cards, seen from the host as root; the state directory."""
    from gpu_sim import faults, machine

    monkeypatch.setenv("GPU_SIM_DIR", str(tmp_path / "gpu-sim"))
    monkeypatch.setenv("GPU_SIM_LIB", str(PROJECT / "lab/sim"))
    for module in (faults, machine):
        monkeypatch.setattr(module, "VISIBLE_FILE", tmp_path / "visible.json")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    machine.boot()
    yield tmp_path / "gpu-sim"


@pytest.fixture
def bmc_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The simulated BMC's state directory, empty."""
    folder = tmp_path / "bmc-sim"
    monkeypatch.setenv("BMC_SIM_DIR", str(folder))
    return folder
