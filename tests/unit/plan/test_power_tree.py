"""What each device carries, and what goes dark when one opens, for trees of every shape that is wired.

Protects: a load is counted once a device and in full on each of its feeds, a UPS's bypass spares its inverter and not
its inlet, losses and unknown figures are never dropped, and every limit that is broken is a finding with its sum.
"""

from __future__ import annotations

from typing import Any

import pytest
import watt_cases
from plan_cases import codes
from watt_cases import breaker, figure, fleet, gpu_host, site, small_host, ups

from gpu_seats.declare.host import Host
from gpu_seats.plan.power import site_power
from gpu_seats.plan.power.site import SitePower
from gpu_seats.plan.power.tree import Tree


def power_of(circuits: dict[str, Any], *hosts: Host, **over: Any) -> SitePower:
    return site_power(fleet(site(circuits, **over), *hosts), "fv")


def carried(power: SitePower) -> dict[str, float]:
    return {one.name: one.draw.watts for one in power.devices}


def test_a_load_on_two_feeds_counts_in_full_on_each() -> None:
    power = power_of({"a": breaker("box"), "b": breaker("box")}, small_host("box", 500))
    assert carried(power) == {"a": 500, "b": 500}
    assert [one.goes_dark for one in power.shared_fate] == [[], []]


def test_a_load_that_two_ways_lead_to_counts_once_at_the_device_above_them() -> None:
    circuits = {"main": breaker("left", "right"), "left": breaker("box"), "right": breaker("box")}
    assert carried(power_of(circuits, small_host("box", 500))) == {"main": 500, "left": 500, "right": 500}


def test_a_bypass_spares_the_inverter_and_not_the_inlet() -> None:
    circuits = {
        "inlet": breaker("unit", kind="inlet", amps=12, continuous=1.0),
        "unit": ups("edge", bypass=["box"]),
    }
    power = power_of(circuits, small_host("edge", 100), small_host("box", 1400))
    assert carried(power) == {"inlet": 1500, "unit": 100}
    assert {one.name: one.verdict for one in power.devices} == {"inlet": "over_absolute", "unit": "ok"}


def test_losses_of_a_ups_load_what_is_above_it() -> None:
    circuits = {"main": breaker("unit", "box"), "unit": ups("edge", efficiency=0.8)}
    power = power_of(circuits, small_host("edge", 400), small_host("box", 100))
    assert carried(power) == {"main": 600, "unit": 400}
    assert power.device("main").terms[0].how == "400 W / 0.8, through a ups"


def test_a_device_out_of_use_carries_nothing_and_feeds_nothing() -> None:
    circuits = {"main": breaker("unit", "box"), "unit": ups("edge", in_use=False)}
    power = power_of(circuits, small_host("edge", 400), small_host("box", 100))
    assert carried(power) == {"main": 100, "unit": 0}
    (found,) = power.findings
    assert (found.code, found.subject) == ("power.not_on_a_circuit", "host:edge")
    assert "edge hangs only below unit, which is out of use" in found.message


def test_a_ups_in_use_takes_over_what_the_breaker_above_it_fed() -> None:
    circuits = {"main": breaker("box", "unit"), "unit": ups("box")}
    power = power_of(circuits, small_host("box", 500))
    assert carried(power) == {"main": 500, "unit": 500}
    dark = {one.device: (one.goes_dark, one.on_battery) for one in power.shared_fate}
    assert dark == {"main": ([], ["box"]), "unit": (["box"], [])}


def test_what_hangs_past_an_inverter_lives_and_dies_with_the_wall() -> None:
    tree = Tree(site({"main": breaker("unit"), "unit": ups("edge", bypass=["box"])}).circuits)
    assert (tree.dark_after("main"), tree.on_battery_after("main")) == (["box"], ["edge"])
    assert tree.dark_after("unit") == ["edge"]


def test_a_ring_that_code_made_ends() -> None:
    """Loading refuses it; a fleet made by code must not hang the planner."""
    tree = Tree(site({"a": breaker("b", "box"), "b": breaker("a")}).circuits)
    assert (tree.loads("a"), tree.in_order()) == (["box"], ["a", "b"])


@pytest.mark.parametrize(
    ("watts", "high", "verdict", "code", "severity"),
    [
        (1920, 1920, "ok", None, None),
        (1900, 1921, "over_possible", "power.over_possible", "warning"),
        (1921, 1921, "over_continuous", "power.over_continuous", "error"),
        (2400, 2400, "over_continuous", "power.over_continuous", "error"),
        (2401, 2401, "over_absolute", "power.over_absolute", "critical"),
    ],
)
def test_each_limit_is_told_apart(watts: float, high: float, verdict: str, code: str, severity: str) -> None:
    power = power_of({"main": breaker("box")}, small_host("box", watts, high=high))
    assert power.device("main").verdict == verdict
    assert [(one.code, one.severity) for one in power.findings] == ([(code, severity)] if code else [])


def test_a_host_with_cards_and_without_figures_is_unknown_and_not_zero() -> None:
    bare = gpu_host(baseline=None, under_load=None)
    power = power_of({"main": breaker("fv-ml1")}, bare)
    assert power.device("main").verdict == "unknown"
    (found,) = power.findings
    assert (found.code, found.severity) == ("power.load_unknown", "error")
    assert "power.under_load of fv-ml1" in found.message and found.evidence["devices"] == ["main"]


def test_a_card_without_a_cap_counts_at_stock_and_without_limits_not_at_all() -> None:
    stock = power_of({"main": breaker("fv-ml1")}, gpu_host(caps=None))
    assert carried(stock) == {"main": 4 * 300 + 400}
    assert "no cap is declared" in stock.loads[0].terms[0].how
    without = Host.model_validate(
        {
            **gpu_host(caps=None).model_dump(exclude_unset=True),
            "gpus": {"0": {"model": "m", "vram": "1GiB"}},
            "power": {"under_load": figure(400)},
        }
    )
    unknown = power_of({"main": breaker("fv-ml1")}, without)
    assert unknown.device("main").verdict == "unknown"
    assert "the limit of card 0 of fv-ml1" in unknown.findings[0].message


def test_a_known_overload_is_told_although_another_load_is_unknown() -> None:
    bare = gpu_host(baseline=None, under_load=None)
    power = power_of({"main": breaker("fv-ml1", "box")}, bare, small_host("box", 2500))
    assert power.device("main").verdict == "over_absolute"
    assert set(codes(power.findings)) == {"power.load_unknown", "power.over_absolute"}


@pytest.mark.parametrize(
    ("reads", "low", "nominal", "high"),
    [("ac", 1500, 1500, 1500), ("dc", 1620, 1635, 1650), ("unknown", 1500, 1500, 1650)],
)
def test_what_the_supplies_lose(reads: str, low: float, nominal: float, high: float) -> None:
    host = gpu_host(supply_loss={"reads": reads, "low": 0.08, "high": 0.10, "reason": "r"})
    draw = power_of({"main": breaker("fv-ml1")}, host).device("main").draw
    assert (round(draw.low_watts, 6), round(draw.watts, 6), round(draw.high_watts, 6)) == (low, nominal, high)


def test_observed_limits_count_where_they_are_above_the_cap() -> None:
    """A cap that was lost at a driver reload is load on the circuit."""
    declared = fleet(site({"main": breaker("fv-ml1")}), gpu_host())
    lost = site_power(declared, "fv", limits={"fv-ml1": {"0": 300.0, "1": 250.0}})
    assert carried(lost) == {"main": 300 + 3 * 275 + 400}
    assert [term.product for term in lost.loads[0].terms if term.product] == ["1 x 300 W", "3 x 275 W"]
    assert codes(lost.findings) == []


def test_a_claim_alone_with_a_load_that_came_later_is_a_finding() -> None:
    host = gpu_host(circuit_alone="main")
    assert codes(power_of({"main": breaker("fv-ml1")}, host).findings) == []
    power = power_of({"main": breaker("fv-ml1", "box")}, host, small_host("box", 100))
    (found,) = power.findings
    assert found.code == "power.circuit_claimed_twice"
    assert "fv-ml1 claims main alone, and box hangs below it too" in found.message


def test_caps_of_a_fleet_that_code_made_are_checked_too() -> None:
    host = gpu_host(caps={"limit": "310W", "cards": {"1": "200W"}, "ceiling": "305W", "reason": "r"})
    found = power_of({"main": breaker("fv-ml1")}, host).findings
    assert sorted(codes(found)) == ["power.cap_above_ceiling", "power.cap_above_stock", "power.cap_below_min"]
    assert "cards 0, 2, 3 of fv-ml1: cap 310 W is above the ceiling 305 W" in {one.message for one in found}


def test_a_router_that_is_no_host_shares_fate_too() -> None:
    loads = {"edge": {"summary": "a router", "role": "router", "watts": figure(25)}}
    power = power_of({"main": breaker("fv-ml1", "edge")}, gpu_host(), loads=loads)
    (found,) = power.findings
    assert found.code == "power.correlated_recovery" and "router edge" in found.message
    apart = power_of({"main": breaker("fv-ml1"), "other": breaker("edge")}, gpu_host(), loads=loads)
    assert codes(apart.findings) == []


def test_a_router_with_a_second_feed_is_no_shared_fate() -> None:
    loads = {"edge": {"summary": "a router", "role": "router", "watts": figure(25)}}
    circuits = {"main": breaker("fv-ml1", "edge"), "other": breaker("edge")}
    assert codes(power_of(circuits, gpu_host(), loads=loads).findings) == []


def test_two_feeds_that_share_the_same_fate_are_one_finding() -> None:
    circuits = {"main": breaker("pdu"), "pdu": breaker("fv-ml1", "edge", kind="pdu")}
    loads = {"edge": {"summary": "a router", "role": "router", "watts": figure(25)}}
    (found,) = power_of(circuits, gpu_host(), loads=loads).findings
    assert found.evidence["devices"] == ["pdu", "main"], "of equal shares the lower one gives first"
    assert found.message.endswith("the same holds for main")


def test_a_site_without_circuits_has_no_finding() -> None:
    power = site_power(watt_cases.fleet(site({}), gpu_host()), "fv")
    assert (power.devices, power.first_to_give, power.findings) == ([], None, [])


def test_a_bmc_that_is_fed_apart_counts_with_its_own_draw() -> None:
    host = gpu_host(cards=1)
    bmc = {"address": "10.0.0.1", "draw": figure(10)}
    apart = Host.model_validate(
        {**host.model_dump(exclude_unset=True), "gpus": host.gpus, "power": host.power, "bmc": bmc}
    )
    power = power_of({"main": breaker("fv-ml1"), "unit": ups("fv-ml1/bmc")}, apart)
    assert carried(power) == {"main": 675, "unit": 10}
    assert [way.text for fate in power.shared_fate for way in fate.ways_in] == ["the BMC of fv-ml1"]
    assert power.shared_fate[1].device == "unit"
