"""Protects: the stop threshold counts with the worst that a reading can mean, and what cannot be seen is never calm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured_host import UUIDS, plan_data

from gpu_seats.apply.power_measure.judgement import Judge, host_total
from gpu_seats.apply.power_measure.loads import command_words, filled_in, loads_of
from gpu_seats.apply.power_measure.plan import Limits, MeasuredCard, measure_plan

LIMITS = Limits(stop_at_watts=1770, machine_watts=400, floor_watts=313, loss_factor=1.1)


def sample(draws=(270.0, 270.0), bmc=None, limit=275.0):
    cards = [{"uuid": uuid, "draw_watts": watts, "limit_watts": limit} for uuid, watts in zip(UUIDS, draws)]
    known = [one for one in draws if one is not None]
    return {"cards": cards, "cards_watts": sum(known) if len(known) == len(draws) else None, "bmc_watts": bmc}


@pytest.mark.parametrize(
    ("bmc", "draws", "watts", "words"),
    [
        (1500.0, (270.0, 270.0), 1650.0, "BMC 1500 W x 1.10 = 1650 W"),
        (None, (270.0, 270.0), 1034.0, "(cards 540 W + machine 400 W) x 1.10 = 1034 W"),
        # it lags: cards and the least of the machine are more than it says
        (600.0, (270.0, 270.0), 938.3, "(cards 540 W + machine at least 313 W) x 1.10 = 938 W"),
        (700.0, (270.0, None), 770.0, "BMC 700 W x 1.10 = 770 W"),
        (None, (270.0, None), None, "neither the BMC nor every card gave watts"),
    ],
)
def test_total_and_its_arithmetic(bmc, draws, watts, words):
    total = host_total(sample(draws, bmc), LIMITS)
    assert (None if watts is None else pytest.approx(watts)) == total.watts and total.words == words


@given(st.floats(0, 3000), st.floats(0, 400), st.booleans())
def test_what_may_be_over_the_threshold_stops_and_nothing_below_it(bmc, draw, has_bmc):
    draw = min(draw, 290.0)
    judge = Judge(measure_plan(plan_data()))
    reason = judge.stop_reason(sample((draw, draw), bmc if has_bmc else None))
    worst = 1.1 * (max(bmc, 2 * draw + 313) if has_bmc else 2 * draw + 400)
    assert (reason is not None) == (worst > 1770)


def test_figures_that_are_what_the_wall_gives_are_not_raised():
    limits = Limits(stop_at_watts=1770, machine_watts=400)
    assert host_total(sample(bmc=1500.0), limits).words == "BMC 1500 W"
    assert host_total(sample(), limits).words == "cards 540 W + machine 400 W = 940 W"


def test_a_card_over_its_cap():
    judge = Judge(measure_plan(plan_data()))
    assert judge.stop_reason(sample((294.0, 10.0))) is None, "the margin is for what a limit lets through for a moment"
    reason = judge.stop_reason(sample((10.0, 296.0)))
    assert (reason.code, reason.subject) == ("power.card_over_cap", "host:fv-ml1/gpu:1")
    assert reason.message == "card 1 draws 296 W, more than its cap of 275 W and 20 W on top"
    lost_cap = judge.stop_reason(sample((10.0, 10.0), limit=300.0))
    assert lost_cap.code == "power.card_over_cap" and "card 0 enforces 300 W" in lost_cap.message


def test_a_lost_card_stops_at_once_and_a_silent_one_at_the_second_time():
    judge = Judge(measure_plan(plan_data()))
    lost = sample((10.0, None), bmc=500.0)
    lost["cards"][1].update(code="gpu.lost", why="GPU is lost")
    assert judge.stop_reason(lost).code == "gpu.lost"
    silent = sample((10.0, None), bmc=500.0)
    assert judge.stop_reason(silent) is None
    assert judge.stop_reason(sample((10.0, 10.0), bmc=500.0)) is None, "it answers again: the count starts anew"
    assert judge.stop_reason(silent) is None
    reason = judge.stop_reason(silent)
    assert reason.code == "power.measure_blind" and reason.subject.endswith("/gpu:1")


def test_no_watts_from_anywhere_is_blind_not_zero():
    judge = Judge(measure_plan(plan_data()))
    assert judge.stop_reason(sample((None, None))) is None
    reason = judge.stop_reason(sample((None, None)))
    assert reason.code == "power.measure_blind" and "nobody sees" in reason.message


def test_commands_are_words_with_placeholders_and_no_shell():
    card = MeasuredCard("2", UUIDS[2], 275.0)
    words = command_words("burn -i {index} --uuid={uuid} 'a b; rm {card}' -w {watts} {seconds}")
    filled = filled_in(words, card, 3, 90.4)
    assert filled == ("burn", "-i", "3", f"--uuid={UUIDS[2]}", "a b; rm 2", "-w", "275", "90")
    assert filled_in(command_words("burn {uuid}"), card, None, 9) == ("burn", UUIDS[2])
    with pytest.raises(ValueError, match=r"use \{uuid\} in load_command"):
        filled_in(words, card, None, 90)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "load_command is empty"),
        ("burn 'x", "No closing quotation"),
        ("burn {gpu} {}", "unknown {}, {gpu}; there are {uuid}, {index}, {card}, {watts}, {seconds}"),
        ("gpu-burn", "'gpu-burn' says nowhere which card it loads"),
        ("gpu-burn {seconds}", """-e "load_command='gpu-burn -i {index} {seconds}'\""""),
    ],
)
def test_commands_that_are_none(text, says):
    with pytest.raises(ValueError, match=says.replace("{", "[{]")):
        command_words(text)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"steps": [{"number": 1, "cards": ["7"]}]}, "no card 7; there are 0, 1"),
        ({"steps": []}, "at least one"),
        ({"load": {}}, "neither a command nor seats"),
        ({"times": {"every_s": 0}}, "times.every_s: 0.0 is no time"),
        ({"times": {"pause_s": 1}}, "pause_s"),
        ({"limits": {"stop_at_watts": 0, "machine_watts": 1}}, "stop_at_watts above 0"),
        ({"cards": [{"card": "0"}]}, "uuid"),
    ],
)
def test_plans_that_cannot_be_run_say_where(change, says):
    with pytest.raises(ValueError, match=says):
        measure_plan({**plan_data(), **change})


def test_a_plan_survives_its_file_and_its_key_tells_other_measurements_apart():
    plan = measure_plan(plan_data())
    assert measure_plan(plan.as_dict()) == plan
    longer = measure_plan({**plan_data(), "times": {"hold_s": 600}})
    assert longer.key == plan.key, "the same rungs, only held longer"
    others = [
        {"load": {"command": ["other", "{uuid}"]}},
        {"cards": [{**card, "cap_watts": 250.0} for card in plan_data()["cards"]]},
        {"host": "other"},
        {"steps": plan_data()["steps"][:2]},
    ]
    assert len({plan.key, *(measure_plan({**plan_data(), **other}).key for other in others)}) == 5


def test_loads_of_a_step_come_in_the_order_of_its_cards():
    plan = measure_plan(plan_data(3))
    orders = loads_of(plan, plan.steps[3], {}, 60)
    assert [order.argv for order in orders] == [("burn", UUIDS[0]), ("burn", UUIDS[1]), ("burn", UUIDS[2])]
    assert loads_of(plan, plan.steps[0], {}, 60) == []
