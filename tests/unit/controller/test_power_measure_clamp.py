"""Protects: a reading that comes afterwards goes to the right measurement, and says to which."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_seats.controller.declared_faults import PlayHostError
from gpu_seats.controller.power_measure_clamp import clamp_afterwards, no_run_text, taken_text
from gpu_seats.declare.fleet import load_fleet
from gpu_seats.plan.power.measurement import Clamp

PROJECT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def fleet():
    return load_fleet(PROJECT)


@pytest.mark.parametrize("around", ["", "host", "fv-20a"])
def test_what_a_clamp_may_be_around(fleet, around):
    assert clamp_afterwards(fleet, fleet.hosts["fv-ml1"], 1480.0, around) == Clamp(1480.0, around)


@pytest.mark.parametrize(
    ("watts", "around", "says"),
    [
        (1480.0, "fv-20b", "clamp_at=fv-20b: nothing above fv-ml1 has that name; did you mean fv-20a"),
        (0.0, "host", "clamp_watts=0: watts above 0"),
        (-12.0, "host", "clamp_watts=-12"),
    ],
)
def test_what_is_no_reading_is_refused(fleet, watts, around, says):
    with pytest.raises(PlayHostError, match=says):
        clamp_afterwards(fleet, fleet.hosts["fv-ml1"], watts, around)


def test_it_says_which_measurement_takes_it():
    run = {
        "log": "/tank/m.jsonl",
        "ended": "2026-12-01T10:12:00.000Z",
        "load": {"command": ["gpu-burn", "-i", "{index}"]},
        "cards": ["0", "1"],
    }
    text = taken_text("fv-ml1", Clamp(1480.0, "host"), run)
    assert "1480 W around host to the measurement that ended 2026-12-01T10:12:00.000Z" in text
    assert "cards 0, 1 loaded by gpu-burn -i {index}" in text and "nothing is loaded" in text


def test_without_one_it_says_what_to_do():
    assert "-e clamp=ask" in no_run_text("fv-ml1", "/tank/p") and "/tank/p" in no_run_text("fv-ml1", "/tank/p")
