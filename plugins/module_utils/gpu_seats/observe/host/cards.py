"""Cards and the processes on them, asked of nvidia-smi."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...findings import Finding
from ..command import CommandResult, command_findings
from ..nvidia.cards import GpuCard, GpuProcess
from ..nvidia.parse import parse_nvidia_smi
from ..records import Parsed, unique

Run = Callable[[Sequence[str], float], CommandResult]

LIMIT_S = 15.0
"""nvidia-smi answers within a second or two without the persistence daemon; longer means that the driver hangs."""

CARD_FIELDS = (
    "index,uuid,pci.bus_id,name,driver_version,memory.total,memory.used,memory.free,memory.reserved,power.draw,"
    "power.limit,power.default_limit,power.min_limit,power.max_limit,persistence_mode,mig.mode.current,"
    "temperature.gpu,utilization.gpu,pstate"
)
_PROCESS_FIELDS = "gpu_uuid,pid,process_name,used_gpu_memory"
_CARD_IS_LOST = ("gpu.lost", "gpu.handle_error", "gpu.reset_required", "gpu.access_blocked")
_CONTAINER_OF_CGROUP = re.compile(r"(?:docker[-/]|/)([0-9a-f]{64})(?:\.scope)?\s*$", re.MULTILINE)
_KNOWN_CARDS = Path("/proc/driver/nvidia/gpus")
_MOST_DROPPED_FIELDS = 8


def observed_cards(run: Run, declared_ids: Sequence[str]) -> dict[str, Any]:
    """``{cards, processes, findings}``; cards None when nvidia-smi could not tell.

    One card that can't be opened aborts the whole query, so the others are then asked one by one: by `declared_ids`
    (UUIDs or bus ids), or by the driver's own list where none are declared.
    """
    parsed, ended = _query(run, [])
    findings = [*parsed.findings, *command_findings(ended, "tool:nvidia-smi")]
    cards = parsed.of(GpuCard)
    if any(one.code in _CARD_IS_LOST for one in parsed.findings):
        cards, more = _one_by_one(run, declared_ids or _driver_list())
        findings += more
    known = bool(cards) or any(one.code == "gpu.no_devices" for one in findings)
    processes, more = _processes(run) if cards else (None, [])
    return {
        "cards": [one.as_dict() for one in cards] if known else None,
        "processes": processes,
        "findings": [one.as_dict() for one in unique([*findings, *more])],
    }


def _query(run: Run, selection: Sequence[str]) -> tuple[Parsed, CommandResult]:
    """Asks for all fields; a field that this driver does not know fails the whole query, so it is left out then."""
    names, dropped = CARD_FIELDS.split(","), Parsed()
    for _ in range(_MOST_DROPPED_FIELDS):
        argv = ["nvidia-smi", f"--query-gpu={','.join(names)}", "--format=csv,noheader,nounits", *selection]
        ended = run(argv, LIMIT_S)
        if ended.rc is None:
            return dropped, ended
        parsed = parse_nvidia_smi(ended.text, ended.rc, fields=names)
        unknown = [str(one.evidence.get("field")) for one in parsed.findings if one.code == "gpu.query_field_unknown"]
        left = [name for name in names if name not in unknown]
        if not unknown or len(left) == len(names):
            return dropped.add(parsed), ended
        names = left
        dropped.findings += [one for one in parsed.findings if one.code == "gpu.query_field_unknown"]
    return dropped, ended


def _one_by_one(run: Run, ids: Sequence[str]) -> tuple[list[GpuCard], list[Finding]]:
    cards: list[GpuCard] = []
    findings: list[Finding] = []
    for one in ids:
        parsed, ended = _query(run, ["-i", one])
        cards += parsed.of(GpuCard)
        findings += [*parsed.findings, *command_findings(ended, f"gpu:{one}")]
    return cards, findings


def _driver_list() -> list[str]:
    """Bus ids of all cards the driver has, lost ones included; empty where it tells none."""
    return sorted(entry.name for entry in _KNOWN_CARDS.iterdir()) if _KNOWN_CARDS.is_dir() else []


def _processes(run: Run) -> tuple[list[dict[str, Any]] | None, list[Finding]]:
    argv = ["nvidia-smi", f"--query-compute-apps={_PROCESS_FIELDS}", "--format=csv"]
    ended = run(argv, LIMIT_S)
    if ended.rc is None:
        return None, command_findings(ended, "tool:nvidia-smi")
    parsed = parse_nvidia_smi(ended.text, ended.rc, " ".join(argv))
    rows = [{**one.as_dict(), "container_id": _container_of(one.pid)} for one in parsed.of(GpuProcess)]
    return (rows if ended.ok else None), parsed.findings


def _container_of(pid: int | None) -> str | None:
    """Id of the container that a process runs in, by its control group; None on the host itself or when it is gone."""
    try:
        text = Path(f"/proc/{pid}/cgroup").read_text()
    except OSError:
        return None
    match = _CONTAINER_OF_CGROUP.search(text)
    return match.group(1) if match else None
