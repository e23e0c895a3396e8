"""Memory on simulated cards follows the processes that hold it, also when they are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from gpu_sim import claims, control, machine

UUID = "GPU-5e7a0001-c0de-4000-8000-000000000001"
HOLDER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from gpu_sim.claims import HeldClaim
held = HeldClaim(sys.argv[2], "container", "VLLM::EngineCore", 1000, 20.0)
print("held", flush=True)
time.sleep(60)
"""


def test_claim_of_a_killed_process_is_gone_and_its_successor_counts(cards: Path) -> None:
    library = str(Path(machine.__file__).resolve().parents[1])
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, library, UUID], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    found = claims.live_claims(UUID)
    assert [(c.mib, c.pid) for c in found] == [(1000, holder.pid)]
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait(timeout=10)
    holder.stdout.close()
    assert claims.live_claims(UUID) == []
    again = claims.HeldClaim(UUID, "container", "VLLM::EngineCore", 2000, 20.0)
    assert [c.mib for c in claims.live_claims(UUID)] == [2000]
    again.update(mib=3000, watts=180.0)
    assert [(c.mib, c.watts) for c in claims.live_claims(UUID)] == [(3000, 180.0)]
    again.release()


def test_a_stranger_holds_memory_until_released_or_booted(cards: Path) -> None:
    card = machine.load_machine().cards[1]
    control.hold_memory(card, 5000, "blender", 10.0)
    assert [c.process for c in claims.live_claims(UUID)] == ["blender"]
    control.release_memory("blender")
    assert claims.live_claims(UUID) == []
    control.hold_memory(card, 5000, "blender", 10.0)
    machine.boot()
    assert claims.live_claims(UUID) == []


def test_half_written_or_foreign_files_are_no_claims(cards: Path) -> None:
    folder = cards / "claims" / UUID
    (folder / "broken.json").write_text('{"process": "x", "mi')
    (folder / "old.json").write_text('{"process": "x", "mib": 5, "watts": 1}')
    assert claims.live_claims(UUID) == []
