"""A deployment asks for the watts of its cards before it touches anything.

Protects: a seat that would break a limit is refused with the arithmetic, what is only possible is a warning, what
nobody declared is refused, and a host whose site declares no circuits is planned as ever.
"""

from __future__ import annotations

from typing import Any

from plan_cases import bus_of, codes, seat, stack, uuid_of
from watt_cases import breaker, fleet, gpu_host, site, small_host, ups

from gpu_seats.declare.fleet import Fleet
from gpu_seats.declare.host import Host
from gpu_seats.declare.selection import select
from gpu_seats.declare.site import Site
from gpu_seats.declare.stack import Stack
from gpu_seats.plan.deployment import DeploymentPlan, plan_deployment

ONE = stack("one-seat", {"one": seat(gpus=["0"], port=8001)})
TWO = stack("two-seat", {"two": seat(gpus=["1"], port=8002)})
LATER = stack("later-seat", {"later": seat(gpus=["2"], port=8003, state="on_demand")})
ON_UPS = site(
    {"unit": ups("fv-ml1", "edge")},
    loads={"edge": {"summary": "s", "watts": {"watts": "125W", "standing": "estimate"}}},
)


def planned(
    declared: Site, name: str, *stacks: Stack, host: Host | None = None, others: tuple[Host, ...] = (), **observed: Any
) -> DeploymentPlan:
    made = fleet(declared, host or gpu_host(), *others, stacks=stacks)
    return plan_deployment(made, "fv-ml1", select(made, name), observed or None)


def watt_codes(plan: DeploymentPlan) -> tuple[list[str], list[str]]:
    """Codes of power that refuse, and that only warn."""
    return (
        [one.code for one in plan.refusals if one.code.startswith("power.")],
        [one.code for one in plan.findings if one.code.startswith("power.")],
    )


def card(number: int, **over: Any) -> dict[str, Any]:
    return {
        "index": number,
        "uuid": uuid_of(number),
        "bus_id": bus_of(number),
        "memory_total_mib": 97887.0,
        "memory_free_mib": 97000.0,
        "power_limit_watts": 275.0,
        "enforced_power_limit_watts": 275.0,
        **over,
    }


def test_a_second_loaded_card_behind_the_ups_is_refused_with_the_arithmetic() -> None:
    """The plan that nobody made on 2026-09-13."""
    plan = planned(ON_UPS, "two", ONE, TWO)
    assert watt_codes(plan) == (["power.over_absolute"], [])
    (refusal,) = (one for one in plan.refusals if one.code.startswith("power."))
    assert refusal.subject == "site:fv/circuit:unit"
    assert refusal.message == (
        "unit (ups, 1500 VA x 0.6 = 900 W): fv-ml1 2 x 275 W cards + 2 x 10 W idle cards + 400 W machine under load = "
        "970 W; edge 125 W (estimate); together 1095 W; over 900 W by 195 W"
    )
    assert "gpu-seats power --site fv --what-if" in refusal.remedy


def test_one_loaded_card_behind_the_ups_is_let_through() -> None:
    assert watt_codes(planned(ON_UPS, "one", ONE)) == ([], [])


def test_an_on_demand_seat_counts_only_where_it_starts() -> None:
    assert watt_codes(planned(ON_UPS, "one", ONE, LATER)) == ([], [])
    assert watt_codes(planned(ON_UPS, "later", ONE, LATER)) == (["power.over_absolute"], [])


def test_what_runs_now_counts_although_it_is_on_demand() -> None:
    container = {
        "id": "c1", "name": "later", "running": True,
        "labels": {
            "com.docker.compose.project": "later-seat", "com.docker.compose.service": "later",
            "gpu-seats.stack": "later-seat", "gpu-seats.seat": "later",
        },
    }  # fmt: skip
    docker = {"available": True, "compose_version": "2.40.0", "containers": [container]}
    plan = planned(ON_UPS, "one", ONE, LATER, docker=docker)
    assert watt_codes(plan) == (["power.over_absolute"], [])


def test_only_the_high_end_over_is_a_warning() -> None:
    loss = {"reads": "unknown", "reason": "r"}
    tight = site({"main": breaker("fv-ml1", amps=10)})
    plan = planned(
        tight, "two", ONE, TWO, host=gpu_host(supply_loss=loss, card_idle=None, caps={"limit": "130W", "reason": "r"})
    )
    assert watt_codes(plan) == ([], ["power.over_possible"])


def test_a_limit_that_a_card_enforces_above_its_cap_counts() -> None:
    """Caps are lost when the driver is loaded anew; the card then runs at stock whatever is declared."""
    declared = site({"main": breaker("fv-ml1", amps=20, volts=64)})  # 1024 W for hours
    cards = {number: card(number) for number in range(4)}
    docker = {"available": True, "compose_version": "2.40.0", "containers": []}
    held = planned(declared, "two", ONE, TWO, docker=docker, gpus={"cards": list(cards.values()), "processes": []})
    assert watt_codes(held) == ([], [])
    lost = [card(number, enforced_power_limit_watts=325.0) for number in range(4)]
    refused = planned(declared, "two", ONE, TWO, docker=docker, gpus={"cards": lost, "processes": []})
    assert watt_codes(refused) == (["power.over_continuous"], [])
    assert "2 x 325 W cards" in next(one.message for one in refused.refusals if one.code == "power.over_continuous")


def test_a_card_whose_limit_cannot_be_read_counts_at_stock_and_says_so() -> None:
    declared = site({"main": breaker("fv-ml1", amps=20, volts=63)})  # 1008 W for hours
    docker = {"available": True, "compose_version": "2.40.0", "containers": []}
    silent = {"power_limit_watts": None, "enforced_power_limit_watts": None}
    for unread, expected in (((), ([], [])), ((0, 3), ([], ["power.cap_unreadable"]))):
        cards = [card(number, **(silent if number in unread else {})) for number in range(4)]
        plan = planned(declared, "two", ONE, TWO, docker=docker, gpus={"cards": cards, "processes": []})
        assert watt_codes(plan) == expected, "card 3 is not loaded, and idles whatever its limit is"
    tight = site({"main": breaker("fv-ml1", amps=20, volts=62)})  # 992 W: 970 W fit, 995 W do not
    plan = planned(tight, "two", ONE, TWO, docker=docker, gpus={"cards": cards, "processes": []})
    assert watt_codes(plan) == (["power.over_continuous"], ["power.cap_unreadable"])
    (told,) = (one for one in plan.findings if one.code == "power.cap_unreadable")
    assert told.message == (
        "card 0 of fv-ml1 gives no power limit, so whether its cap of 275 W holds is not known: it counts with its "
        "stock limit, 300 W"
    )


def test_a_card_that_nobody_declared_is_refused() -> None:
    cards = [card(number) for number in range(3)]
    docker = {"available": True, "compose_version": "2.40.0", "containers": []}
    host = gpu_host(cards=2)
    plan = planned(
        site({"main": breaker("fv-ml1")}), "one", ONE, host=host, docker=docker, gpus={"cards": cards, "processes": []}
    )
    assert watt_codes(plan) == (["power.load_unknown"], [])
    text = next(one.message for one in plan.refusals if one.code == "power.load_unknown")
    assert "shows 3 cards and declares 2" in text and uuid_of(2) in text


def test_another_box_on_the_circuit_needs_its_load_in_the_declaration_first() -> None:
    other = Host.model_validate({"host": "box", "site": "fv", "summary": "s"})
    plan = planned(site({"main": breaker("fv-ml1", "box")}), "one", ONE, others=(other,))
    assert watt_codes(plan) == (["power.load_unknown"], [])
    assert "box hangs below main of site fv" in plan.refusals[0].message
    apart = planned(site({"main": breaker("fv-ml1"), "second": breaker("box")}), "one", ONE, others=(other,))
    assert watt_codes(apart) == ([], []), "a circuit that this host has no part in is none of its business"


def test_serving_cards_of_another_host_on_the_circuit_count() -> None:
    other = gpu_host("fv-ml2")
    busy = Stack.model_validate(
        {"stack": "busy-seat", "host": "fv-ml2", "summary": "s", "seats": {"busy": seat(gpus=["0", "1"], port=8001)}}
    )
    declared = site({"main": breaker("fv-ml1", "fv-ml2", amps=17)})
    assert watt_codes(planned(declared, "one", ONE, others=(other,))) == ([], [])
    assert watt_codes(planned(declared, "one", ONE, busy, others=(other,))) == (["power.over_continuous"], [])


def test_a_seat_without_a_card_is_not_asked_for_watts() -> None:
    cpu = stack("cpu-seat", {"cpu": seat(gpus=[], claim=None, engine="other", vllm=None, port=8009)})
    assert watt_codes(planned(ON_UPS, "cpu", ONE, TWO, cpu)) == ([], [])


def test_a_site_without_circuits_says_nothing_of_power() -> None:
    assert watt_codes(planned(site({}), "two", ONE, TWO, host=gpu_host(caps=None, under_load=None, baseline=None))) == (
        [],
        [],
    )
    undeclared = Fleet(hosts={"fv-ml1": gpu_host()}, stacks={"one-seat": ONE})
    assert codes(plan_deployment(undeclared, "fv-ml1", select(undeclared, "one")).refusals) == []


def test_a_host_that_hangs_on_no_device_in_use_is_refused() -> None:
    declared = site({"main": breaker(in_use=True), "unit": ups("fv-ml1", in_use=False)})
    assert watt_codes(planned(declared, "one", ONE)) == (["power.not_on_a_circuit"], [])


def test_a_host_without_cards_on_the_circuit_counts_with_its_worst_case() -> None:
    declared = site({"main": breaker("fv-ml1", "box", amps=10)})
    assert watt_codes(planned(declared, "one", ONE, others=(small_host("box", 250),))) == ([], [])
    assert watt_codes(planned(declared, "one", ONE, others=(small_host("box", 400),))) == (
        ["power.over_continuous"],
        [],
    )
