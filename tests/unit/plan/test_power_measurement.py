"""Protects: what a measurement claims is what its samples say, and a clamp meter decides only what it can decide."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_seats.observe.power_log import PowerLog
from gpu_seats.plan.power.measurement import measurement_findings, measurement_of, supply_reading

ROUTER = {"fv-20a": (25.0, 150.0)}


def step_end(number, cards, draws=(270.0, 272.0), bmc=942.0, **more):
    spread = None if bmc is None else {"average": bmc, "minimum": bmc - 10, "maximum": bmc + 10, "count": 20}
    total = sum(draws)
    machine = None if bmc is None else {key: value - total for key, value in spread.items() if key != "count"}
    return {
        "kind": "step_end",
        "t": f"2026-12-01T10:0{number}:30.000Z",
        "number": number,
        "cards": list(cards),
        "from": f"2026-12-01T10:0{number}:00.000Z",
        "until": f"2026-12-01T10:0{number}:29.000Z",
        "samples": 20,
        "cards_watts": {"average": total, "minimum": total, "maximum": total, "count": 20},
        "bmc_watts": spread,
        "machine_watts": machine and {**machine, "count": 20},
        "by_card": {
            f"u{n}": {"average": watts, "minimum": 1, "maximum": 2, "count": 20} for n, watts in enumerate(draws)
        },
        **more,
    }


def log(*records, cards=2):
    plan = {
        "steps": [{"number": one["number"]} for one in records if one["kind"] == "step_end"],
        "cards": [{"card": str(n), "uuid": f"u{n}", "cap_watts": 275.0} for n in range(cards)],
        "load": {"command": ["gpu-burn", "-i", "{index}"]},
    }
    head = {"kind": "run", "t": "2026-12-01T10:00:00.000Z", "host": "fv-ml1", "key": "k", "plan": plan}
    return PowerLog([head, *records])


def sample(second, bmc, step=2, phase="hold", **more):
    t = f"2026-12-01T10:02:{second:02d}.000Z"
    return {"kind": "sample", "t": t, "step": step, "phase": phase, "bmc_watts": bmc, "bmc_source": "dcmi", **more}


def test_the_last_end_of_each_step_counts_and_the_top_is_the_highest():
    ends = [step_end(0, [], (10.0, 10.0), 333.0), step_end(1, ["0"]), step_end(2, ["0", "1"], bmc=900.0)]
    measured = measurement_of(log(*ends, step_end(2, ["0", "1"])))
    assert [step.number for step in measured.steps] == [0, 1, 2]
    assert measured.top.bmc.average == 942.0 and measured.top.machine.average == 400.0
    assert measured.idle.machine.average == 313.0 and measured.is_whole
    assert measured.load_text == "gpu-burn -i {index}"
    assert measurement_of(PowerLog()) is None


@pytest.mark.parametrize(
    ("end", "cards"),
    [
        (step_end(2, ["0"]), 2),  # a card was never loaded
        (step_end(2, ["0", "1"], draws=(270.0, 180.0)), 2),  # one far below its cap
        (step_end(2, ["0", "1"], bmc=None), 2),
    ],
)
def test_less_than_full_load_is_no_figure_of_full_load(end, cards):
    assert not measurement_of(log(end, cards=cards)).is_whole


def test_what_is_missing_is_told():
    weak = measurement_of(log(step_end(2, ["0", "1"], draws=(270.0, 180.0), bmc=None), sample(5, None, bmc_why="busy")))
    codes = {one.code: one.message for one in measurement_findings(weak, 2, None)}
    assert codes.keys() == {"power.load_weak", "power.measured_without_bmc", "power.log_torn"}
    assert "1: 180 of 275 W" in codes["power.load_weak"] and "busy" in codes["power.measured_without_bmc"]
    assert measurement_findings(measurement_of(log(step_end(2, ["0", "1"]))), 0, None) == []


def clamped(watts, around="", bmc=1480.0, *samples):
    clamp = {"kind": "clamp", "t": "2026-12-01T10:02:25.000Z", "watts": watts, "around": around}
    return measurement_of(log(step_end(2, ["0", "1"], bmc=bmc), *samples, clamp))


@pytest.mark.parametrize(
    ("watts", "around", "reads"),
    [
        (1480, "host", "ac"),
        (1523, "host", "ac"),
        (1540, "host", "unknown"),  # 4 %: neither
        (1620, "host", "dc"),
        (1700, "host", "unknown"),
        (1400, "host", "unknown"),  # less than the BMC says
        # around the circuit the router counts, and that it takes 25 to 150 W decides nothing
        (1620, "fv-20a", "unknown"),
        (1480, "fv-20a", "ac"),
        # nobody said around what: only where every answer is the same
        (1480, "", "ac"),
        (1620, "", "unknown"),
    ],
)
def test_what_the_clamp_tells(watts, around, reads):
    assert supply_reading(clamped(watts, around), ROUTER).reads == reads


def test_the_clamp_is_compared_with_the_bmc_at_its_time():
    measured = clamped(1540.0, "host", 1480.0, sample(1, 1400.0), sample(20, 1530.0), sample(28, 1550.0))
    told = supply_reading(measured, ROUTER)
    assert told.reads == "ac" and told.words == "clamp 1540 W around the cords of fv-ml1 against BMC 1540 W: +0.0 %"
    unclear = supply_reading(clamped(1620.0), ROUTER)
    assert (
        "clamp 1620 W around fv-20a less 25 to 150 W of other loads against BMC 1480 W: -0.7 % to +7.8 %"
        in unclear.words
    )
    assert measurement_findings(clamped(1620.0), 0, unclear)[0].code == "power.clamp_unclear"


def test_no_clamp_or_no_bmc_tells_nothing():
    assert supply_reading(measurement_of(log(step_end(2, ["0", "1"]))), ROUTER) is None
    assert supply_reading(clamped(1480.0, "host", None), ROUTER) is None


@given(st.floats(800, 2200), st.floats(0, 200), st.floats(0, 200))
def test_a_verdict_holds_for_everything_that_the_other_loads_may_take(watts, least, spread):
    told = supply_reading(clamped(watts, "b"), {"b": (least, least + spread)})
    for others in (least, least + spread / 2, least + spread):
        share = (watts - others) / 1480 - 1
        if told.reads == "ac":
            assert share <= 0.0301
        if told.reads == "dc":
            assert 0.0499 <= share <= 0.1401


def test_samples_of_an_attempt_that_was_cut_off_do_not_count():
    measured = measurement_of(
        log(sample(40, 100.0, t="2026-12-01T09:59:00.000Z"), sample(5, 942.0), step_end(2, ["0", "1"]))
    )
    assert [one["bmc_watts"] for one in measured.top_samples] == [942.0]
