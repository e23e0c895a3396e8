"""One start of the simulated engine: configuration, loading with log lines and claims, then serving until a signal."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

from openai_api.card import IDLE_W, follower
from openai_api.server import Engine, EngineServer

from . import container, log
from .log import API, CORE, WORKER
from .memory import MemoryPlan, StartError, plan_memory
from .metrics import metrics_text
from .seat import Seat
from .versions import is_release, release_of

NO_DEVICE = (
    "RuntimeError: Failed to infer device type, please set the environment variable `VLLM_LOGGING_LEVEL=DEBUG` to turn "
    "on verbose logging to help debug the issue."
)
CRASH = "KeyError: 'model.layers.0.mlp.experts.w13_weight_scale_2'"


class StopRequested(BaseException):
    """SIGTERM or SIGINT came."""


def request_stop(*_: object) -> None:
    raise StopRequested


def load_seconds(fault: container.EngineFault | None) -> float:
    if fault is not None and fault.name == "slow_load":
        return fault.seconds or 60.0
    return float(os.environ.get("SIM_LOAD_S", "2"))


def release_numbers(version: str) -> tuple[int, int, int]:
    """Numbers for choosing log formats; a name without numbers counts as new."""
    try:
        return release_of(version)
    except ValueError:
        return (9, 9, 9)


def own_cards(sim: Any, wanted: int) -> list[Any]:
    """The first `wanted` cards of this container; raises as vLLM does when there are none or too few."""
    faults = sim.faults.active_faults() if sim is not None else {}
    machine = sim.machine.load_machine() if sim is not None else None
    cards = sim.machine.visible_cards(machine) if machine is not None else []
    if not cards or sim.faults.container_lost_gpus(faults):
        raise StartError(NO_DEVICE)
    try:
        for card in cards[:wanted]:
            sim.faults.stop_if_card_fails(faults, card)
    except sim.faults.ToolError:
        raise StartError("torch.AcceleratorError: CUDA error: unknown error") from None
    if wanted > len(cards):
        raise StartError(
            f"ValueError: World size ({wanted}) is larger than the number of available GPUs ({len(cards)})."
        )
    return list(cards[:wanted])


def free_mib(sim: Any, card: Any) -> int:
    used = sum(claim.mib for claim in sim.claims.live_claims(card.uuid))
    return int(card.memory_total_mib - card.reserve_mib - used)


def load(seat: Seat, version: str, fault: container.EngineFault | None, pause: float) -> tuple[MemoryPlan, list[Any]]:
    """Take memory step by step, with vLLM's lines; returns the plan and the claims. Raises StartError."""
    sim = container.gpu_sim()
    cards = own_cards(sim, seat.cards)
    config = f"model='{seat.model}', served_model_name={seat.names[0]}, max_seq_len={seat.context}"
    log.emit(CORE, "core.py:133", f"Initializing a V1 LLM engine (v{version}) with config: {config}")
    wish = (seat.utilization, seat.kv_bytes, seat.context, seat.cards)
    plans = [plan_memory(seat.facts, card.memory_total_mib, free_mib(sim, card), *wish) for card in cards]
    plan = plans[0]
    log.emit(WORKER, "gpu_model_runner.py:2653", f"Starting to load model {seat.model}...")
    name = container.claim_name()
    claims = [sim.claims.HeldClaim(c.uuid, name, f"VLLM::{CORE}", 600, IDLE_W) for c in cards]
    began = time.monotonic()
    for done in range(seat.facts.shards + 1):
        log.loading_progress(done, seat.facts.shards, time.monotonic() - began)
        for claim in claims:
            claim.update(mib=600 + plan.weights_mib * done // seat.facts.shards, watts=60.0)
        if done < seat.facts.shards:
            time.sleep(pause / seat.facts.shards)
        if fault is not None and fault.name == "crash_in_load" and done == seat.facts.shards // 2:
            raise StartError(CRASH)
    if fault is not None and fault.name == "out_of_memory":
        raise StartError(
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.37 GiB. GPU 0 has a total capacity of "
            "94.97 GiB of which 1.21 GiB is free. Including non-PyTorch memory, this process has 93.76 GiB memory in "
            "use."
        )
    spent = time.monotonic() - began
    log.emit(WORKER, "default_loader.py:501", f"Loading weights took {spent:.2f} seconds")
    log.emit(
        WORKER,
        "gpu_model_runner.py:2712",
        f"Model loading took {plan.weights_mib / 1024:.2f} GiB memory and {spent:.6f} seconds",
    )
    log.emit(WORKER, "gpu_worker.py:298", f"Available KV cache memory: {plan.kv_bytes / 2**30:.2f} GiB")
    for line in log.kv_cache_lines(release_numbers(version), plan.kv_tokens, seat.context):
        log.emit(CORE, "kv_cache_utils.py:2327", line)
    for claim in claims:
        claim.update(mib=plan.claim_mib, watts=IDLE_W)
    log.emit(CORE, "core.py:402", f"init engine (profile, create kv cache, warmup model) took {spent:.2f} s")
    return plan, claims


def engine_of(seat: Seat, version: str, plan: MemoryPlan, claims: list[Any], keys: list[str]) -> Engine:
    fault = container.current_fault(keys)
    wrong = fault is not None and fault.name == "wrong_model_name"

    def hanging() -> bool:
        now = container.current_fault(keys)
        return now is not None and now.name == "hangs"

    return Engine(
        names=["another-model"] if wrong else seat.names,
        root=seat.model,
        tasks=seat.tasks,
        max_model_len=seat.context,
        version=version,
        api_keys=seat.api_keys,
        on_load_change=follower(claims),
        is_hanging=hanging,
        metrics=metrics_text(seat, plan),
    )


def serve(seat: Seat, version: str, described: str) -> int:
    """Bind, load, answer, stop. Returns the exit code; StopRequested passes through while the model loads."""
    keys = container.fault_keys(seat.names, seat.model)
    fault = container.current_fault(keys)
    log.banner(version, seat.model)
    log.emit(API, "api_utils.py:286", f"non-default args: {described}")
    engine = Engine(names=[], root=seat.model, tasks=set())
    try:
        server = EngineServer((seat.host, seat.port), engine)
    except OSError as error:
        log.api_failure(f"OSError: [Errno {error.errno}] {error.strerror}")
        return 1
    try:
        plan, claims = load(seat, version, fault, load_seconds(fault))
    except StartError as refusal:
        log.core_failure(str(refusal))
        return 1
    server.engine = engine_of(seat, version, plan, claims, keys)
    log.emit(API, "entry.py:136", f"Supported tasks: {sorted(seat.tasks)}")
    kind = "" if is_release(version) else " (simulated development build)"
    log.emit(API, "entry.py:140", f"Starting vLLM server on http://{seat.host}:{seat.port}{kind}")
    print(f"INFO:     Started server process [{os.getpid()}]\nINFO:     Waiting for application startup.", flush=True)
    server.start_answering()
    print("INFO:     Application startup complete.", flush=True)
    return wait(server, fault)


def wait(server: EngineServer, fault: container.EngineFault | None) -> int:
    """Serve until the signal, or until `dies_after_ready` has its way."""
    dying = fault is not None and fault.name == "dies_after_ready"
    code = 1
    try:
        threading.Event().wait((fault.seconds or 3.0) if dying and fault is not None else None)
        log.emit(CORE, "core.py:1512", "EngineCore encountered a fatal error.\nRuntimeError: Executor failed.", "ERROR")
        issue = "EngineCore encountered an issue. See stack trace (above) for the root cause."
        log.emit(API, "async_llm.py:906", f"vllm.v1.engine.exceptions.EngineDeadError: {issue}", "ERROR")
    except StopRequested:
        code = 0
    print("INFO:     Shutting down\nINFO:     Waiting for application shutdown.", flush=True)
    server.shutdown()
    print(f"INFO:     Application shutdown complete.\nINFO:     Finished server process [{os.getpid()}]", flush=True)
    return code
