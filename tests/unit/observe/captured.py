"""Reads the saved outputs of tests/unit/data/captures through the parsers, as ``gpu-seats parse`` does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpu_seats.observe.records import Observation
from gpu_seats.observe.tools import read_capture

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
TOOL_OF_FOLDER = {"nvidia-smi": "nvidia-smi", "compose": "compose-config", "ss": "ss"}


def tool_of(name: str) -> str:
    """The tool that printed a capture, by its folder and the start of its name."""
    folder, _, file = name.partition("/")
    if folder == "docker":
        return "docker-ps" if file.startswith("ps") else "docker-port" if file.startswith("port") else "docker-inspect"
    if folder == "ipmitool":
        # an error of ipmitool's is the same for every command; that of the power reading stands for all
        return "ipmitool-dcmi"
    if folder == "llm":
        return "llamacpp-log" if file.startswith("llamacpp") else "vllm-log"
    if folder == "models":
        return "safetensors-index" if "index" in file else "model-config"
    return TOOL_OF_FOLDER[folder]


def capture(name: str) -> Observation:
    return read_capture(tool_of(name), (CAPTURES / name).read_bytes())


def capture_names() -> list[str]:
    return sorted(str(path.relative_to(CAPTURES)) for path in CAPTURES.rglob("*") if path.is_file())


def read(tool: str, text: str, rc: int | None = None) -> Observation:
    return read_capture(tool, text, rc)


def record(observation: Observation, kind: str, number: int = 0) -> dict[str, Any]:
    """The `number`-th record of a kind as a dictionary."""
    return [one.as_dict() for one in observation.records if one.kind == kind][number]


def codes(observation: Observation) -> list[tuple[str, str]]:
    """(code, subject) of all findings in order."""
    return [(one.code, one.subject) for one in observation.findings]


def code_set(observation: Observation) -> set[str]:
    return {one.code for one in observation.findings}
