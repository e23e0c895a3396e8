"""One start of the vLLM simulator as a process: loading, claims, faults, signals, with the log that operators read."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gpu_sim import claims, control, machine

ENGINES = Path(__file__).resolve().parents[3] / "lab/engines"
TABLES = ENGINES.parents[1] / "plugins/module_utils/gpu_seats/data/vllm"
MAIN = "import sys; from vllm_sim.command import main; sys.exit(main(sys.argv[1:]))"
Start = Callable[..., "subprocess.Popen[str]"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text('{"architectures": ["StandInForCausalLM"]}')
    return folder


@pytest.fixture
def start(cards: Path, model: Path) -> Iterator[Start]:
    """Starts `vllm serve MODEL ...` with version 0.30.0; every process is ended afterwards."""
    running: list[subprocess.Popen[str]] = []

    def begin(*arguments: str, load_s: float = 0.2) -> subprocess.Popen[str]:
        env = {
            **os.environ,
            "PYTHONPATH": f"{ENGINES}:{ENGINES / 'vllm'}",
            "SIM_VLLM_TABLES": str(TABLES),
            "SIM_VLLM_VERSION": "0.30.0",
            "SIM_LOAD_S": str(load_s),
        }
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN, "serve", str(model), *arguments],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def get(port: int, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=2) as answer:
        return str(answer.read().decode())


def is_ready(port: int) -> bool:
    try:
        get(port, "/health")
    except OSError:
        return False
    return True


def wait_ready(port: int, limit_s: float = 8) -> None:
    deadline = time.monotonic() + limit_s
    while not is_ready(port):
        assert time.monotonic() < deadline, "not ready"
        time.sleep(0.05)


def held() -> int:
    return sum(claim.mib for claim in claims.live_claims(machine.load_machine().cards[0].uuid))


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    output, _ = process.communicate(timeout=10)
    return process.returncode, output


def test_a_whole_life(start: Start) -> None:
    port = free_port()
    process = start("--port", str(port), "--served-model-name", "gen", "--gpu-memory-utilization", "0.42")
    wait_ready(port)
    assert held() == int(97887 * 0.42)
    assert json.loads(get(port, "/v1/models"))["data"][0]["id"] == "gen"
    metrics = get(port, "/metrics")
    assert "vllm:cache_config_info{" in metrics and 'gpu_memory_utilization="0.42"' in metrics
    process.terminate()
    code, output = ended(process)
    assert code == 0 and held() == 0
    for text in (
        "version 0.30.0",
        "SIMULATOR",
        "Loading safetensors checkpoint shards: 100% Completed | 4/4",
        "GPU KV cache size: ",
        "INFO:     Application startup complete.",
        "INFO:     Finished server process",
    ):
        assert text in output


def test_signal_while_loading_ends_at_once(start: Start) -> None:
    process = start("--port", str(free_port()), load_s=30)
    deadline = time.monotonic() + 8
    while not held() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.terminate()
    assert ended(process)[0] == 0


def test_root_cause_stands_above_the_last_line(start: Start) -> None:
    control.switch_on_engine_fault("gen", "crash_in_load", None)
    code, output = ended(start("--port", str(free_port()), "--served-model-name", "gen"))
    lines = output.splitlines()
    assert code == 1 and held() == 0
    assert lines[-1].endswith(
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
    )
    assert any("ERROR" in line and "KeyError: 'model.layers" in line for line in lines[:-5])


def test_neighbour_on_the_card_makes_the_start_fail(start: Start) -> None:
    control.hold_memory(machine.load_machine().cards[0], 50000, "stranger", 0.0)
    code, output = ended(start("--port", str(free_port())))
    assert code == 1 and "is less than desired GPU memory utilization (0.92, 87.95 GiB)" in output


def test_taken_port(start: Start) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        code, output = ended(start("--host", "127.0.0.1", "--port", str(other.getsockname()[1])))
    assert code == 1 and output.rstrip().endswith("OSError: [Errno 98] Address already in use")


def test_faults_that_leave_it_running(start: Start) -> None:
    control.switch_on_engine_fault("gen", "wrong_model_name", None)
    port = free_port()
    process = start("--port", str(port), "--served-model-name", "gen")
    wait_ready(port)
    assert json.loads(get(port, "/v1/models"))["data"][0]["id"] != "gen"
    control.switch_on_engine_fault("gen", "hangs", None)
    with pytest.raises(TimeoutError):
        get(port, "/health")
    assert process.poll() is None


def test_engine_that_dies_after_it_was_ready(start: Start) -> None:
    control.switch_on_engine_fault("gen", "dies_after_ready", 0.3)
    code, output = ended(start("--port", str(free_port()), "--served-model-name", "gen"))
    assert code == 1 and "Application startup complete" in output and "EngineDeadError" in output


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (
            ["--engram-config", '{"cpu_offload": true}'],
            1,
            "EngramConfig requires a model with supported Engram embeddings",
        ),
        (["--tensor-parallel-size", "5"], 1, "World size (5) is larger than the number of available GPUs (4)"),
        (["--no-such-flag"], 2, "vllm: error: unrecognized arguments: --no-such-flag"),
    ],
)
def test_refusals(start: Start, model: Path, arguments: list[str], code: int, text: str) -> None:
    (model / "gpu-sim.json").write_text('{"engram": false}')
    ending, output = ended(start(*arguments))
    assert ending == code and text in output
