"""Cards and the processes on them, asked of nvidia-smi."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ...findings import Finding
from ..command import CommandResult, command_findings
from ..nvidia.cards import GpuCard, GpuProcess
from ..nvidia.query import parse_query
from ..nvidia.versions import DriverVersion, parse_module_version
from ..records import Parsed, unique
from .card_memory import Look, settled_look

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
_MODULE_VERSION = Path("/proc/driver/nvidia/version")
_PCI_DEVICES = Path("/sys/bus/pci/devices")
_MOST_DROPPED_FIELDS = 8


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
    stopped = any(one.code in _CARD_IS_LOST for one in parsed.findings)
    if stopped:
        cards, of_one = _one_by_one(run, declared_ids or _driver_list())
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
        parsed, ended = _query(run, [])
        processes, unasked = holders.result()
    return Look(parsed.of(GpuCard), processes, (parsed, ended, unasked))


def _query(run: Run, selection: Sequence[str]) -> tuple[Parsed, CommandResult]:
    """Asks for all fields; a field that this driver does not know fails the whole query, so it is left out then."""
    names, dropped = CARD_FIELDS.split(","), Parsed()
    for _ in range(_MOST_DROPPED_FIELDS):
        argv = ["nvidia-smi", f"--query-gpu={','.join(names)}", "--format=csv,noheader,nounits", *selection]
        ended = run(argv, LIMIT_S)
        if ended.rc is None:
            return dropped, ended
        parsed = parse_query(ended.text, ended.rc, " ".join(argv), names)
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
    """Bus ids of all cards that the driver, else the PCI bus, has; lost ones included. Empty where neither tells."""
    try:
        listed = sorted(entry.name for entry in _KNOWN_CARDS.iterdir())
    except OSError:
        listed = []
    if listed:
        return listed
    try:
        return sorted(entry.name for entry in _PCI_DEVICES.iterdir() if _is_card(entry))
    except OSError:
        return []


def _is_card(device: Path) -> bool:
    """Whether a PCI device is a display or 3D controller of NVIDIA (class 0x03....)."""
    return _first_line(device / "vendor") == "0x10de" and _first_line(device / "class").startswith("0x03")


def _first_line(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _loaded_module() -> DriverVersion | None:
    text = _first_line(_MODULE_VERSION)
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
