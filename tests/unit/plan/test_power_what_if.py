"""Questions beyond the declaration: each is read as it is meant, or refused with what may be asked.

Protects: no question is guessed at, and a declaration is never changed by one.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from watt_cases import breaker, fleet, gpu_host, site, small_host, ups

from gpu_seats.plan.power import WhatIf, WhatIfError, parse_what_if, site_power

DECLARED = fleet(
    site({"main": breaker("fv-ml1", "box", "unit"), "unit": ups("box", in_use=False)}),
    gpu_host(),
    small_host("box", 100),
)


def watts(question: str, device: str = "main") -> float:
    return site_power(DECLARED, "fv", parse_what_if(question)).device(device).draw.watts


def test_every_key_is_read() -> None:
    asked = parse_what_if(
        "gpus=4, limit=300, loaded=2,in_use=fv-ups+fv-ups-inlet,out=nas,load=x:0.2kW,load=y@main:5W,host=h"
    )
    assert (asked.gpus, asked.limit_watts, asked.loaded, asked.host) == (4, 300, 2, "h")
    assert asked.in_use == ("fv-ups", "fv-ups-inlet") and asked.out == ("nas",)
    assert [tuple(load) for load in asked.loads] == [("x", 200, None), ("y", 5, "main")]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("", 4 * 275 + 400 + 100),
        ("gpus=0", 400 + 100),
        ("gpus=2", 2 * 275 + 400 + 100),
        ("gpus=5", 5 * 275 + 400 + 100),
        ("gpus=5,limit=300,loaded=3", 3 * 300 + 2 * 10 + 400 + 100),
        ("loaded=0", 4 * 10 + 313 + 100),
        ("out=box", 4 * 275 + 400),
        ("load=box:150W", 4 * 275 + 400 + 150),
        ("load=fv-ml1:900W", 900 + 100),
        ("load=nas:50W", 4 * 275 + 400 + 150),
        ("in_use=unit,load=nas@unit:50W", 4 * 275 + 400 + 150),
        ("limit=260W,host=fv-ml1", 4 * 260 + 400 + 100),
    ],
)
def test_what_is_asked_is_what_is_summed(question: str, expected: float) -> None:
    assert watts(question) == expected


def test_the_cards_with_the_highest_limits_are_those_under_load() -> None:
    host = gpu_host(caps={"limit": "250W", "cards": {"2": "290W"}, "reason": "r"})
    declared = fleet(site({"main": breaker("fv-ml1")}), host)
    assert site_power(declared, "fv", parse_what_if("loaded=1")).device("main").draw.watts == 290 + 3 * 10 + 400


def test_a_device_that_goes_leaves_its_loads_on_no_circuit() -> None:
    power = site_power(DECLARED, "fv", parse_what_if("out=main"))
    assert {one.code for one in power.findings} == {"power.not_on_a_circuit"}


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("gpu=3", ["'gpu' cannot be asked", "did you mean gpus?", "limit=<watts>"]),
        ("gpus", ["'gpus' asks nothing", "write key=value"]),
        ("gpus=", ["asks nothing"]),
        ("gpus=four", ["gpus=four is no number of cards", "0 to 999"]),
        ("gpus=-1", ["gpus=-1 is no number of cards"]),
        ("limit=hot", ["limit=hot is no power", "limit=300W"]),
        ("limit=-5W", ["limit=-5W is no power"]),
        ("limit=1kVA", ["limit=1kVA is no power"]),
        ("gpus=1,gpus=2", ["gpus is asked twice", "'1' and '2'"]),
        ("load=nas", ["load=nas is no load with its watts", "load=<name>@<device>:<watts>"]),
        ("load=nas:much", ["load=nas:much is no power", "like load=nas:300W"]),
        ("load=nas:5W,load=nas:6W", ["load=nas is asked twice"]),
        ("limit=0", ["limit=0 is no limit of a card", "more than 0 W", "out=<host>"]),
        ("limit=99999999999", ["more than a site has"]),
        ("gpus=\u0664", ["is no number of cards"]),
        ("in_use=unit,out=unit", ["in_use=unit and out=unit ask for opposites"]),
        ("out=fv-ml1,gpus=2", ["out=fv-ml1 leaves nothing of its cards to ask about"]),
        ("load=fv-ml1:5W,limit=250", ["load=fv-ml1 leaves nothing of its cards"]),
        ("out=main,in_use=unit", ["in_use=unit hangs below main alone, which out takes away"]),
        ("loaded=9", ["loaded=9: fv-ml1 then has 4 cards"]),
        ("in_use=unti", ["in_use=unti names nothing of this site", "did you mean unit?", "main, unit"]),
        ("out=bxo", ["out=bxo names nothing", "did you mean box?"]),
        ("load=nas@mian:5W", ["load=nas@mian: the device", "names nothing of this site", "did you mean main?"]),
        ("load=box@unit:5W", ["box hangs where it is declared", "leave @unit out"]),
        ("load=main:5W", ["main is a device, not a load"]),
        ("host=box,limit=300", ["host=box declares no cards", "allowed: fv-ml1"]),
        ("host=bxo,limit=300", ["host=bxo names nothing of this site", "fv-ml1"]),
        ("host=fv-ml1", ["asks nothing by itself", "gpus, limit or loaded"]),
    ],
)
def test_a_question_that_cannot_be_asked_says_what_can(question: str, told: list[str]) -> None:
    with pytest.raises(WhatIfError) as refused:
        site_power(DECLARED, "fv", parse_what_if(question))
    assert all(part in str(refused.value) for part in told), str(refused.value)


def test_a_new_load_needs_its_device_where_there_are_several() -> None:
    declared = fleet(site({"a": breaker("box"), "b": breaker()}), small_host("box", 100))
    with pytest.raises(WhatIfError, match="load=nas@<device>:<watts>; devices: a, b"):
        site_power(declared, "fv", parse_what_if("load=nas:5W"))


def test_cards_need_their_host_where_there_are_several() -> None:
    declared = fleet(site({"a": breaker("fv-ml1", "fv-ml2")}), gpu_host(), gpu_host("fv-ml2"))
    with pytest.raises(WhatIfError, match="add host=<host>, one of fv-ml1, fv-ml2"):
        site_power(declared, "fv", parse_what_if("loaded=1"))
    one = site_power(declared, "fv", parse_what_if("loaded=1,host=fv-ml2")).device("a").draw.watts
    assert one == 4 * 275 + 400 + 275 + 3 * 10 + 400
    both = site_power(declared, "fv", parse_what_if("limit=250")).device("a").draw.watts
    assert both == 2 * (4 * 250 + 400)


def test_cards_are_not_asked_of_a_site_without_any() -> None:
    declared = fleet(site({"a": breaker("box")}), small_host("box", 100))
    with pytest.raises(WhatIfError, match="no host of this site declares any"):
        site_power(declared, "fv", parse_what_if("limit=300"))


def test_nothing_asked_is_nothing_changed() -> None:
    assert not parse_what_if("") and not WhatIf() and parse_what_if("limit=300")
    assert site_power(DECLARED, "fv", parse_what_if(" , ")).as_dict() == site_power(DECLARED, "fv").as_dict()


def test_a_host_of_another_site_is_told_from_one_that_is_unknown() -> None:
    other = gpu_host("far").model_copy(update={"site": "elsewhere"})
    declared = fleet(site({"a": breaker("fv-ml1")}), gpu_host(), other)
    with pytest.raises(WhatIfError, match="host=far is of site elsewhere; allowed: fv-ml1"):
        site_power(declared, "fv", parse_what_if("host=far,limit=300"))


def test_a_unit_that_comes_in_use_brings_what_feeds_it() -> None:
    """The inlet that a unit hangs on carries what the unit carries, whoever forgot to ask for it."""
    circuits = {
        "main": breaker("box", "inlet"),
        "inlet": breaker("unit", kind="inlet", in_use=False),
        "unit": ups("box", in_use=False),
    }
    declared = fleet(site(circuits), small_host("box", 100))
    named, both = (site_power(declared, "fv", parse_what_if(f"in_use={one}")) for one in ("unit", "unit+inlet"))
    assert [one.draw.watts for one in named.devices] == [one.draw.watts for one in both.devices] == [100, 100, 100]


def test_what_hangs_below_a_device_that_goes_goes_too() -> None:
    declared = fleet(site({"main": breaker("pdu"), "pdu": breaker("box", kind="pdu")}), small_host("box", 100))
    power = site_power(declared, "fv", parse_what_if("out=main"))
    assert [one.draw.watts for one in power.devices] == [0, 0]
    assert [one.code for one in power.findings] == ["power.not_on_a_circuit"]


def test_a_limit_above_what_the_card_takes_is_a_finding_also_without_a_ceiling() -> None:
    caps = {"limit": "275W", "reason": "r", "above_stock": {"date": "2026-09-30", "reason": "r"}}
    declared = fleet(site({"main": breaker("fv-ml1", amps=40)}), gpu_host(caps=caps))
    (found,) = site_power(declared, "fv", parse_what_if("limit=326")).findings
    assert found.code == "power.cap_above_ceiling" and "above 325 W, the most that the card takes" in found.message


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        site_power(DECLARED, "fv", parse_what_if(text))
    except WhatIfError as refused:
        assert str(refused)
