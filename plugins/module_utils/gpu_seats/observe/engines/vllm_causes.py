"""Texts by which vLLM says what is wrong; most specific first.

Read from the sources of vLLM 0.28 to 0.33 and from public logs of 0.6 to 0.25; the wording moved between releases.
"""

from __future__ import annotations

from .cause import cause
from .vllm_memory_causes import GPU_CAUSES, MEMORY_CAUSES
from .vllm_model_causes import MODEL_CAUSES

START_CAUSES = (
    cause(
        "engine.port_in_use",
        r"\[Errno 98\]|error while attempting to bind on address \('(?P<address>[^']*)', (?P<port>\d+)\)"
        r"|Address already in use",
        "the engine's own port is taken inside its network",
        ("port",),
    ),
    cause(
        "engine.flag_unknown",
        r"error: unrecognized arguments: (?P<arguments>.+?)(?:; did you mean.*)?$"
        r"|unrecognized arguments: (?P<arguments2>.+)$",
        "this build does not know the flag {arguments}",
    ),
    cause(
        "engine.flag_invalid",
        r"error: argument (?P<flag>\S+?):? (?P<problem>.+)$|error: (?P<problem2>ambiguous option: .+)$"
        r"|error: (?P<problem3>the following arguments are required: .+)$",
        "a flag has a value that this build does not take: {flag} {problem}",
    ),
    cause(
        "engine.argument_refused",
        r"^\s*Value error, (?P<problem>.+?)(?: \[type=value_error.*)?$",
        "vLLM refuses the arguments: {problem}",
    ),
    cause(
        "container.command_missing",
        r"(?:^|\s)exec: \"?(?P<program>[\w./-]+)\"?: (?:not found|executable file not found)",
        "the image has no program {program}",
    ),
    cause(
        "image.no_platform",
        r"exec format error",
        "the image is not made for this machine",
    ),
    cause(
        "engine.ready_timeout",
        r"Timed out waiting for engine|VLLM_ENGINE_READY_TIMEOUT_S"
        r"|did not (?:become ready|start) in (?P<limit>\d+)",
        "the engine was not ready within its own limit",
        ("limit",),
    ),
    cause(
        "engine.compiler_missing",
        r"Failed to find C compiler|Command '\[?'?(?:gcc|cc|nvcc|ninja)[^\n]*returned non-zero"
        r"|Ninja (?:is required|build failed)|nvcc(?:: | was )not found|Could not find nvcc",
        "a kernel had to be compiled and the image has no working compiler",
    ),
)

GENERIC_CAUSES = (
    cause(
        "engine.init_failed",
        r"Engine core initialization failed|EngineCore failed to start|Engine process failed to start"
        r"|WorkerProc failed to start"
        r"|WorkerProc initialization failed",
        "the engine core did not start; no known cause stands above",
    ),
    cause(
        "engine.died",
        r"EngineDeadError|EngineCore encountered a fatal error|Engine process \(pid \d+\) died"
        r"|MQLLMEngine is already dead"
        r"|AsyncLLM output_handler failed",
        "the engine died while it served",
    ),
)

SIGN_CAUSES = (
    cause(
        "engine.workers_stuck",
        r"No available shared memory broadcast block found in (?P<seconds>\d+) seconds?",
        "the workers gave no sign for {seconds} s: a long compile, or a hang",
        ("seconds",),
        False,
    ),
    cause(
        "engine.open_files_low",
        r"Found ulimit of (?P<limit>\d+) and failed to automatically increase",
        "the limit of open files is {limit}",
        ("limit",),
        False,
    ),
)

FAILURES = (*MEMORY_CAUSES, *GPU_CAUSES, *MODEL_CAUSES, *START_CAUSES)
