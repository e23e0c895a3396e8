"""Rules of the planner that hold for every tree of devices and every load.

Protects: no load lowers a sum, nothing above carries less than what is below it, ranges stay in order, a higher cap
never looks safer, and a load is never lost between two devices.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from watt_cases import breaker, figure, fleet, gpu_host, site, small_host, ups

from gpu_seats.declare.fleet import Fleet
from gpu_seats.declare.host import Host
from gpu_seats.plan.power import parse_what_if, site_power

NAMES = ("a", "b", "c", "d", "e")
WATTS = st.floats(0, 3000, allow_nan=False, allow_infinity=False).map(lambda watts: round(watts, 1))
QUICK = settings(max_examples=60, deadline=None)


@st.composite
def figures(draw: st.DrawFn) -> dict[str, Any]:
    low, middle, high = sorted(draw(st.tuples(WATTS, WATTS, WATTS)))
    return figure(middle, low=low, high=high)


@st.composite
def gpu_hosts(draw: st.DrawFn) -> Host:
    loss = {"reads": draw(st.sampled_from(["ac", "dc", "unknown"])), "low": 0.05, "high": 0.12, "reason": "r"}
    return gpu_host(
        cards=draw(st.integers(1, 4)),
        baseline=draw(figures()),
        under_load=draw(figures()),
        card_idle=draw(st.none() | figures()),
        supply_loss=draw(st.none() | st.just(loss)),
        caps={"limit": f"{draw(st.integers(100, 400))}W", "reason": "r"},
    )


@st.composite
def circuits(draw: st.DrawFn, plain: bool = False) -> dict[str, Any]:
    """Up to five devices; each feeds only devices after it, so there is no ring, and any of the loads."""
    count = draw(st.integers(1, len(NAMES)))
    made = {}
    for number, name in enumerate(NAMES[:count]):
        lower = draw(st.lists(st.sampled_from(NAMES[number + 1 : count]), unique=True)) if number + 1 < count else []
        loads = draw(st.lists(st.sampled_from(["fv-ml1", "box", "edge"]), unique=True))
        in_use = plain or draw(st.booleans())
        if draw(st.booleans()) and not plain:
            split = draw(st.integers(0, len(loads)))
            efficiency = draw(st.none() | st.sampled_from([0.5, 0.8, 1.0]))
            made[name] = ups(*lower, *loads[:split], bypass=loads[split:], in_use=in_use, efficiency=efficiency)
        else:
            made[name] = breaker(*lower, *loads, amps=draw(st.integers(1, 40)), in_use=in_use)
    return made


@st.composite
def fleets(draw: st.DrawFn, plain: bool = False) -> Fleet:
    declared = site(draw(circuits(plain=plain)), loads={"edge": {"summary": "s", "watts": draw(figures())}})
    box = small_host("box", 0)
    box = Host.model_validate({**box.model_dump(exclude_unset=True), "power": {"under_load": draw(figures())}})
    return fleet(declared, draw(gpu_hosts()), box)


@QUICK
@given(fleets(), WATTS)
def test_a_new_load_never_lowers_what_a_device_carries(declared: Fleet, watts: float) -> None:
    devices = site_power(declared, "fv").devices
    before = {one.name: one.draw for one in devices}
    in_use = {one.name for one in devices if one.circuit.in_use}
    for device in before:
        asked = parse_what_if(f"load=new@{device}:{watts}")
        after = {one.name: one.draw for one in site_power(declared, "fv", asked).devices}
        for name, draw in after.items():
            assert draw.watts >= before[name].watts and draw.high_watts >= before[name].high_watts
        if device in in_use:
            assert abs(after[device].watts - before[device].watts - watts) < 1e-6


@QUICK
@given(fleets(plain=True))
def test_a_device_carries_at_least_what_each_one_below_it_carries(declared: Fleet) -> None:
    devices = {one.name: one for one in site_power(declared, "fv").devices}
    for device in devices.values():
        for parent in device.parents:
            assert devices[parent].draw.watts >= device.draw.watts - 1e-6
            assert set(devices[parent].loads) >= set(device.loads)


@QUICK
@given(fleets(), st.dictionaries(st.sampled_from("0123"), WATTS), st.sets(st.sampled_from("0123")))
def test_every_range_is_in_order(declared: Fleet, limits: dict[str, float], loaded: set[str]) -> None:
    for asked in (None, {}, {"fv-ml1": loaded}):
        power = site_power(declared, "fv", loaded=asked, limits={"fv-ml1": limits})
        terms = [term for load in power.loads for term in load.terms]
        for draw in [*(one.draw for one in power.devices), *(term.draw for term in terms)]:
            assert 0 <= draw.low_watts <= draw.watts + 1e-9 <= draw.high_watts + 2e-9


@QUICK
@given(fleets(), st.integers(1, 500), st.integers(1, 500))
def test_a_higher_cap_is_never_less_load(declared: Fleet, one: int, other: int) -> None:
    low, high = sorted((one, other))
    lower, higher = (site_power(declared, "fv", parse_what_if(f"limit={watts}")) for watts in (low, high))
    for below, above in zip(lower.devices, higher.devices):
        assert below.draw.watts <= above.draw.watts + 1e-6
        assert below.draw.high_watts <= above.draw.high_watts + 1e-6


@QUICK
@given(fleets(), st.dictionaries(st.sampled_from("0123"), WATTS))
def test_observed_limits_never_hide_a_declared_cap(declared: Fleet, limits: dict[str, float]) -> None:
    capped, seen = site_power(declared, "fv"), site_power(declared, "fv", limits={"fv-ml1": limits})
    for one, other in zip(capped.devices, seen.devices):
        assert other.draw.watts >= one.draw.watts - 1e-6


@QUICK
@given(fleets())
def test_a_load_is_counted_below_a_device_in_use_or_told_to_be_on_none(declared: Fleet) -> None:
    power = site_power(declared, "fv")
    hung = {name for one in power.devices for name in one.loads}
    told = {one.subject.partition(":")[2] for one in power.findings if one.code == "power.not_on_a_circuit"}
    assert hung | told == {load.name for load in power.loads}
    assert not hung & told


@QUICK
@given(fleets())
def test_what_goes_dark_is_below_the_device_and_on_no_battery(declared: Fleet) -> None:
    for device in site_power(declared, "fv").devices:
        assert set(device.goes_dark) <= set(device.loads)
        assert not set(device.goes_dark) & set(device.on_battery)


@QUICK
@given(fleets())
def test_the_first_to_give_has_the_largest_share_of_its_rating(declared: Fleet) -> None:
    power = site_power(declared, "fv")
    shares = [one.share_of_absolute for one in power.devices if one.circuit.in_use and one.share_of_absolute]
    if power.first_to_give is None:
        assert not shares
    else:
        assert power.first_to_give["share_of_absolute"] == max(shares)
