"""The log of llama.cpp's server, old (``llama_model_load: ...``) and new (``0.00.345.474 I srv ...``) layout."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ...findings import Finding, finding
from ..records import Parsed, Record, unique, unrecognised, with_reasons
from .cause import cause_finding
from .llamacpp_causes import FAILURES, SIGNS
from .log_lines import bare_line

_SUBJECT = "engine:llamacpp"
_HEAD = re.compile(r"^(?:\d+\.\d\d\.\d{3}\.\d{3}|\[\d+\])\s+(?:[DIWE]\s+)?|^[DIWE]\s(?=\w+)")
_KNOWN_SHAPE = re.compile(
    r"llama|ggml|gguf|load_tensors|load_backend|\b(?:srv|slot|print_info|build_info|main|common_init\w*)\b"
    r"|server is listening|error while handling argument|invalid argument|error while loading shared libraries"
    r"|Illegal instruction|Segmentation fault|failed to get manifest|GET failed",
    re.IGNORECASE,
)
_STAGES = ("starting", "loading", "serving")
_SERVING = re.compile(
    r"server is listening on (?P<url>https?://[^\s-]+)|starting the main loop|\bmodel loaded\b.*"
    r"|all slots are idle"
)
_LOADING = re.compile(r"loading model\b|load_tensors|llm_load_tensors|llama_model_loader")
_NEW_START = re.compile(r"^(?:build(?:_info)?: |main: (?:HTTP server|build)|system[_ ]info: n_threads|init_backend)")
_DEVICE = re.compile(r"Device (?P<index>\d+): (?P<name>[^,]+), compute capability (?P<capability>[\d.]+)")
_DEVICE_NEW = re.compile(r"-\s+CUDA(?P<index>\d+)\s*: (?P<name>.+?) \((?P<total>\d+) MiB, (?P<free>\d+) MiB free\)")
_USING = re.compile(r"using device CUDA(?P<index>\d+) \((?P<name>[^)]+)\)[^-]*- (?P<free>\d+) MiB free")
_BUFFER = re.compile(
    r"(?P<device>[A-Za-z]+\d*(?:_\w+)?)\s+(?P<what>model|KV|compute|output"
    r"|RS)\s+buffer size\s*=\s*(?P<mib>[\d.]+) MiB",
    re.IGNORECASE,
)
_FACTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("version", re.compile(r"^(?:build(?:_info)?|version): (?P<v>b?\d+(?:-\w+| \(\w+\))?)")),
    ("model", re.compile(r"loading model '(?P<v>[^']+)'|loaded meta data .* from (?P<w>\S+)")),
    ("architecture", re.compile(r"general\.architecture str\s*=\s*(?P<v>\S+)|print_info: arch\s*=\s*(?P<w>\S+)")),
    ("layers_offloaded", re.compile(r"offloaded (?P<v>\d+)/\d+ layers to GPU")),
    ("layers_total", re.compile(r"offloaded \d+/(?P<v>\d+) layers to GPU")),
    (
        "context_tokens",
        re.compile(r"(?:llama_context|llama_new_context_with_model|llama_init\w*): n_ctx\s*=\s*(?P<v>\d+)"),
    ),
    ("context_tokens", re.compile(r"llama_kv_cache\w*: size\s*=.*\(\s*(?P<v>\d+) cells")),
    ("slots", re.compile(r"n_slots\s*=\s*(?P<v>\d+)|initializing slots, n_slots = (?P<w>\d+)")),
    ("slot_context_tokens", re.compile(r"new slot,? n_ctx(?:_slot)?\s*=\s*(?P<v>\d+)|n_ctx_slot\s*=\s*(?P<w>\d+)")),
    ("kv_cache_mib", re.compile(r"llama_kv_cache\w*: (?:KV self )?size\s*=\s*(?P<v>[\d.]+) MiB")),
    ("listens_on", re.compile(r"server is listening on (?P<v>https?://[^\s]+?)(?:\s|$)")),
)
_WHOLE = ("layers_offloaded", "layers_total", "context_tokens", "slots", "slot_context_tokens")


@dataclass(frozen=True)
class LlamaServerLog(Record):
    """The last start that the log holds. Sizes in MiB. stage: starting, loading, serving, or failed.

    buffers_mib: ``"CUDA0 model"`` -> size. devices in CUDA's own order, which is fastest first unless
    CUDA_DEVICE_ORDER=PCI_BUS_ID: their numbers are not nvidia-smi's. slot_context_tokens: context of one slot.
    """

    kind: ClassVar[str] = "llama_server_log"
    stage: str
    reached: str
    starts: int = 1
    version: str | None = None
    model: str | None = None
    architecture: str | None = None
    devices: list[str] = field(default_factory=list)
    layers_offloaded: int | None = None
    layers_total: int | None = None
    context_tokens: int | None = None
    slots: int | None = None
    slot_context_tokens: int | None = None
    kv_cache_mib: float | None = None
    buffers_mib: dict[str, float] = field(default_factory=dict)
    listens_on: str | None = None
    root_cause: str | None = None
    unknown: dict[str, str] = field(default_factory=dict)


def parse_llamacpp_log(text: str, rc: int | None = None, command: str | None = None) -> Parsed:
    """One record of the last start; findings of all starts, those of earlier ones as warnings."""
    lines = [_plain(line) for line in text.splitlines() if line.strip()]
    if not lines:
        return Parsed(notes=["the log is empty: the engine has not written yet"])
    if not any(_KNOWN_SHAPE.search(line) or any(one.pattern.search(line) for one in FAILURES) for line in lines):
        return Parsed([], [unrecognised("llamacpp-log", text, rc)])
    starts: list[list[tuple[int, str]]] = [[]]
    for number, line in enumerate(lines, 1):
        if _NEW_START.match(line) and any(_LOADING.search(one) for _, one in starts[-1]):
            starts.append([])
        starts[-1].append((number, line))
    parsed = Parsed()
    for earlier in starts[:-1]:
        parsed.findings.extend(
            replace(one, severity="warning", message=f"in an earlier start: {one.message}")
            for one in _start(earlier, None)[1]
            if one.fails
        )
    log, found = _start(starts[-1], rc)
    parsed.records.append(replace(log, starts=len(starts)))
    parsed.findings.extend(found)
    parsed.findings = unique(parsed.findings)
    return parsed


def _plain(line: str) -> str:
    """A line without its heads; one of the old JSON log lines as its message."""
    bare = bare_line(line[:4000])
    if bare.startswith("{"):
        try:
            said = json.loads(bare)
        except (ValueError, RecursionError):
            said = None
        if isinstance(said, dict) and isinstance(said.get("message") or said.get("msg"), str):
            model = said.get("model")
            return str(said.get("message") or said.get("msg")) + (f" '{model}'" if isinstance(model, str) else "")
    return _HEAD.sub("", bare)


def _start(lines: list[tuple[int, str]], rc: int | None) -> tuple[LlamaServerLog, list[Finding]]:
    facts: dict[str, Any] = {}
    devices: dict[int, str] = {}
    buffers: dict[str, float] = {}
    reached = "starting"
    for _, line in lines:
        _take_facts(line, facts, devices, buffers)
        stage = "serving" if _SERVING.search(line) else "loading" if _LOADING.search(line) else "starting"
        reached = stage if _STAGES.index(stage) > _STAGES.index(reached) else reached
    causes = _first_of_each(lines, FAILURES)
    causes = [one for one in causes if one.code != "engine.failed"] or causes
    failed = bool(causes) or (rc not in (None, 0) and reached != "serving")
    log = LlamaServerLog(
        "failed" if failed else reached,
        reached,
        devices=[devices[index] for index in sorted(devices)],
        buffers_mib=buffers,
        root_cause=causes[0].code if causes else None,
        **facts,
    )
    log = with_reasons(log, {"root_cause": "no failure in the log"}, "not in the log (yet)")
    return log, [*causes, *_first_of_each(lines, SIGNS), *_placement(log)]


def _take_facts(line: str, facts: dict[str, Any], devices: dict[int, str], buffers: dict[str, float]) -> None:
    for name, pattern in _FACTS:
        match = pattern.search(line)
        if match:
            text = match.groupdict().get("v") or match.groupdict().get("w") or ""
            if name in _WHOLE:
                facts[name] = int(text) if text.isdigit() and len(text) < 12 else None
            elif name == "kv_cache_mib":
                facts[name] = _mib(text)
            else:
                facts[name] = text.rstrip(".,")
    for pattern in (_DEVICE, _DEVICE_NEW, _USING):
        device = pattern.search(line)
        if device and len(device.group("index")) < 5:
            devices[int(device.group("index"))] = device.group("name").strip()
    buffer = _BUFFER.search(line)
    size = _mib(buffer.group("mib")) if buffer else None
    if buffer and size is not None:
        buffers[f"{buffer.group('device')} {buffer.group('what')}"] = size


def _mib(text: str) -> float | None:
    return float(text) if re.match(r"^\d{1,12}(?:\.\d{1,6})?$", text) else None


def _first_of_each(lines: list[tuple[int, str]], causes: tuple[Any, ...]) -> list[Finding]:
    first: dict[str, Finding] = {}
    for number, line in lines:
        for one in causes:
            match = one.pattern.search(line)
            if match:
                found = first.setdefault(one.code, cause_finding(one, match, _SUBJECT, number, line))
                found.evidence["times"] = found.evidence.get("times", 0) + 1
                break
    return list(first.values())


def _placement(log: LlamaServerLog) -> list[Finding]:
    """Layers left on the CPU, and cards whose numbers are not nvidia-smi's."""
    found: list[Finding] = []
    if log.layers_offloaded is not None and log.layers_total is not None and log.layers_offloaded < log.layers_total:
        message = f"{log.layers_offloaded} of {log.layers_total} layers are on a GPU, the rest runs on the CPU"
        severity = "info" if log.layers_offloaded == 0 else ""
        evidence = {"offloaded": log.layers_offloaded, "layers": log.layers_total}
        found.append(finding("engine.partly_on_cpu", _SUBJECT, message, evidence, severity=severity))
    if len(log.devices) > 1 and len(set(log.devices)) > 1:
        message = "unlike cards are numbered fastest first here, not as nvidia-smi numbers them"
        found.append(finding("engine.device_order", _SUBJECT, message, {"devices": log.devices}))
    return found
