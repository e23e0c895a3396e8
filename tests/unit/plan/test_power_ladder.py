"""Protects: a measurement never takes a step that the planner would refuse, and its stop threshold is never above what
the smallest device leaves to the host."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from watt_cases import breaker, figure, gpu_host, production, site, ups
from watt_cases import fleet as fleet_of

from gpu_seats.plan.power.ladder import LadderError, measure_ladder
from gpu_seats.plan.power.site import site_power

ONE_BY_ONE = [["0"], ["1"], ["2"], ["3"]]


def fleet(circuits, host=None, **of_site):
    return fleet_of(site(circuits, **of_site), host or gpu_host())


def test_the_ladder_of_the_page():
    declared = production()
    ladder = measure_ladder(declared, declared.hosts["fv-ml1"], ONE_BY_ONE)
    assert [rung.cards for rung in ladder.rungs] == [[], ["0"], ["0", "1"], ["0", "1", "2"], ["0", "1", "2", "3"]]
    assert ladder.rungs[-1].host_watts == 1500 and ladder.refused is None and ladder.findings == []
    assert ladder.rungs[-1].devices[0]["nominal_watts"] == 1625
    # the router may take 150 W: 1920 - 150
    assert ladder.others == ["fv-edge 125 W (estimate), up to 150 W"]
    assert ladder.stop_at_watts == 1770 and ladder.limits[0].device == "fv-20a"
    assert (ladder.machine_watts, ladder.floor_watts, ladder.loss_factor) == (400, 313, pytest.approx(1.1))
    assert "cards 0, 1, 2, 3 loaded: host 1500 W (up to 1650 W); fv-20a 1625 W (up to 1800 W)" in ladder.rungs[-1].text


def test_with_the_ups_of_the_incident_the_second_card_is_refused_with_the_arithmetic():
    declared = production()
    circuits = declared.sites["fv"].circuits
    used = {name: one.model_copy(update={"in_use": True}) for name, one in circuits.items()}
    changed = declared.sites["fv"].model_copy(update={"circuits": used})
    ladder = measure_ladder(
        type(declared)({**declared.sites, "fv": changed}, declared.hosts, declared.stacks),
        declared.hosts["fv-ml1"],
        ONE_BY_ONE,
    )
    assert [rung.cards for rung in ladder.rungs] == [[], ["0"]]
    assert ladder.refused.cards == ["0", "1"]
    finding = ladder.findings[0]
    assert finding.code == "power.measure_step_refused" and finding.evidence["device"] == "fv-ups"
    assert "2 x 275 W" in finding.message and "900 W" in finding.message and "step 2" in finding.message
    assert ladder.stop_at_watts == 750


def test_an_enforced_limit_above_the_cap_counts():
    circuits = {"b": breaker("fv-ml1", amps=17)}
    host = gpu_host()
    assert measure_ladder(fleet(circuits), host, ONE_BY_ONE).refused is None
    lost = measure_ladder(fleet(circuits), host, ONE_BY_ONE, enforced=dict.fromkeys("0123", 325.0))
    assert lost.refused.number == 4 and "1700 W" in lost.findings[0].message


def test_what_nobody_declared_is_no_ladder():
    with pytest.raises(LadderError, match="no device with a rating feeds fv-ml1"):
        measure_ladder(fleet({"b": breaker("other")}, loads={"other": load()}), gpu_host(), ONE_BY_ONE)
    host = gpu_host(under_load=None, baseline=None)
    ladder = measure_ladder(fleet({"b": breaker("fv-ml1")}, host), host, ONE_BY_ONE)
    assert [rung.cards for rung in ladder.rungs] == [[]] and "is not known" in ladder.findings[0].message


def load(watts=100, **over):
    return {"summary": "a load", "watts": figure(watts, **over)}


def test_a_threshold_may_be_lower_and_never_higher():
    circuits = {"b": breaker("fv-ml1", "other")}
    declared = fleet(circuits, loads={"other": load(100, high=200)})
    assert measure_ladder(declared, gpu_host(), ONE_BY_ONE).stop_at_watts == 1720
    assert measure_ladder(declared, gpu_host(), ONE_BY_ONE, stop_at_watts=1000).stop_at_watts == 1000
    with pytest.raises(LadderError, match="1920 W of b less up to 200 W of other = 1720 W; a lower"):
        measure_ladder(declared, gpu_host(), ONE_BY_ONE, stop_at_watts=1721)


def test_through_a_ups_that_loses_some_the_host_has_less():
    circuits = {"b": breaker("u"), "u": ups("fv-ml1", rating_va=3000, power_factor=1.0, efficiency=0.9)}
    ladder = measure_ladder(fleet(circuits), gpu_host(), ONE_BY_ONE)
    by_device = {one.device: one.continuous_watts for one in ladder.limits}
    assert by_device == {"b": pytest.approx(1920 * 0.9), "u": 3000}


def test_another_gpu_host_counts_with_all_its_cards_whatever_is_declared_to_run_there():
    """Protects: a threshold that would hold only as long as nobody starts a seat on the other host."""
    circuits = {"b": breaker("fv-ml1", "fv-ml2", amps=40)}
    first, second = gpu_host(), gpu_host("fv-ml2")
    declared = fleet_of(site(circuits), first, second)
    ladder = measure_ladder(declared, first, ONE_BY_ONE)
    other = site_power(declared, first.site).device("b")
    most = next(term.draw.high_watts for term in other.terms if term.name == "fv-ml2")
    assert most >= 4 * 275 and ladder.stop_at_watts == pytest.approx(0.8 * 120 * 40 - most)
    (said,) = ladder.others
    assert said.startswith("fv-ml2 4 x 275 W cards + ")
    alone = measure_ladder(fleet({"b": breaker("fv-ml1")}), first, ONE_BY_ONE)
    assert alone.others == []


@given(
    st.integers(5, 40),
    st.integers(0, 1500),
    st.integers(0, 500),
    st.integers(100, 600),
    st.permutations(["0", "1", "2", "3"]),
)
def test_no_step_that_is_taken_is_over_a_limit(amps, other, spread, machine, order):
    host = gpu_host(under_load=figure(machine), baseline=figure(machine))
    loads = {"other": load(other, low=0, high=other + spread)}
    declared = fleet({"b": breaker("fv-ml1", "other", amps=amps)}, host, loads=loads)
    limit = 0.8 * 120 * amps
    ladder = measure_ladder(declared, host, [[card] for card in order])
    for rung in ladder.rungs[1:]:
        assert machine + 275 * len(rung.cards) + 10 * (4 - len(rung.cards)) + other <= limit + 1e-6
    if ladder.refused is not None:
        cards = len(ladder.refused.cards)
        assert machine + 275 * cards + 10 * (4 - cards) + other > limit
    assert len(ladder.rungs) + (ladder.refused is not None) <= 5
    assert ladder.stop_at_watts == pytest.approx(limit - other - spread)
