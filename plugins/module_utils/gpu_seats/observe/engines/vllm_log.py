"""vLLM's log: how far a start came, what it measured, and the first cause when it failed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ...findings import Finding, finding
from ..records import Parsed, Record, unique, unrecognised, with_reasons
from .cause import cause_finding
from .log_lines import LogLine, log_lines, seconds_between
from .vllm_causes import FAILURES, GENERIC_CAUSES, SIGN_CAUSES
from .vllm_facts import FACTS, stage_of, start_mark

_SUBJECT = "engine:vllm"
_EXCEPTION = re.compile(
    r"^(?:[\w.]+\.)?(?P<name>[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Failure))(?:: (?P<text>.*))?$"
)
_KNOWN_SHAPE = re.compile(
    r"\bvllm\b|safetensors checkpoint|KV cache|engine|uvicorn|Uvicorn"
    r"|Traceback \(most recent call last\)|Application startup"
    r"|HTTP/1\.[01]\" \d{3}|torch\.|CUDA|NCCL|server process",
    re.IGNORECASE,
)
_BROAD = (
    "engine.nccl_failed",
    "engine.gpu_failed",
    "engine.worker_killed",
    "engine.process_crashed",
    "engine.argument_refused",
)
"""Say that something failed; what stands beside them says why."""
_STAGES = ("starting", "loading", "profiling", "kv_ready", "compiling", "serving")


@dataclass(frozen=True)
class EngineLog(Record):
    """The last start that the log holds. Sizes in GiB, times in seconds, None where the log does not say.

    stage: the furthest of starting, loading, profiling, kv_ready, compiling, serving that was reached; failed when it
    ended in an error, stopped after a clean end. starts: how many starts the log holds.
    root_cause: code of the first cause of the failure. suggested_kv_gib is vLLM's own "to fully utilize" figure: it is
    computed from a shallow profile and must never be taken.
    """

    kind: ClassVar[str] = "engine_log"
    engine: str
    stage: str
    reached: str
    starts: int = 1
    version: str | None = None
    model: str | None = None
    served_names: list[str] | None = None
    architecture: str | None = None
    max_model_len: int | None = None
    listens_on: str | None = None
    shards_loaded: int | None = None
    shards_total: int | None = None
    weights_gib: float | None = None
    weights_load_seconds: float | None = None
    load_seconds: float | None = None
    init_seconds: float | None = None
    ready_seconds: float | None = None
    kv_cache_gib: float | None = None
    kv_cache_tokens: int | None = None
    max_concurrency: float | None = None
    max_concurrency_at_tokens: int | None = None
    peak_activation_gib: float | None = None
    profiling_skipped: bool | None = None
    suggested_kv_gib: float | None = None
    graph_gib: float | None = None
    root_cause: str | None = None
    root_cause_line: int | None = None
    unknown: dict[str, str] = field(default_factory=dict)


def parse_vllm_log(text: str, rc: int | None = None, command: str | None = None) -> Parsed:
    """One record of the last start; findings of all starts, those of earlier ones as warnings."""
    lines = list(log_lines(text))
    if not lines or not text.strip():
        return Parsed(notes=["the log is empty: the engine has not written yet"])
    if not any(_is_known(line) for line in lines):
        return Parsed([], [unrecognised("vllm-log", text, rc)])
    starts = _starts(lines)
    parsed = Parsed()
    for earlier in starts[:-1]:
        parsed.findings.extend(_as_history(_start(earlier, rc=None)[1]))
    log, found = _start(starts[-1], rc)
    parsed.records.append(replace(log, starts=len(starts)))
    parsed.findings.extend(found)
    parsed.findings = unique(parsed.findings)
    return parsed


def _starts(lines: list[LogLine]) -> list[list[LogLine]]:
    """The lines of each start: a restarting container appends to one log."""
    starts: list[list[LogLine]] = [[]]
    seen: set[int] = set()
    for line in lines:
        mark = start_mark(line.text)
        if mark is not None:
            if mark in seen:
                starts.append([])
                seen = set()
            seen.add(mark)
        starts[-1].append(line)
    return starts


def _is_known(line: LogLine) -> bool:
    """Whether a line looks like vLLM's: its own head, its words, or a text of the tables."""
    if line.clock or _KNOWN_SHAPE.search(line.text) or _EXCEPTION.match(line.text.strip()):
        return True
    return any(one.pattern.search(line.text) for one in (*FAILURES, *GENERIC_CAUSES, *SIGN_CAUSES))


def _as_history(found: list[Finding]) -> list[Finding]:
    return [
        replace(one, severity="warning" if one.fails else one.severity, message=f"in an earlier start: {one.message}")
        for one in found
    ]


def _start(lines: list[LogLine], rc: int | None) -> tuple[EngineLog, list[Finding]]:
    facts: dict[str, Any] = {}
    reached, ended = "starting", ""
    for line in lines:
        for pattern, fill in FACTS:
            match = pattern.search(line.text)
            if match:
                facts.update({key: value for key, value in fill(match).items() if value is not None})
        stage = stage_of(line.text)
        if stage in _STAGES and _STAGES.index(stage) > _STAGES.index(reached):
            reached = stage
        elif stage == "stopped":
            ended = stage
        if stage == "serving":
            facts["ready_seconds"] = seconds_between(_first_clock(lines), _clock_before(lines, line))
    found, root = _problems(lines, reached == "serving")
    failed = root is not None or (rc not in (None, 0) and reached != "serving")
    log = EngineLog(
        "vllm",
        "failed" if failed else ended or reached,
        reached,
        root_cause=root.code if root else None,
        root_cause_line=root.evidence.get("line") if root else None,
        **facts,
    )
    reasons = {"root_cause": "no failure in the log", "root_cause_line": "no failure in the log"}
    return with_reasons(log, reasons, "not in the log (yet)"), [*found, *_figures(log)]


def _first_clock(lines: list[LogLine]) -> str:
    return next((line.clock for line in lines if line.clock), "")


def _clock_before(lines: list[LogLine], last: LogLine) -> str:
    """The clock of a line, or of the last one before it that has one (uvicorn's lines have none)."""
    clocks = [line.clock for line in lines if line.clock and line.number <= last.number]
    return clocks[-1] if clocks else ""


def _problems(lines: list[LogLine], served: bool) -> tuple[list[Finding], Finding | None]:
    """(findings, root cause). The first known cause is the root; generic lines count only where nothing else does."""
    causes: list[Finding] = []
    generic: list[Finding] = []
    signs: list[Finding] = []
    for line in lines:
        known = _match(FAILURES, line)
        if known is not None:
            (causes if known[0] else signs).append(known[1])
            continue
        broad = _match(GENERIC_CAUSES, line)
        if broad is not None:
            generic.append(broad[1])
        sign = _match(SIGN_CAUSES, line)
        if sign is not None:
            signs.append(sign[1])
    causes = _specific_first(_ignoring_warnings(causes, generic, lines, served))
    if not causes and generic:
        causes = _from_exception(lines, generic)
    elif not causes and not served:
        causes = _from_exception(_last_words(lines), [])
    died = [one for one in generic if one.code == "engine.died"][:1] if served else []
    root = causes[0] if causes else (died[0] if died else None)
    kept = _first_of_each(causes)
    if root is not None:
        root.evidence["root_cause"] = True
    return [*kept, *died, *_first_of_each(signs)], root


def _match(causes: tuple[Any, ...], line: LogLine) -> tuple[bool, Finding] | None:
    for one in causes:
        match = one.pattern.search(line.text)
        if match:
            return one.fails, cause_finding(one, match, _SUBJECT, line.number, line.text)
    return None


def _ignoring_warnings(
    causes: list[Finding], generic: list[Finding], lines: list[LogLine], served: bool
) -> list[Finding]:
    """Causes that stopped the engine. In a log that ends in service, texts of warnings and requests are none."""
    levels = {line.number: line.level for line in lines}
    allowed = ("ERROR", "CRITICAL") if served and not generic else ("ERROR", "CRITICAL", "")
    kept = [one for one in causes if levels.get(one.evidence["line"], "") in allowed]
    if not kept and generic:
        kept = [one for one in causes if levels.get(one.evidence["line"], "") == "WARNING"]
    return kept


def _specific_first(causes: list[Finding]) -> list[Finding]:
    """In the order of the log, but a broad text (NCCL says only that it failed) after what explains it."""
    return sorted(causes, key=lambda one: one.code in _BROAD)


def _from_exception(lines: list[LogLine], generic: list[Finding]) -> list[Finding]:
    """The first exception that is no generic one, else the generic finding itself."""
    for line in lines:
        match = _EXCEPTION.match(line.text.strip())
        text = (match.group("text") or "") if match else ""
        if match and not any(one.pattern.search(line.text) for one in GENERIC_CAUSES) and "Executor failed" not in text:
            evidence = {"line": line.number, "text": line.text.strip()[:400], "exception": match.group("name")}
            message = f"the engine failed with {match.group('name')}: {text[:200] or 'no text'}"
            return [finding("engine.failed", _SUBJECT, message, evidence)]
    return generic[:1]


def _last_words(lines: list[LogLine]) -> list[LogLine]:
    """The lines after which the engine logged nothing ordinary any more: where it died without a known text."""
    went_on = [number for number, line in enumerate(lines) if line.level in ("DEBUG", "INFO", "WARNING")]
    last = lines[went_on[-1] + 1 :] if went_on else lines
    # what Python says of an exception in a finalizer; the program goes on after it
    return [] if any("Exception ignored in" in line.text for line in last) else last


def _first_of_each(found: list[Finding]) -> list[Finding]:
    """The first finding of each code, with how often its text came."""
    first: dict[str, Finding] = {}
    for one in found:
        kept = first.setdefault(one.code, one)
        kept.evidence["times"] = kept.evidence.get("times", 0) + 1
    return list(first.values())


def _figures(log: EngineLog) -> list[Finding]:
    if log.suggested_kv_gib is None:
        return []
    message = f"vLLM suggests {log.suggested_kv_gib} GiB of KV cache to fully utilize the card: do not take it"
    evidence = {"suggested_gib": log.suggested_kv_gib, "in_use_gib": log.kv_cache_gib}
    return [finding("engine.suggested_kv_unsafe", _SUBJECT, message, evidence)]
