"""Protects: load is raised one card at a time under a watch, ended before anything else when the watch says so, and
every step's end is written down for the run that goes on."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from measured_host import UUIDS, FakeHost, plan_data

from gpu_seats.apply.power_measure.lease import GO_ON, HOLD
from gpu_seats.apply.power_measure.load_keeper import KeeperGoneError, LoadEnd
from gpu_seats.apply.power_measure.plan import measure_plan
from gpu_seats.apply.power_measure.progress import progress_of


def test_the_whole_ladder():
    host = FakeHost()
    assert host.run() is None
    ends = host.log.of("step_end")
    assert [(one["number"], one["cards"]) for one in ends] == [(0, []), (1, ["0"]), (2, ["0", "1"])]
    assert {one["samples"] for one in ends} == {4}
    assert [one["cards_watts"]["average"] for one in ends] == [20.0, 280.0, 540.0]
    assert ends[2]["machine_watts"] == {"average": 400.0, "minimum": 400.0, "maximum": 400.0, "count": 4}
    assert ends[2]["by_card"][UUIDS[1]]["maximum"] == 270.0
    assert [event for event in host.events if event[0] == "start"] == [
        ("start", "load of card 0"),
        ("start", "load of card 1"),
    ]
    assert host.log.last("end")["complete"] is True
    assert progress_of(host.log).complete and host.loaded == []


def test_one_sample_before_any_load_and_one_between_two_cards():
    host = FakeHost(measure_plan(plan_data(3)))
    host.run(done=(0, 1, 2))
    phases = [one["phase"] for one in host.log.samples]
    assert phases[:6] == ["before", "raise", "raise", "raise", "settle", "settle"]
    assert [one["cards_watts"] for one in host.log.samples[:4]] == [30.0, 290.0, 550.0, 810.0]


def test_a_resumed_run_measures_only_what_is_left_with_all_the_cards_of_its_step():
    host = FakeHost(measure_plan(plan_data(3)))
    host.run(done=(0, 1))
    assert [(one["number"], one["cards"]) for one in host.log.of("step_end")] == [(2, ["0", "1"]), (3, ["0", "1", "2"])]


TROUBLES = ["bmc", "card", "limit", "lost", "lease", "told", "load"]


@given(st.integers(1, 4), st.integers(0, 60), st.sampled_from(TROUBLES))
def test_whatever_happens_whenever_the_load_ends_first_and_the_reason_is_written(cards, at, trouble):
    """Protects the order: no write and no further sample between the judgement and the end of the load."""
    plan = measure_plan(plan_data(cards))
    calm = FakeHost(plan)
    calm.run()
    assume(at < len([one for one in calm.log.samples if one["phase"] != "after"]) - 1)
    host, taken = FakeHost(plan), []

    def meddle(fake):
        number = len(taken)
        taken.append(fake.now)
        fake.bmc_watts, fake.draw_watts, fake.limit_watts = calm.bmc_watts, calm.draw_watts, calm.limit_watts
        if number < at or ("stop",) in fake.events:
            return
        if trouble == "bmc":
            fake.bmc_watts = lambda cards: 1700.0
        elif trouble == "card":
            fake.draw_watts = lambda uuid, loaded: 296.0
        elif trouble == "limit":
            fake.limit_watts = lambda uuid: 300.0
        elif trouble == "lost":
            fake.draw_watts = lambda uuid, loaded: None
        elif trouble == "lease":
            fake.age = 121.0
        elif trouble == "told":
            fake.told_to_end = True
        elif number == at:
            fake.ends = [LoadEnd("load of card 0", 1, "out of memory")]

    host.before_sample = meddle
    reason = host.run()
    assert reason is not None and reason.fails and host.loaded == []
    before, after = host.events[: host.events.index(("stop",))], host.events[host.events.index(("stop",)) + 1 :]
    # a card that gives no draw once may have answered too late: twice in a row is blind
    assert before.count(("write", "sample")) == (at + 1 if trouble == "lost" else at)
    assert after[:1] == [("write", "sample")] and after.count(("write", "stop")) == 1
    assert not [event for event in after if event[0] == "start"]
    assert host.log.last("stop")["code"] == reason.code
    assert host.log.last("end")["complete"] is False
    assert progress_of(host.log).first_step(plan) is not None


def test_the_arithmetic_of_a_stop_is_in_the_file():
    host = FakeHost()
    host.bmc_watts = lambda cards: 1620.0 if cards > 300 else 500.0
    reason = host.run()
    assert reason.code == "power.measure_over_threshold"
    assert reason.message == "BMC 1620 W x 1.10 = 1782 W is over the stop threshold of 1770 W"
    assert host.log.last("stop")["evidence"]["bmc_watts"] == 1620.0
    assert progress_of(host.log).done.keys() == {0, 1}


def test_a_file_that_takes_no_line_ends_the_load():
    host = FakeHost()
    host.fails_to_write = lambda record: record["kind"] == "sample" and record["phase"] == "hold" and bool(host.loaded)
    reason = host.run()
    assert reason.code == "power.log_unwritable" and "No space left" in reason.message and host.loaded == []


def test_a_keeper_that_is_gone_ends_the_run():
    host = FakeHost()

    def gone(name, argv, limit_s):
        raise KeeperGoneError("the process that keeps the loads is gone")

    host.start = gone
    assert host.run().code == "power.load_ended"
    assert host.events[-1] == ("write", "end")


def test_a_load_that_goes_on_after_its_end_is_critical():
    host = FakeHost()
    host.stops = False
    reason = host.run()
    assert (reason.code, reason.severity) == ("power.load_not_stopped", "critical")
    assert "gpu 0 270 W, gpu 1 270 W" in reason.message
    assert len([one for one in host.log.samples if one["phase"] == "after"]) == 3


def test_the_top_is_held_for_a_person_until_a_word_comes():
    data = plan_data(1)
    host = FakeHost(measure_plan({**data, "times": {**data["times"], "top_s": 90}}))
    host.word_held = HOLD

    def answer(fake):
        if len([one for one in fake.log.samples if one.get("phase") == "hold" and one["step"] == 1]) == 9:
            fake.word_held = GO_ON

    host.before_sample = answer
    assert host.run() is None
    assert host.log.of("step_end")[-1]["samples"] == 10
    unanswered = FakeHost(host.plan)
    unanswered.word_held = HOLD
    assert unanswered.run() is None
    assert unanswered.log.of("step_end")[-1]["samples"] == 4 + 30


def test_seats_are_loaded_by_requests_and_a_seat_of_two_cards_once():
    seats = [
        {"seat": "wide", "cards": ["0", "1"], "port": 8001, "task": "chat", "served_name": "w"},
        {"seat": "small", "cards": ["2"], "port": 8002, "task": "chat", "served_name": "s"},
    ]
    steps = [{"number": 0, "cards": []}, {"number": 1, "cards": ["0", "1"]}, {"number": 2, "cards": ["0", "1", "2"]}]
    host = FakeHost(measure_plan({**plan_data(3), "load": {"seats": seats}, "steps": steps}))
    assert host.run() is None
    starts = [event[1] for event in host.events if event[0] == "start"]
    assert starts == ["requests to wide", "requests to small"]


@pytest.mark.parametrize("card_draw", [0.0, 12.0])
def test_no_load_no_look_after_it(card_draw):
    host = FakeHost(measure_plan({**plan_data(1), "steps": [{"number": 0, "cards": []}]}))
    host.draw_watts = lambda uuid, loaded: card_draw
    assert host.run() is None
    assert {one["phase"] for one in host.log.samples} == {"before", "settle", "hold"}


@pytest.mark.parametrize(("idle", "under_load"), [(10.0, 10.0), (10.0, 22.0), (80.0, 85.0)])
def test_a_load_that_does_nothing_measures_no_step(idle, under_load):
    """Protects: a figure of idle cards is never handed out as one of loaded cards, nor passed over when resumed."""
    host = FakeHost()
    host.draw_watts = lambda uuid, loaded: under_load if loaded and uuid == UUIDS[1] else 270.0 if loaded else idle
    reason = host.run()
    assert reason.code == "power.load_without_effect" and host.loaded == []
    assert f"card 1 {idle:.0f} W before it and at most {under_load:.0f} W under it" in reason.message
    assert [one["number"] for one in host.log.of("step_end")] == [0, 1]
    progress = progress_of(host.log)
    assert not progress.complete and progress.first_step(host.plan) == 2


@pytest.mark.parametrize(("idle", "under_load"), [(10.0, 40.0), (250.0, 250.0)])
def test_little_load_is_load_and_a_card_that_was_busy_is_loaded(idle, under_load):
    host = FakeHost()
    host.draw_watts = lambda uuid, loaded: under_load if loaded else idle
    host.stops = idle < 200
    reason = host.run()
    assert (reason is None) == (idle < 200) and len(host.log.of("step_end")) == 3
