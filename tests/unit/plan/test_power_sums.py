"""Sums of devices against a second way to count them, and trees of sizes that no site has.

Protects: what a device carries does not depend on how the planner walks, and no depth or number of ways makes it fail
or slow.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from test_power_properties import QUICK, fleets
from watt_cases import breaker, fleet, site, small_host, ups

from gpu_seats.declare.fleet import Fleet
from gpu_seats.declare.site import Circuit
from gpu_seats.plan.power import site_power
from gpu_seats.plan.power.tree import Tree
from gpu_seats.report.power_picture import power_svg
from gpu_seats.report.power_tree import power_tree_text

LONG = 1100
"""More devices than Python lets calls stand in each other."""


def ways_down(circuits: dict[str, Circuit], name: str, is_above: bool = False) -> list[tuple[str, float]]:
    """(load, factor) at the end of every single way from a device down, each way followed by itself.

    is_above: seen from what feeds the device, so past its inverter and through its losses too.
    """
    device = circuits[name]
    if not device.in_use:
        return []
    loss = 1 / device.efficiency if device.efficiency and is_above else 1.0
    outlets = [(fed, loss) for fed in device.feeds] + [(fed, 1.0) for fed in device.bypass if is_above]
    found = []
    for fed, factor in outlets:
        lower = ways_down(circuits, fed, True) if fed in circuits else [(fed, 1.0)]
        found += [(load, below * factor) for load, below in lower]
    return found


@QUICK
@given(fleets())
def test_each_device_carries_the_sum_over_all_ways_down_each_load_once(declared: Fleet) -> None:
    power = site_power(declared, "fv")
    circuits = {device.name: device.circuit for device in power.devices}
    draws = {load.name: load.draw for load in power.loads}
    for device in power.devices:
        worst: dict[str, float] = {}
        for load, factor in ways_down(circuits, device.name):
            worst[load] = max(factor, worst.get(load, 0.0))
        for end in ("watts", "low_watts", "high_watts"):
            expected = sum(getattr(draws[load], end) * factor for load, factor in worst.items())
            assert abs(getattr(device.draw, end) - expected) < 1e-6 * max(1.0, expected)


@QUICK
@given(fleets())
def test_a_device_comes_after_all_that_feed_it(declared: Fleet) -> None:
    order = Tree(declared.sites["fv"].circuits).in_order()
    places = {name: place for place, name in enumerate(order)}
    assert sorted(order) == sorted(declared.sites["fv"].circuits)
    assert all(
        places[above] < places[name] for name in order for above in Tree(declared.sites["fv"].circuits).parents(name)
    )


def chain(names: list[str], *last: str) -> dict[str, Any]:
    made = {above: breaker(below) for above, below in pairwise(names)}
    return {**made, names[-1]: breaker(*last)}


def test_a_chain_of_any_length_is_summed_up_and_drawn() -> None:
    names = [f"d{number}" for number in range(LONG)]
    power = site_power(fleet(site(chain(names, "box")), small_host("box", 500)), "fv")
    assert [device.name for device in power.devices] == names
    assert {device.draw.watts for device in power.devices} == {500}
    assert power.shared_fate[0].goes_dark == ["box"]
    document = power.as_dict()
    lines = power_tree_text(document).splitlines()
    assert max(map(len, lines)) <= 100 and sum("worst case 500 W" in line for line in lines) == LONG
    assert power_svg(document).count('class="node') >= LONG


def test_diamonds_one_below_another_have_no_ways_to_count() -> None:
    """Two ways at each of sixty levels are 2 ** 60 ways to the load at the bottom."""
    made: dict[str, Any] = {"main": breaker("a0", "b0")}
    for level in range(60):
        lower = [f"a{level + 1}", f"b{level + 1}"] if level < 59 else ["box"]
        made[f"a{level}"] = breaker(*lower)
        made[f"b{level}"] = ups(*lower[:1], bypass=lower[1:], efficiency=0.9, rating_va=1e5)
    power = site_power(fleet(site(made), small_host("box", 100)), "fv")
    highest = 100 / 0.9**30  # a unit's inverter leads to the left one, which is none: a loss at every second level
    assert abs(power.device("main").draw.watts - highest) < 1e-6 * highest
    assert power.device("a0").goes_dark == [], "the other way is still there"
    assert power.device("main").goes_dark == [], "the batteries on the way are"
    assert power.device("main").on_battery == ["box"]
