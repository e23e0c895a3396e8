"""What an engine's log says of a seat that is not ready: how far it came, and what stopped it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..findings import Finding

TAIL_LINES = 2000
"""The root cause of a crash stands far above its last line: a vLLM traceback of several workers is long."""
EARLIER_START = "in an earlier start: "
"""How the log parsers begin the message of what ended a start before the last one."""
_STAGE_TEXTS = {
    "starting": "engine starts",
    "loading": "loading weights",
    "profiling": "measuring memory",
    "kv_ready": "KV cache is laid out",
    "compiling": "compiling and capturing graphs",
    "serving": "serving begins",
}


@dataclass(frozen=True)
class LogReading:
    """stage: for a progress line (``loading weights 5/9``), "" where the log says nothing.

    serving: the engine says that it is ready. cause: the root cause if the engine failed. more: what else is there.
    """

    stage: str = ""
    serving: bool = False
    cause: Finding | None = None
    more: tuple[Finding, ...] = ()


def read_log(engine: str, text: str, subject: str) -> LogReading:
    """The reading of a container's log; findings are about `subject`. Engines without a parser have no stages."""
    if engine == "vllm":
        return _vllm(text, subject)
    if engine == "llamacpp":
        return _llamacpp(text, subject)
    return LogReading()


def _vllm(text: str, subject: str) -> LogReading:
    # the expressions of the log parsers are only worth compiling for a seat that is not ready
    from ..observe.engines.vllm_log import EngineLog, parse_vllm_log

    parsed = parse_vllm_log(text)
    logs = parsed.of(EngineLog)
    if not logs:
        return LogReading()
    log = logs[-1]
    stage = _STAGE_TEXTS.get(log.stage if log.stage != "failed" else log.reached, log.stage)
    if log.reached == "loading" and log.shards_total:
        stage = f"{stage} {log.shards_loaded or 0}/{log.shards_total}"
    return _reading(stage, log.stage, parsed.findings, subject)


def _llamacpp(text: str, subject: str) -> LogReading:
    from ..observe.engines.llamacpp_log import LlamaServerLog, parse_llamacpp_log

    parsed = parse_llamacpp_log(text)
    logs = parsed.of(LlamaServerLog)
    if not logs:
        return LogReading()
    log = logs[-1]
    stage = "loading model" if log.reached == "loading" else _STAGE_TEXTS.get(log.reached, log.reached)
    return _reading(stage, log.stage, parsed.findings, subject)


def _reading(shown: str, stage: str, findings: Iterable[Finding], subject: str) -> LogReading:
    about = [replace(one, subject=subject) for one in findings]
    failing = [one for one in about if one.fails]
    root = next((one for one in failing if one.evidence.get("root_cause")), failing[0] if failing else None)
    cause = root if stage == "failed" else None
    return LogReading(shown, stage == "serving", cause, tuple(one for one in about if one is not cause))


__all__ = ["EARLIER_START", "TAIL_LINES", "LogReading", "read_log"]
