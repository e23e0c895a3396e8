"""Protects: a card or a BMC that does not answer is no value with its reason, never 0 W and never a smaller sum."""

from __future__ import annotations

import threading
import time

import pytest

from gpu_seats.observe.command import CommandResult
from gpu_seats.observe.power_sample import BmcWatch, Sampler, card_draws

UUIDS = [f"GPU-5e7a000{n}-c0de-4000-8000-00000000000{n}" for n in range(3)]
LOST = (
    "Unable to determine the device handle for GPU0000:21:00.0: GPU is lost.  Reboot the system to recover this GPU\n"
)


def row(number: int, draw: str = "62.70", limit: str = "275.00") -> str:
    return f"{number}, {UUIDS[number]}, {draw}, {limit}, {limit}\n"


class FakeSmi:
    """Answers the query of all cards and of each alone. lost: UUIDs that end a query which touches them."""

    def __init__(self, rows: dict[str, str], lost: tuple[str, ...] = ()) -> None:
        self.rows, self.lost, self.asked = rows, lost, []

    def __call__(self, argv, limit_s):
        self.asked.append(argv)
        chosen = [argv[argv.index("-i") + 1]] if "-i" in argv else [*self.rows, *self.lost]
        if set(chosen) & set(self.lost):
            return CommandResult(tuple(argv), 15, LOST, "")
        return CommandResult(tuple(argv), 0, "".join(self.rows[one] for one in chosen), "")


def test_draw_and_limit_of_each_card_in_the_order_asked():
    smi = FakeSmi({UUIDS[n]: row(n, f"{n}.50") for n in (1, 0, 2)})
    draws = card_draws(smi, UUIDS)
    assert [(one.uuid, one.index, one.draw_watts, one.limit_watts) for one in draws] == [
        (UUIDS[n], n, n + 0.5, 275.0) for n in range(3)
    ]
    assert len(smi.asked) == 1
    assert [one.uuid for one in card_draws(smi, [])] == [UUIDS[1], UUIDS[0], UUIDS[2]]


@pytest.mark.parametrize(
    ("enforced", "asked", "limit"), [("250.00", "275.00", 250.0), ("[N/A]", "275.00", 275.0), ("[N/A]", "[N/A]", None)]
)
def test_the_limit_is_the_one_that_holds(enforced, asked, limit):
    (one,) = card_draws(FakeSmi({UUIDS[0]: f"0, {UUIDS[0]}, 62.70, {enforced}, {asked}\n"}), UUIDS[:1])
    assert one.limit_watts == limit and one.why == ("" if limit else "limit: [N/A]")


def test_a_lost_card_does_not_hide_the_others():
    smi = FakeSmi({UUIDS[0]: row(0), UUIDS[2]: row(2)}, lost=(UUIDS[1],))
    draws = card_draws(smi, UUIDS)
    assert [one.draw_watts for one in draws] == [62.7, None, 62.7]
    assert draws[1].code == "gpu.lost" and "lost" in draws[1].why


@pytest.mark.parametrize(
    ("printed", "says"), [("[N/A]", "N/A"), ("[Unknown Error]", "Unknown Error"), ("[Not Supported]", "Not Supported")]
)
def test_bracketed_values_are_no_watts(printed, says):
    sample = Sampler(FakeSmi({UUIDS[0]: row(0, printed), UUIDS[1]: row(1)}), UUIDS[:2]).sample()
    assert sample["cards"][0]["draw_watts"] is None and says in sample["cards"][0]["why"]
    assert sample["cards_watts"] is None, "a sum without one card reads as less than the cards draw"
    assert sample["cards"][1]["draw_watts"] == 62.7


@pytest.mark.parametrize(
    ("ended", "code"),
    [
        (CommandResult(("nvidia-smi",), None, "", "", 4.0, timed_out=True), "command.hung"),
        (CommandResult(("nvidia-smi",), None, "", "", missing=True), "command.missing"),
        (
            CommandResult(("nvidia-smi",), 18, "Failed to initialize NVML: Driver/library version mismatch\n", ""),
            "gpu.driver_mismatch",
        ),
    ],
)
def test_a_tool_that_cannot_tell_leaves_no_card_out(ended, code):
    sample = Sampler(lambda argv, limit_s: ended, UUIDS).sample(step=2)
    assert [(one["uuid"], one["draw_watts"], one["code"]) for one in sample["cards"]] == [
        (uuid, None, code) for uuid in UUIDS
    ]
    assert sample["cards_watts"] is None and sample["step"] == 2


def test_the_bmc_is_asked_beside_the_cards_and_a_slow_one_holds_nothing_up():
    may_answer = threading.Event()

    def slow():
        may_answer.wait(5)
        return {"watts": 412.0, "source": "dcmi"}

    bmc = BmcWatch(slow, 0.2)
    sampler = Sampler(FakeSmi({UUIDS[0]: row(0)}), UUIDS[:1], bmc, bmc_max_age_s=2.0)
    began = time.monotonic()
    first = sampler.sample()
    assert time.monotonic() - began < 1
    assert (first["bmc_watts"], first["bmc_why"]) == (None, "it has not answered yet")
    may_answer.set()
    bmc.wait_for_first(3)
    second = sampler.sample()
    assert (second["bmc_watts"], second["bmc_source"]) == (412.0, "dcmi") and "bmc_why" not in second
    sampler.close()


@pytest.mark.parametrize(
    ("read", "why"),
    [
        (lambda: {"watts": None, "reason": "DCMI power reading is deactivated"}, "DCMI power reading is deactivated"),
        (lambda: {"watts": None}, "it gave no watts"),
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
    ],
)
def test_no_reading_is_none_with_the_reason(read, why):
    bmc = BmcWatch(read, 0.2)
    bmc.wait_for_first(3)
    assert bmc.latest(5) == {"bmc_watts": None, "bmc_source": None, "bmc_why": why}
    bmc.close()


def test_an_old_answer_is_not_told_as_a_new_one():
    now, answers = [100.0], iter([{"watts": 400.0, "source": "dcmi"}])
    blocked = threading.Event()

    def read():
        answer = next(answers, None)
        if answer is None:
            blocked.wait(5)
            return {"watts": None}
        return answer

    bmc = BmcWatch(read, 0.2, clock=lambda: now[0])
    for _ in range(100):
        if bmc.latest(10)["bmc_watts"] is not None:
            break
        time.sleep(0.02)
    now[0] += 11
    assert bmc.latest(10)["bmc_why"] == "no answer for 11 s"
    bmc.close()
    blocked.set()
