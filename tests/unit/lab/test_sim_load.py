"""What loads a simulated card, and the persistence daemon: real processes, ended in every way that processes end.

Protects: no load, and no persistence, outlives the process that it belongs to.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from gpu_sim import claims, control, faults, machine, persistence, power
from openai_api import card as engine_card

SIM = Path(machine.__file__).resolve().parents[1]


def drawn(index: int) -> float:
    card = machine.load_machine().cards[index]
    return power.drawn_watts(card, claims.live_claims(card.uuid), faults.active_faults())


def loaded(*arguments: str) -> subprocess.Popen[str]:
    """`gpu-sim load`, once it says that it holds its card."""
    argv = [sys.executable, str(SIM / "gpu-sim"), "load", *arguments]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and "is loaded by process" in process.stdout.readline()
    return process


def ended(process: subprocess.Popen[str]) -> int:
    code = process.wait(timeout=10)
    assert process.stdout is not None
    process.stdout.close()
    return code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 0), (signal.SIGKILL, -9)])
def test_a_load_is_at_the_limit_and_gone_with_its_process(cards: Path, number: int, code: int) -> None:
    assert drawn(2) == power.IDLE_W
    process = loaded("2")
    assert drawn(2) == 300.0 and drawn(1) == power.IDLE_W
    with machine.changing_machine() as kept:
        kept.cards[2].limit_w = 275.0
    assert drawn(2) == 275.0
    process.send_signal(number)
    assert ended(process) == code
    assert drawn(2) == power.IDLE_W


def test_a_load_of_so_many_watts_ends_by_itself(cards: Path) -> None:
    process = loaded("0", "--watts", "120", "--seconds", "0.3")
    assert drawn(0) == pytest.approx(power.IDLE_W + 120)
    assert ended(process) == 0 and drawn(0) == power.IDLE_W


def test_two_loads_of_a_card_add_up_to_no_more_than_its_limit(cards: Path) -> None:
    processes = [loaded("0", "--watts", "120"), loaded("0", "--watts", "200")]
    assert drawn(0) == 300.0
    processes[1].terminate()
    assert ended(processes[1]) == 0 and drawn(0) == pytest.approx(power.IDLE_W + 120)
    processes[0].terminate()
    assert ended(processes[0]) == 0


def test_an_unknown_card_is_refused_with_those_that_are_there(cards: Path) -> None:
    with pytest.raises(SystemExit, match="no card '9'; there are: 0 GPU-5e7a0000"):
        control.main(["load", "9"])


def test_an_engine_draws_more_with_every_request_and_a_batch_meets_the_limit(
    cards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    card = machine.load_machine().cards[0]
    held = claims.HeldClaim(card.uuid, "engine", "VLLM::EngineCore", 500, engine_card.IDLE_W)
    follow = engine_card.follower([held])
    seen = []
    for running in (0, 1, 2, 8, 3, 0):
        follow(running)
        now += 1.1
        monkeypatch.setattr(time, "time", lambda moment=now: moment)
        seen.append(drawn(0))
    held.release()
    assert seen[0] == seen[-1] < 20 and seen[:4] == sorted(seen[:4])
    assert seen[1] < 200 and seen[3] == 300.0 and seen[4] < 300.0


def test_watts_are_those_of_the_last_second_and_a_peak_ends(cards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card = machine.load_machine().cards[0]
    held = claims.HeldClaim(card.uuid, "engine", "VLLM::EngineCore", 500, 8.0)
    seen = []
    for at, watts in (
        (0.0, 250.0),
        (0.2, 8.0),
        (0.5, 150.0),
        (0.6, 8.0),
        (1.1, 150.0),
        (1.3, 8.0),
        (2.2, 8.0),
        (2.4, 8.0),
    ):
        monkeypatch.setattr(time, "time", lambda moment=at: 1000.0 + moment)
        held.update(watts=watts)
        seen.append(claims.live_claims(card.uuid)[0].watts)
    held.release()
    assert seen == [250, 250, 250, 250, 250, 150, 150, 8]


def daemon_argv(*arguments: str) -> list[str]:
    return [sys.executable, str(SIM / "nvidia-persistenced"), *arguments]


@pytest.fixture
def run_dir(cards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the daemon writes its pid; a daemon that a test left is ended."""
    folder = tmp_path / "run"
    monkeypatch.setenv("GPU_SIM_RUN_DIR", str(folder))
    yield folder
    pid_file = folder / "nvidia-persistenced.pid"
    if persistence.daemon_runs() and pid_file.exists():
        os.kill(int(pid_file.read_text()), signal.SIGKILL)


def persistent() -> list[bool]:
    return [persistence.is_persistent(card) for card in machine.load_machine().cards]


def wait_until_gone() -> None:
    deadline = time.monotonic() + 10
    while persistence.daemon_runs():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_cards_are_persistent_from_the_start_of_the_daemon_to_its_end(run_dir: Path, number: int) -> None:
    assert persistent() == [False] * 4
    subprocess.run(daemon_argv("--user", "nvpd", "--verbose"), check=True, timeout=20)
    assert persistent() == [True] * 4  # at once: units ordered after it may rely on that
    assert subprocess.run(daemon_argv(), capture_output=True, timeout=20).returncode == 1  # it runs already
    assert persistent() == [True] * 4
    os.kill(int((run_dir / "nvidia-persistenced.pid").read_text()), number)
    wait_until_gone()
    assert persistent() == [False] * 4


def test_the_daemon_leaves_out_a_card_that_refuses(run_dir: Path) -> None:
    control.switch_on("persistence-refused", "2")
    subprocess.run(daemon_argv(), check=True, timeout=20)
    assert persistent() == [True, True, False, True]


def test_the_daemon_can_be_started_with_persistence_off(run_dir: Path) -> None:
    subprocess.run(daemon_argv("--no-persistence-mode"), check=True, timeout=20)
    assert persistence.daemon_runs() and persistent() == [False] * 4


def test_without_a_driver_the_daemon_does_not_start(run_dir: Path) -> None:
    control.switch_on("driver-down", None)
    done = subprocess.run(daemon_argv(), capture_output=True, text=True, timeout=20)
    assert done.returncode == 1 and not persistence.daemon_runs()
    assert done.stderr == "nvidia-persistenced failed to initialize. Check syslog for more details.\n"


@pytest.mark.parametrize("program", ["nvidia-persistenced", "gpu-sim"])
def test_help_says_that_it_is_a_simulator(program: str) -> None:
    done = subprocess.run([sys.executable, str(SIM / program), "--help"], capture_output=True, text=True, timeout=20)
    assert done.returncode == 0 and "SIMULAT" in done.stdout
