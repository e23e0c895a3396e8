"""Protects: whoever waits at the controller sees the planner's words before each step, a line every few seconds, and is
told the truth when the host is not reached."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gpu_seats.apply.power_measure.plan import measure_plan
from gpu_seats.controller.power_measure_follow import (
    MeasureLostError,
    NoContactError,
    Waits,
    broken_off_text,
    clamp_answer,
    follow,
    resume_text,
)
from gpu_seats.plan.power.measurement import Clamp

PLAN = measure_plan(
    {
        "host": "fv-ml1",
        "folder": "/tank/p",
        "cards": [{"card": "0", "uuid": "u0", "cap_watts": 275.0}],
        "steps": [{"number": 0, "cards": []}, {"number": 1, "cards": ["0"]}],
        "load": {"command": ["burn"]},
        "limits": {"stop_at_watts": 1770.0, "machine_watts": 400.0},
        "times": {"hold_s": 60, "top_s": 180, "lease_s": 45},
    }
)
LADDER: Any = SimpleNamespace(rungs=[SimpleNamespace(number=n, text=f"the planner of step {n}") for n in (0, 1)])


def seen(step=None, phase="settle", running=True, **more):
    sample = {
        "t": "2026-12-01T10:00:24.000Z",
        "cards_watts": 541.0,
        "bmc_watts": 942.0,
        "total_watts": 1036.2,
    }
    base = {
        "running": running,
        "started": step is not None,
        "gone": False,
        "step": step,
        "step_since": "2026-12-01T10:00:00.000Z",
        "phase": phase,
        "sample": sample if step is not None else None,
        "stop": None,
        "complete": False,
    }
    return {**base, **more}


class Script:
    """Answers looks in order, the last one again and again; a text is a lost contact. Time goes by in sleeps."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.words, self.shown, self.now = list(answers), [], [], 0.0

    def look(self, word):
        self.words.append(word)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, str):
            raise NoContactError(answer)
        return answer

    def sleep(self, seconds):
        self.now += seconds

    def follow(self, ask=None):
        clock = {"clock": lambda: self.now, "sleep": self.sleep}
        return follow(PLAN, LADDER, self.look, self.shown.append, ask, Waits(), **clock)


def test_words_of_the_planner_then_progress_then_the_end():
    script = Script(seen(), seen(0), seen(0), seen(0, "hold"), seen(1), seen(1, "hold"), seen(1, running=False))
    followed = script.follow()
    assert not followed.look["running"] and followed.clamp is None
    assert script.shown[:2] == [
        "fv-ml1  step 0 of 1, at worst with the planner of step 0",
        "fv-ml1  step 0 of 1  hold, 24 s  cards 541 W  BMC 942 W  at most 1036 W of 1770 W",
    ]
    assert script.shown[2] == "fv-ml1  step 1 of 1, at worst with the planner of step 1"


def test_a_value_that_is_missing_is_no_zero():
    quiet = seen(0, "hold")
    quiet["sample"].update(bmc_watts=None, total_watts=None)
    script = Script(seen(0), quiet, quiet, quiet, seen(0, running=False))
    script.follow()
    assert "BMC no value" in script.shown[1] and "at most no value of 1770 W" in script.shown[1]


def test_a_unit_that_never_begins_is_not_awaited_for_ever():
    script = Script(seen(running=False))
    assert not script.follow().look["started"]
    assert 45 < script.now < 60


def test_a_lost_contact_is_waited_out_and_told():
    script = Script(seen(0), "no route", "no route", seen(0), seen(0, running=False))
    script.follow()
    lost = [line for line in script.shown if "no contact" in line]
    assert lost == [
        "fv-ml1  no contact for 5 s; the load ends after 45 s of it",
        "fv-ml1  no contact for 10 s; the load ends after 45 s of it",
    ]


def test_longer_than_the_lease_is_lost_and_says_what_that_means():
    script = Script(seen(0), "no route to host")
    with pytest.raises(
        MeasureLostError, match=r"not reached for 50 s \(no route to host\): its load has ended by itself"
    ):
        script.follow()


def test_a_host_that_was_booted_meanwhile_ends_it():
    script = Script(seen(1), seen(running=False, gone=True))
    assert script.follow().look["gone"]


def test_the_clamp_is_asked_for_once_at_the_top_and_the_host_knows_that_nobody_looks():
    asked = []

    def ask(question, seconds):
        asked.append((question, seconds))
        script.now += 100
        return Clamp(1480.0, "host")

    later = seen(1, "hold")
    later["sample"]["t"] = "2026-12-01T10:02:00.000Z"
    script = Script(seen(0, "hold"), seen(1), seen(1, "hold"), seen(1, "hold"), later, seen(1, running=False))
    followed = script.follow(ask)
    assert len(asked) == 1 and "BMC 942 W, cards 541 W" in asked[0][0] and asked[0][1] == 225
    assert script.words == ["", "", "", "asking", "go on", "go on"]
    assert followed.clamp == Clamp(1480.0, "host", "2026-12-01T10:02:00.000Z")


def test_nobody_answers_and_the_run_goes_on():
    script = Script(seen(1, "hold"), seen(1, "hold"), seen(1, running=False))
    followed = script.follow(lambda question, seconds: None)
    assert followed.clamp is None and script.words == ["", "asking", "go on"]


@pytest.mark.parametrize(
    ("typed", "clamp"),
    [
        ("1480", Clamp(1480.0)),
        (" 1480.5 W host\n", Clamp(1480.5, "host")),
        ("1480W fv-20a", Clamp(1480.0, "fv-20a")),
        ("", None),
    ],
)
def test_what_a_person_types(typed, clamp):
    assert clamp_answer(typed) == clamp


@pytest.mark.parametrize("typed", ["yes", "-3", "0", "1480 host or so", "1e9"])
def test_what_is_no_reading(typed):
    with pytest.raises(ValueError):
        clamp_answer(typed)


def test_what_is_resumed_says_what_was_measured_when_and_why_it_ended():
    done = {"0": "2026-12-01T10:00:00.000Z"}
    prospect = {"resumes": True, "first_step": 1, "done": done, "log": "/p/m.jsonl"}
    stopped = {"message": "card 2 is lost"}
    text = resume_text(PLAN, {**prospect, "stopped_before": stopped})
    assert "resumes at step 1 of 1; measured already: step 0 at 2026-12-01T10:00:00.000Z" in text
    assert "it was stopped then: card 2 is lost" in text and "fresh=true" in text
    fresh = resume_text(PLAN, {"resumes": False, "log": "/p/m.jsonl", "stopped_before": None})
    assert fresh.startswith("fv-ml1 starts at step 0 of 1; samples go to /p/m.jsonl\n")
    assert all("Ctrl-C ends the load" in one and "the next run resumes" in one for one in (text, fresh))


def test_a_broken_off_run_says_whether_the_load_has_ended():
    assert "the load has ended" in broken_off_text(PLAN, True) and "the next run resumes" in broken_off_text(PLAN, True)
    assert "ends by itself within 45 s" in broken_off_text(PLAN, False)
