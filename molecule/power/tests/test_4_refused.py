"""Load that the site does not carry, and figures that cannot be right: refused with the arithmetic, nothing touched."""

from __future__ import annotations

import pytest
from outside.plays import Run, deploy, power

UPS = {"fv-ups": {"in_use": True}, "fv-ups-inlet": {"in_use": True}}
GEN = "/opt/docker/compose/gen-seat"


@pytest.fixture(scope="module")
def incident(new_copy):
    """The site as at the incident, everything behind the UPS; two seats, of which one runs."""
    project = new_copy()
    project.only_serving("flash-next", "gen")
    project.declare_site("fv", circuits=UPS)
    return project


def test_a_second_loaded_card_is_refused_where_the_ups_carries_one(lab, seat, incident, untouched):
    """Protects: the incident. Two loaded cards behind a UPS of 900 W took a site down, the way in included."""
    with untouched():
        run = deploy("gen", project=incident.root)
    assert run.rc != 0
    shown = run.finding("power.over_absolute", "site:fv/circuit:fv-ups")
    assert shown.severity == "critical"
    assert (
        "fv-ups (ups, 1500 VA x 0.6 = 900 W): fv-ml1 2 x 275 W cards + 2 x 19.25 W idle cards + 400 W machine under"
        " load = 988.5 W; fv-edge 125 W (estimate); together 1113.5 W; over 900 W by 213.5 W" in shown.message
    )
    assert "gpu-seats power --site fv --what-if" in shown.remedy
    assert run.verdict("gen") == "refused, nothing was touched"
    assert "vllm-gen" not in lab.containers()


def test_check_mode_refuses_it_too(incident, seat, untouched):
    """Protects: a plan that is shown is the plan that would be carried out."""
    with untouched():
        run = deploy("gen", "--check", "--diff", project=incident.root)
    assert run.rc != 0
    assert run.finding("power.over_absolute", "site:fv/circuit:fv-ups")


def test_the_one_card_that_the_ups_carries_is_not_refused(seat, scratch, untouched):
    """Protects: the planner's no is about what is too much; that the high end would be too much is told."""
    scratch.only_serving("flash-next")
    scratch.declare_site("fv", circuits=UPS)
    with untouched():
        run = deploy(seat, project=scratch.root)
    assert (run.rc, run.changed) == (0, 0), run.out
    assert run.verdict(seat).startswith("answers as ")
    assert run.finding("power.over_possible", "site:fv/circuit:fv-ups").severity == "warning"


def test_without_the_ups_the_same_seat_is_deployed(lab, seat, scratch):
    scratch.only_serving("flash-next", "gen")
    try:
        run = deploy("gen", project=scratch.root)
        assert run.rc == 0, run.out
        assert run.verdict("gen").startswith("answers as ")
        assert not [one for one in run.findings if one.code.startswith("power.over")]
    finally:
        lab.sh(f"docker rm --force vllm-gen; rm -rf {GEN}", ok=False)


@pytest.fixture(scope="module")
def unreadable(new_copy, power_untouched) -> Run:
    """Figures that are no figures, and a UPS that nothing can be held against."""
    spoilt = new_copy()
    spoilt.declare_host(power={"baseline": {"watts": "-5W"}, "under_load": {"watts": "four hundred"}})
    spoilt.declare_site("fv", circuits={"fv-ups": {"rating_va": None, "feeds": ["fv-ml1", "fv-edge", "fv-20a"]}})
    with power_untouched():
        return power(project=spoilt.root)


@pytest.fixture(scope="module")
def forbidden(new_copy, power_untouched) -> Run:
    """Caps that no card may run with, and a card that is none."""
    spoilt = new_copy()
    spoilt.declare_host(power={"caps": {"limit": "240W", "cards": {"2": "310W", "3": "330W", "9": "260W"}}})
    with power_untouched():
        return power(project=spoilt.root)


@pytest.mark.parametrize(
    "texts",
    [
        ("host_vars/fv-ml1.yml:", "power.baseline.watts: '-5W' is negative"),
        ("power.under_load.watts: 'four hundred' is not a power", "like 275W"),
        ("group_vars/site_fv.yml:", "circuits.fv-ups.kind: a ups without rating_va has no rating"),
        ("circuits.fv-ups.feeds[2]: fv-20a closes a ring of devices (fv-20a -> fv-ups-inlet -> fv-ups -> fv-20a)",),
    ],
)
def test_figures_and_trees_that_cannot_be_are_refused_with_file_and_key(unreadable: Run, texts: tuple[str, ...]):
    assert unreadable.rc != 0
    unreadable.says("refused, nothing was touched", *texts)
    assert "Traceback" not in unreadable.out and "TASK" not in unreadable.out


@pytest.mark.parametrize(
    "texts",
    [
        ("power.caps.limit: 240W is below what the card takes", "allowed: 250W to 325W (power_limits of card 0)"),
        ("power.caps.cards.2: 310W is above the ceiling of caps", "allowed: at most 300W (power.caps.ceiling)"),
        ("power.caps.cards.3: 330W is above the ceiling of caps",),
        ("power.caps.cards.9", '"0", "1", "2", "3"'),
    ],
)
def test_caps_that_no_card_may_run_with_are_refused_before_the_host_is_asked(forbidden: Run, texts: tuple[str, ...]):
    """Protects: a card is never set above what its circuit was calculated for, nor left at stock by a refused limit."""
    assert forbidden.rc != 0
    forbidden.says("refused, nothing was touched", *texts)
    assert "TASK" not in forbidden.out
