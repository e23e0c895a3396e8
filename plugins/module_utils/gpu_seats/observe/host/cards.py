"""Cards and the processes on them, asked of nvidia-smi."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ...findings import Finding
from ..command import Run, command_findings
from ..nvidia.card_query import LIMIT_S, cards_one_by_one, driver_list, is_stopped, query_cards
from ..nvidia.cards import GpuCard, GpuProcess
from ..nvidia.query import parse_query
from ..nvidia.versions import DriverVersion, parse_module_version
from ..records import unique
from .card_memory import Look, settled_look

_CARD_FIELDS = (
    "index,uuid,pci.bus_id,name,driver_version,memory.total,memory.used,memory.free,memory.reserved,power.draw,"
    "power.limit,enforced.power.limit,power.default_limit,power.min_limit,power.max_limit,persistence_mode,"
    "mig.mode.current,temperature.gpu,utilization.gpu,pstate"
)
_PROCESS_FIELDS = "gpu_uuid,pid,process_name,used_gpu_memory"
_CONTAINER_OF_CGROUP = re.compile(r"(?:docker[-/]|/)([0-9a-f]{64})(?:\.scope)?\s*$", re.MULTILINE)
_MODULE_VERSION = Path("/proc/driver/nvidia/version")


def observed_cards(run: Run, declared_ids: Sequence[str]) -> dict[str, Any]:
    """``{cards, card_count, processes, module, unknown, findings}``; cards None when nvidia-smi could not tell.

    card_count None: a card was lost or the driver could not be asked, so how many there are is unknown; `unknown` says
    why. module: version and flavour of the loaded kernel module, None where none is loaded.

    One card that can't be opened aborts the whole query, so the others are then asked one by one: by `declared_ids`
    (UUIDs or bus ids), or by the driver's own list where none are declared.
    """
    look = settled_look(lambda: _look(run), time.sleep)
    parsed, ended, unasked = look.rest
    cards, processes = look.cards, look.processes
    findings = [*parsed.findings, *command_findings(ended, "tool:nvidia-smi")]
    stopped = is_stopped(parsed)
    if stopped:
        cards, of_one = cards_one_by_one(run, _CARD_FIELDS, declared_ids or driver_list())
        findings += of_one
    nothing_there = any(one.code == "gpu.no_devices" for one in findings)
    known = bool(cards) or nothing_there
    counted = len(cards) if cards and not stopped else 0 if nothing_there else None
    reason = next((one.message for one in findings if one.fails), "nvidia-smi gave no answer")
    if not cards:
        processes, unasked = None, []
    module = _loaded_module()
    for one in findings:
        if one.code == "gpu.driver_mismatch" and module is not None:
            one.evidence["loaded"] = module.driver
    return {
        "cards": [one.as_dict() for one in cards] if known else None,
        "card_count": counted,
        "processes": processes,
        "module": module.as_dict() if module else None,
        "unknown": {
            **({} if known else {"cards": reason}),
            **({} if counted is not None else {"card_count": reason}),
            **({} if processes is not None else {"processes": next((one.message for one in unasked), reason)}),
        },
        "findings": [one.as_dict() for one in unique([*findings, *unasked])],
    }


def _look(run: Run) -> Look:
    """Cards and processes, asked side by side: each call of nvidia-smi opens every card."""
    with ThreadPoolExecutor(1) as beside:
        holders = beside.submit(_processes, run)
        parsed, ended = query_cards(run, _CARD_FIELDS)
        processes, unasked = holders.result()
    return Look(parsed.of(GpuCard), processes, (parsed, ended, unasked))


def _loaded_module() -> DriverVersion | None:
    try:
        text = _MODULE_VERSION.read_text(errors="replace").strip()
    except OSError:
        return None
    return next(iter(parse_module_version(text).of(DriverVersion)), None) if text else None


def _processes(run: Run) -> tuple[list[dict[str, Any]] | None, list[Finding]]:
    argv = ["nvidia-smi", f"--query-compute-apps={_PROCESS_FIELDS}", "--format=csv"]
    ended = run(argv, LIMIT_S)
    if ended.rc is None:
        return None, command_findings(ended, "tool:nvidia-smi")
    parsed = parse_query(ended.text, ended.rc, " ".join(argv), _PROCESS_FIELDS.split(","))
    rows = [{**one.as_dict(), **_container_of(one.pid)} for one in parsed.of(GpuProcess)]
    return (rows if ended.ok else None), parsed.findings


def _container_of(pid: int | None) -> dict[str, str | None]:
    """``{"container_id": id}`` by the process's control group, None on the host itself; {} where it can't be seen."""
    try:
        text = Path(f"/proc/{pid}/cgroup").read_text(errors="replace")
    except OSError:
        return {}
    match = _CONTAINER_OF_CGROUP.search(text)
    return {"container_id": match.group(1) if match else None}
