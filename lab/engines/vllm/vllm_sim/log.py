"""vLLM's log lines and tracebacks."""

from __future__ import annotations

import os
import sys
import time

API, CORE, WORKER = "APIServer", "EngineCore", "Worker"
CORE_PID_OFFSET, WORKER_PID_OFFSET = 170, 230


def process_prefix(process: str) -> str:
    """``(EngineCore pid=171)``: the simulator is one process, so the others' numbers are made up."""
    offset = {API: 0, CORE: CORE_PID_OFFSET, WORKER: WORKER_PID_OFFSET}[process]
    return f"({process} pid={os.getpid() + offset})"


def emit(process: str, source: str, message: str, level: str = "INFO") -> None:
    """One log line, prefixed once per line of the message as vLLM does."""
    stamp = time.strftime("%m-%d %H:%M:%S")
    for line in message.split("\n"):
        print(f"{process_prefix(process)} {level} {stamp} [{source}] {line}", flush=True)


def plain(process: str, text: str) -> None:
    """A line that comes from a process's stderr: prefixed, without level and time."""
    for line in text.split("\n"):
        print(f"{process_prefix(process)} {line}", file=sys.stderr, flush=True)


def banner(version: str, model: str) -> None:
    lines = (
        "",
        "       █     █     █▄   ▄█",
        f" ▄▄ ▄█ █     █     █ ▀▄▀ █  version {version}",
        f"  █▄█▀ █     █     █     █  model   {model}",
        "   ▀▀  ▀▀▀▀▀ ▀▀▀▀▀ ▀     ▀",
        "",
        "This is the vLLM SIMULATOR of the gpu-seats lab: no model is loaded.",
    )
    emit(API, "api_utils.py:347", "\n".join(lines))


def core_failure(error: str, where: str = "gpu_worker.py", function: str = "load_model") -> None:
    """The root cause in the engine's process, and what the API server says about it afterwards."""
    site = "/usr/local/lib/python3.12/dist-packages/vllm"
    trace = (
        "EngineCore failed to start.\n"
        "Traceback (most recent call last):\n"
        f'  File "{site}/v1/engine/core.py", line 1496, in run_engine_core\n'
        "    engine_core = EngineCoreProc(*args, engine_index=dp_rank, **kwargs)\n"
        f'  File "{site}/v1/worker/{where}", line 411, in {function}\n'
        f"    self.{function}()\n"
        f"{error}"
    )
    emit(CORE, "core.py:1512", trace, "ERROR")
    plain(CORE, "Process EngineCore:")
    plain(CORE, trace.partition("\n")[2])
    api_failure("RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}")


def api_failure(error: str) -> None:
    plain(
        API,
        "Traceback (most recent call last):\n"
        '  File "/usr/local/bin/vllm", line 8, in <module>\n'
        "    sys.exit(main())\n"
        '  File "/usr/local/lib/python3.12/dist-packages/vllm/entrypoints/cli/main.py", line 88, in main\n'
        "    args.dispatch_function(args)\n"
        f"{error}",
    )


def loading_progress(done: int, total: int, seconds: float) -> None:
    percent = round(100 * done / total)
    left = round(seconds / done * (total - done)) if done else 0
    spent = "?" if not done else f"{left // 60:02d}:{left % 60:02d}"
    pace = "?it/s" if not done else f"{max(seconds, 0.01) / done:5.2f}s/it"
    clock = f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"
    line = f"Loading safetensors checkpoint shards: {percent:>3}% Completed | {done}/{total} [{clock}<{spent}, {pace}]"
    plain(WORKER, line)


def kv_cache_lines(release: tuple[int, int, int], tokens: int, context: int) -> list[str]:
    """How this release prints the size of the KV cache: two lines up to 0.27, one after."""
    size = f"GPU KV cache size: {tokens:,} tokens"
    many = f"Maximum concurrency for {context:,} tokens per request: {tokens / context:.2f}x"
    return [f"{size}, {many}"] if release >= (0, 28, 0) else [size, many]
