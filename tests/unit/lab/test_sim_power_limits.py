"""Power limits and persistence of the simulated cards: set, refused, ignored, lost, in the real tool's words.

Protects: what is tried against these faults in the lab is what the real nvidia-smi does.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from gpu_sim import claims, control, faults, hook, machine, persistence, smi

from gpu_seats.observe.nvidia.parse import parse_nvidia_smi

CAPTURES = Path(__file__).resolve().parents[1] / "data/captures/nvidia-smi"
TERMINATING = "Terminating early due to previous errors.\n"
LIMITS = ("--query-gpu=power.limit,enforced.power.limit", "--format=csv,noheader,nounits")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, int]:
    code = smi.main(list(arguments))
    return capsys.readouterr().out, code


def limits(capsys: pytest.CaptureFixture[str]) -> list[tuple[float, float]]:
    """Limit and enforced limit of each card."""
    text, code = run(capsys, *LIMITS)
    assert code == 0
    return [(float(a), float(b)) for a, b in (line.split(", ") for line in text.splitlines())]


def modes(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return run(capsys, "--query-gpu=persistence_mode", "--format=csv,noheader")[0].split()


@pytest.fixture
def daemon(cards: Path) -> Iterator[int]:
    """A lock as a running nvidia-persistenced holds it; its descriptor."""
    descriptor = persistence.hold_daemon_lock()
    assert descriptor is not None
    yield descriptor
    # a test may have closed it, as the death of the daemon does
    if persistence.daemon_runs():
        os.close(descriptor)


def test_a_limit_is_set_read_back_and_lost_at_boot(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "-pm", "1")
    assert run(capsys, "-i", "41:00.0", "-pl", "275") == (
        "Power limit for GPU 00000000:41:00.0 was set to 275.00 W from 300.00 W.\nAll done.\n",
        0,
    )
    assert limits(capsys) == [(300, 300), (300, 300), (275, 275), (300, 300)]
    machine.boot()
    assert limits(capsys) == [(300, 300)] * 4 and modes(capsys) == ["Disabled"] * 4


def test_a_reload_of_the_driver_loses_limits_and_keeps_what_is_held(
    cards: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "-pm", "1")
    run(capsys, "-pl", "275")
    control.hold_memory(machine.load_machine().cards[1], 500, "stranger", 0.0)
    assert control.main(["reset-limits"]) == 0
    assert "4 cards" in capsys.readouterr().out
    assert limits(capsys) == [(300, 300)] * 4 and modes(capsys) == ["Disabled"] * 4
    assert [c.process for c in claims.live_claims(machine.load_machine().cards[1].uuid)] == ["stranger"]


@pytest.mark.parametrize(
    ("fault", "card", "text", "code", "after"),
    [
        (None, None, "All done.\n", 0, [275, 275, 275, 275]),
        ("pl-ignored", "1", "All done.\n", 0, [275, 300, 275, 275]),
        (
            "pl-unsupported",
            "1",
            "Changing power management limit is not supported for GPU: 00000000:21:00.0.\n"
            "Treating as warning and moving on.\n",
            0,
            [275, 300, 275, 275],
        ),
        (
            "pl-unsupported-scope",
            "1",
            "Changing power management limit is not supported in current scope for GPU: 00000000:21:00.0.\n",
            3,
            [275, 300, 275, 275],
        ),
        (
            "pl-permission",
            "1",
            f"Failed to set power management limit for GPU 00000000:21:00.0: Insufficient Permissions\n{TERMINATING}",
            4,
            [275, 300, 300, 300],
        ),
        (
            "pl-partly",
            "2",
            f"Failed to set power management limit for GPU 00000000:41:00.0: Unknown Error\n{TERMINATING}",
            255,
            [275, 275, 300, 300],
        ),
    ],
)
def test_limits_of_four_cards_with_a_fault_on_one(
    cards: Path,
    capsys: pytest.CaptureFixture[str],
    fault: str | None,
    card: str | None,
    text: str,
    code: int,
    after: list[float],
) -> None:
    if fault is not None:
        control.switch_on(fault, card)
    said, ended = run(capsys, "-pl", "275")
    assert text in said and ended == code
    assert said.endswith(TERMINATING if code in (4, 255) else "All done.\n")
    assert [limit for limit, _ in limits(capsys)] == after


def test_a_limit_outside_of_the_card_is_refused(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, code = run(capsys, "-i", "0", "-pl", "100")
    assert (text, code) == (
        "Provided power limit 100.00 W is not a valid power limit which should be between 250.00 W and 325.00 W for "
        f"GPU 00000000:01:00.0\n{TERMINATING}",
        2,
    )
    assert run(capsys, "-pl", "326")[1] == 2 and limits(capsys) == [(300, 300)] * 4


def test_others_than_root_and_containers_may_not(
    cards: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    denied = "for GPU 00000000:01:00.0: Insufficient Permissions\n" + TERMINATING
    uuid = machine.load_machine().cards[0].uuid
    machine.VISIBLE_FILE.write_text(json.dumps({"devices": [uuid]}))
    assert run(capsys, "-pl", "275") == (f"Failed to set power management limit {denied}", 4)
    machine.VISIBLE_FILE.unlink()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert run(capsys, "-pl", "275") == (f"Failed to set power management limit {denied}", 4)
    assert run(capsys, "-pm", "1") == (f"Unable to set persistence mode {denied}", 4)
    assert limits(capsys) == [(300, 300)] * 4


def test_the_enforced_limit_stays_and_governs_the_draw(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    control.switch_on("enforced-differs", "1")
    control.hold_memory(machine.load_machine().cards[1], 500, "busy", 500.0)
    run(capsys, "-pl", "275")
    assert limits(capsys) == [(275, 275), (275, 300), (275, 275), (275, 275)]
    assert run(capsys, "-i", "1", "--query-gpu=power.draw", "--format=csv,noheader")[0] == "300.00 W\n"
    text = run(capsys, "-i", "1", "-q", "-d", "POWER")[0]
    assert re.search(r"Current Power Limit +: 300.00 W\n +Requested Power Limit +: 275.00 W", text)


def test_a_limit_drifts_back_after_its_time_and_holds_once_the_fault_is_off(
    cards: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    control.main(["fault", "limit-drifts", "2", "--value", "7"])
    capsys.readouterr()
    run(capsys, "-pl", "275")
    assert limits(capsys) == [(275, 275)] * 4
    monkeypatch.setattr(time, "time", lambda: now + 8)
    assert limits(capsys) == [(275, 275), (275, 275), (300, 300), (275, 275)]
    run(capsys, "-i", "2", "-pl", "275")
    faults.clear_faults()
    monkeypatch.setattr(time, "time", lambda: now + 100)
    assert limits(capsys) == [(275, 275)] * 4


def test_without_persistence_a_limit_is_lost_unless_somebody_holds_the_card(
    cards: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "-pl", "275")
    assert limits(capsys) == [(275, 275)] * 4  # the fault is off
    control.switch_on("no-persistence-loses-limits", None)
    held = claims.HeldClaim(machine.load_machine().cards[3].uuid, "engine", "VLLM::EngineCore", 500, 10.0)
    run(capsys, "-pl", "275")
    assert limits(capsys) == [(300, 300), (300, 300), (300, 300), (275, 275)]
    held.release()
    assert limits(capsys) == [(300, 300)] * 4
    run(capsys, "-pm", "1")
    run(capsys, "-pl", "275")
    assert limits(capsys) == [(275, 275)] * 4


def test_persistence_through_the_daemon_says_what_the_real_tool_said(
    cards: Path, daemon: int, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "-i", "3", "-pm", "1")
    lines = (CAPTURES / "pm-on.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    captured = "".join(line for line in lines if not line.startswith("#"))
    assert run(capsys, "-i", "2,3", "-pm", "1") == (captured, 0)
    assert modes(capsys) == ["Disabled", "Disabled", "Enabled", "Enabled"]
    os.close(daemon)
    assert modes(capsys) == ["Disabled"] * 4


def test_persistence_without_the_daemon_is_the_legacy_one(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "-i", "0", "-pm", "1")[0].startswith("Enabled Legacy persistence mode for GPU 00000000:01:00.0.")
    assert run(capsys, "-i", "0", "-pm", "1")[0].startswith("Persistence mode is already Enabled for GPU")
    assert "persistence mode is disabled" not in run(capsys, "-i", "0", "-pl", "275")[0]
    assert (
        "Warning: persistence mode is disabled on device 00000000:21:00.0." in run(capsys, "-i", "1", "-pl", "275")[0]
    )
    control.switch_on("persistence-refused", "1")
    assert run(capsys, "-pm", "1") == (
        "Persistence mode is already Enabled for GPU 00000000:01:00.0.\n"
        f"Unable to set persistence mode for GPU 00000000:21:00.0: Insufficient Permissions\n{TERMINATING}",
        4,
    )
    assert modes(capsys) == ["Enabled", "Disabled", "Disabled", "Disabled"]


def test_a_swapped_index_stays_swapped_when_limits_are_set(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    control.switch_on("index-swap", "3")
    assert "for GPU 00000000:61:00.0 was set" in run(capsys, "-i", "0", "-pl", "275")[0]
    for _ in range(2):
        text = run(capsys, "--query-gpu=index,pci.bus_id,power.limit", "--format=csv,noheader,nounits")[0]
        assert text.splitlines()[0] == "0, 00000000:61:00.0, 275.00"
    faults.clear_faults()
    assert [card.index for card in machine.load_machine().cards] == [0, 1, 2, 3]


def test_a_slow_tool_answers_late_and_a_hanging_one_never(
    cards: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    control.switch_on("slow", "1.5")
    assert run(capsys, "-L")[1] == 0
    faults.clear_faults()
    control.switch_on("hang", None)
    run(capsys, "-L")
    assert slept == [1.5, 3600.0]


def test_a_reload_of_systemd_takes_gpus_only_with_the_fault_on_and_only_from_containers_of_before(
    cards: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.VISIBLE_FILE.write_text(json.dumps({"devices": [machine.load_machine().cards[0].uuid]}))
    control.main(["daemon-reloaded"])
    assert run(capsys, "-L")[1] == 0
    control.switch_on("daemon-reload-loses-gpus", None)
    assert run(capsys, "-L")[1] == 0
    for _ in range(2):
        control.main(["daemon-reloaded"])
        capsys.readouterr()
        assert run(capsys, "-L") == ("Failed to initialize NVML: Unknown Error\n", 255)
        later = faults.active_faults()["containers-lost-gpus"].since + 1
        os.utime(machine.VISIBLE_FILE, (later, later))  # what a start of the container does
        assert run(capsys, "-L")[1] == 0
        os.utime(faults.state_dir() / "faults/containers-lost-gpus.json", (later + 1, later + 1))
        assert run(capsys, "-L")[1] == 255
        os.utime(machine.VISIBLE_FILE, (later - 1000, later - 1000))


@pytest.mark.parametrize(
    "fault", sorted(set(faults.PER_CARD) - {"gpu-lost", "gpu-unknown-error", "gpu-unknown-error-noblank"})
)
def test_every_output_with_a_fault_on_one_card_still_gives_the_other_cards(
    cards: Path, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    control.switch_on(fault, "1")
    for arguments in (["-q", "-x"], ["-q"], ["-q", "-d", "POWER"]):
        text, code = run(capsys, *arguments)
        assert code == 0
        found = [r for r in parse_nvidia_smi(text, rc=0).records if type(r).__name__ == "GpuCard"]
        others = [card.enforced_power_limit_watts for card in found if card.bus_id != "00000000:21:00.0"]
        assert (len(found), others) == (4, [300.0] * 3), arguments


def test_driver_that_fails_stops_a_container_however_slow_it_is(cards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    control.switch_on("slow", "1")
    hook.refuse_if_driver_fails()
    control.switch_on("driver-down", None)
    with pytest.raises(hook.HookError):
        hook.refuse_if_driver_fails()
