"""VRAM per card: nothing over-fills a card, a reserve is kept, and every refusal shows its arithmetic."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_cases import CAPACITY_MIB, TOTAL_MIB, codes, flash_next, fleet, host, seat, service, stack

from gpu_seats.declare.selection import select
from gpu_seats.plan.deployment import plan_deployment
from gpu_seats.plan.fleet_plan import plan_fleet

FULL_SIZE_RESERVE = {
    "3": {"full_size_from": "80GiB", "tenants": "on_demand", "reason": "the only card for a full-size seat"}
}
TENANT = {"yields_to": "full-size", "reason": "up only while in use"}


def card_of(plan, card):
    return next(one for one in plan.cards if one.card == card)


def test_over_full_card_is_refused_with_the_arithmetic():
    small = seat(gpus=["2"], port=8030, claim={"vram": "16GiB"}, vllm={"gpu_memory_utilization": 0.15})
    both = fleet(stack("flash-next-seat", {"flash-next": flash_next()}), stack("new", {"new": small}))
    plan = plan_deployment(both, "fv-ml1", select(both, "new"))
    assert codes(plan.refusals) == ["vram.overcommitted"]
    assert plan.refusals[0].subject == "host:fv-ml1/gpu:2"
    assert plan.refusals[0].message == (
        "card 2 of fv-ml1: 97,887 MiB - 640 driver reserve = 97,247; flash-next 95,232 + new 16,384 = 111,616; "
        "over by 14,369 MiB"
    )


@pytest.mark.parametrize(
    ("sizes", "over"),
    [
        (["2015MiB"], None),
        (["2016MiB"], "over by 1 MiB"),
        (["2015.4MiB"], "flash-next 95,232 + s0 2,015.400 = 97,247.400; over by 0.400 MiB"),
        (["2014.9MiB", "0.1MiB"], None),
    ],
)
def test_a_card_may_be_full_to_the_brim_and_no_further(sizes, over):
    """Sums of broken sizes miss by parts of a byte, and a refusal never reads "over by 0"."""
    services = {f"s{n}": service(gpus=["2"], claim={"vram": size}) for n, size in enumerate(sizes)}
    both = fleet(stack("flash-next-seat", {"flash-next": flash_next()}), stack("small", services=services))
    found = [one for one in plan_fleet(both) if one.code == "vram.overcommitted"]
    assert [over in one.message for one in found] == ([] if over is None else [True])


def test_a_full_card_elsewhere_does_not_stop_a_seat_on_another_card():
    crowd = [
        stack(name, {name: seat(gpus=["1"], port=port, claim={"vram": "60GiB"})}) for name, port in (("a", 1), ("b", 2))
    ]
    mixed = fleet(*crowd, stack("c", {"c": seat(gpus=["0"], port=3)}))
    assert plan_deployment(mixed, "fv-ml1", select(mixed, "c")).refusals == []
    assert "vram.overcommitted" in codes(plan_fleet(mixed))


def test_budget_before_and_after():
    both = fleet(
        stack("a", {"a": seat(claim={"vram": "30GiB"})}), stack("b", {"b": seat(port=8001, claim={"vram": "40GiB"})})
    )
    card = card_of(plan_deployment(both, "fv-ml1", select(both, "b")), "0")
    assert (card.capacity_mib, card.before_mib, card.after_mib) == (CAPACITY_MIB, 30 * 1024, 70 * 1024)
    assert [claim.workload for claim in card.after] == ["a", "b"]


@pytest.mark.parametrize(
    ("over", "mib"),
    [
        ({"claim": {}, "vllm": {"gpu_memory_utilization": 0.5}}, 0.5 * TOTAL_MIB),
        ({"claim": {}, "vllm": {}}, 0.92 * TOTAL_MIB),
        (
            {
                "claim": {},
                "model": {"path": "/m", "weights": "40GiB"},
                "vllm": {"kv_cache_memory": "14GiB", "activation_peak": "2GiB", "max_num_batched_tokens": 8192},
            },
            56 * 1024,
        ),
        ({"claim": {"vram": "30GiB"}, "vllm": {"gpu_memory_utilization": 0.2}}, 30 * 1024),
        ({"claim": {"vram": "10GiB"}, "vllm": {"gpu_memory_utilization": 0.5}}, 0.5 * TOTAL_MIB),
    ],
    ids=["utilisation", "default utilisation", "pinned", "declared cap", "declared below the engine"],
)
def test_claim_is_the_declared_cap_or_what_the_engine_takes_if_that_is_more(over, mib):
    one = fleet(stack("a", {"a": seat(**over)}))
    assert card_of(plan_deployment(one, "fv-ml1", select(one, "a")), "0").after_mib == pytest.approx(mib)


def test_claim_below_the_engine_options_is_a_finding():
    one = fleet(stack("a", {"a": seat(claim={"vram": "10GiB"}, vllm={"gpu_memory_utilization": 0.5})}))
    found = [one for one in plan_fleet(one) if one.code == "vram.claim_too_small"]
    assert len(found) == 1 and "0.5 x 97,887 MiB = 48,944 MiB" in found[0].message


@pytest.mark.parametrize(
    "unknown",
    [
        service(gpus=["0"]),
        seat(engine="llamacpp", vllm=None, claim={}),
        seat(engine="other", vllm=None, claim={}),
        seat(claim={}, vllm={"kv_cache_memory": "14GiB", "max_num_batched_tokens": 8192}),
    ],
    ids=["service", "llamacpp", "other", "pinned without weights"],
)
def test_unknown_claim_is_an_error_and_never_zero(unknown):
    kind = "seats" if "engine" in unknown else "services"
    one = fleet(stack("a", **{kind: {"a": unknown}}))
    plan = plan_deployment(one, "fv-ml1", select(one, "a"))
    assert codes(plan.refusals) == ["vram.claim_unknown"]
    assert card_of(plan, "0").after[0].mib is None


def test_unknown_claim_of_a_neighbour_stops_the_deployment_of_a_seat_beside_it():
    both = fleet(stack("a", {"a": seat()}), stack("b", services={"b": service(gpus=["0"])}))
    assert "vram.claim_unknown" in codes(plan_deployment(both, "fv-ml1", select(both, "a")).refusals)


@pytest.mark.parametrize("state", ["dormant", "retired"])
def test_dormant_and_retired_claim_nothing(state):
    idle = seat(state=state, reason="gone", port=8001, claim={"vram": "90GiB"})
    both = fleet(stack("a", {"a": seat()}), stack("b", {"b": idle}))
    plan = plan_deployment(both, "fv-ml1", select(both, "all"))
    assert plan.refusals == []
    assert card_of(plan, "0").after_mib == 20 * 1024


def reserved_fleet(tenant=None, full=None, tenants="on_demand"):
    reserve = {"3": {**FULL_SIZE_RESERVE["3"], "tenants": tenants}}
    stacks = [stack("blender", services={"blender": tenant})] if tenant else []
    stacks += [stack("big", {"big": full})] if full else []
    return fleet(*stacks, hosts=[host(reserve=reserve)])


def test_small_serving_seat_is_kept_off_a_reserved_card():
    small = reserved_fleet(full=seat(gpus=["3"], claim={"vram": "6GiB"}, vllm={"gpu_memory_utilization": 0.05}))
    plan = plan_deployment(small, "fv-ml1", select(small, "big"))
    assert codes(plan.refusals) == ["vram.reserved"]
    assert "80.0 GiB or more (the only card for a full-size seat)" in plan.refusals[0].message


def test_full_size_seat_may_take_the_reserved_card():
    big = reserved_fleet(full=flash_next(gpus=["3"]))
    assert plan_deployment(big, "fv-ml1", select(big, "big")).refusals == []


def test_tenant_that_yields_may_use_the_reserved_card():
    tenant = service(state="on_demand", gpus=["3"], claim={"vram": "2GiB"}, on_demand=TENANT)
    light = reserved_fleet(tenant)
    plan = plan_deployment(light, "fv-ml1", select(light, "blender"))
    assert plan.refusals == []
    assert plan.stacks[0].workloads["blender"].run == "up"


def test_tenant_must_say_to_whom_it_yields_and_a_card_may_take_none():
    silent = reserved_fleet(service(state="on_demand", gpus=["3"], claim={"vram": "2GiB"}))
    assert codes(plan_fleet(silent)) == ["vram.tenant_undeclared"]
    closed = reserved_fleet(
        service(state="on_demand", gpus=["3"], claim={"vram": "2GiB"}, on_demand=TENANT), tenants="none"
    )
    assert codes(plan_fleet(closed)) == ["vram.reserved"]


def test_tenant_is_refused_where_the_seat_it_yields_to_serves():
    tenant = service(state="on_demand", gpus=["3"], claim={"vram": "2GiB"}, on_demand=TENANT)
    taken = reserved_fleet(tenant, flash_next(gpus=["3"]))
    plan = plan_deployment(taken, "fv-ml1", select(taken, "blender"))
    assert codes(plan.refusals) == ["vram.tenant_must_yield"]


def test_running_tenant_steps_aside_first_when_a_full_size_seat_comes():
    tenant = service(state="on_demand", gpus=["3"], claim={"vram": "2GiB"}, on_demand=TENANT)
    taken = reserved_fleet(tenant, flash_next(gpus=["3"]))
    labels = {"gpu-seats.stack": "blender", "gpu-seats.service": "blender"}
    running = {"docker": {"available": True, "containers": [{"name": "blender", "running": True, "labels": labels}]}}
    plan = plan_deployment(taken, "fv-ml1", select(taken, "big"), running)
    assert [one.stack for one in plan.stacks] == ["blender", "big"]
    assert plan.stacks[0].workloads["blender"].run == "stopped"
    assert "vram.tenant_steps_aside" in codes(plan.findings)
    assert [claim.workload for claim in card_of(plan, "3").after] == ["big"]


def test_on_demand_tenant_must_fit_beside_all_serving_seats_but_those_it_yields_to():
    tenant = service(state="on_demand", claim={"vram": "80GiB"}, gpus=["0"], on_demand={**TENANT, "yields_to": "a"})
    beside = fleet(stack("a", {"a": seat(claim={"vram": "30GiB"})}), stack("t", services={"t": tenant}))
    assert "vram.tenant_does_not_fit" not in codes(plan_fleet(beside))
    stubborn = service(state="on_demand", claim={"vram": "80GiB"}, gpus=["0"])
    tight = fleet(stack("a", {"a": seat(claim={"vram": "30GiB"})}), stack("t", services={"t": stubborn}))
    assert "vram.tenant_does_not_fit" in codes(plan_fleet(tight))


def test_tenant_beside_a_seat_that_sizes_itself_by_total_is_warned_about():
    tenant = service(state="on_demand", claim={"vram": "1GiB"}, gpus=["0"])
    beside = fleet(stack("a", {"a": seat()}), stack("t", services={"t": tenant}))
    assert codes(plan_fleet(beside)) == ["vram.total_sized_neighbour"]
    pinned = seat(vllm={"kv_cache_memory": "2GiB", "max_num_batched_tokens": 2048})
    calm = fleet(stack("a", {"a": pinned}), stack("t", services={"t": tenant}))
    assert codes(plan_fleet(calm)) == []


def test_a_tenant_does_not_land_on_the_card_that_it_leaves():
    there = service(state="on_demand", gpus=["3"], claim={"vram": "5GiB"}, on_demand={**TENANT, "lands_on": "fv-ml1/3"})
    found = plan_fleet(fleet(stack("t", services={"t": there})))
    assert codes(found) == ["vram.tenant_lands_nowhere"]
    assert "steps aside from" in found[0].message


def test_landing_spot_must_have_room():
    landing = service(
        state="on_demand", gpus=["3"], claim={"vram": "50GiB"}, on_demand={**TENANT, "lands_on": "irv-ml1/0"}
    )
    there = seat(claim={"vram": "60GiB"}, port=9000)
    here, other = host(), host("irv-ml1", 1)
    crowded = fleet(stack("t", services={"t": landing}), stack("b", {"b": there}, host="irv-ml1"), hosts=[here, other])
    assert "vram.tenant_lands_nowhere" in codes(plan_fleet(crowded))
    free = fleet(stack("t", services={"t": landing}), hosts=[here, other])
    assert codes(plan_fleet(free)) == []


SEATS = st.lists(
    st.tuples(
        st.sampled_from(["serving", "serving", "on_demand", "dormant"]),
        st.integers(min_value=1, max_value=95),
        st.sampled_from(["0", "1"]),
    ),
    max_size=7,
)


def fleet_of(rows):
    return fleet(
        *(
            stack(
                f"s{index}",
                {
                    f"s{index}": seat(
                        state=state,
                        gpus=[card],
                        port=8100 + index,
                        claim={"vram": f"{gib}GiB"},
                        vllm={"gpu_memory_utilization": 0.01},
                    )
                },
            )
            for index, (state, gib, card) in enumerate(rows)
        ),
        hosts=[host(cards=2)],
    )


@settings(max_examples=60, deadline=None)
@given(SEATS)
def test_whatever_is_not_refused_fits_on_every_card_it_touches(rows):
    everything = fleet_of(rows)
    plan = plan_deployment(everything, "fv-ml1", select(everything, "all"))
    touched = {
        card
        for one in plan.stacks
        for workload in one.workloads.values()
        if workload.run == "up"
        for card in workload.cards
    }
    for card in plan.cards:
        fits = card.after_mib <= card.capacity_mib
        assert fits or plan.refusals or card.card not in touched
        if card.card in touched and not plan.refusals:
            assert fits


@settings(max_examples=60, deadline=None)
@given(SEATS, st.integers(min_value=1, max_value=95), st.sampled_from(["0", "1"]))
def test_adding_a_seat_never_lowers_what_a_card_holds(rows, gib, card):
    def after(rows):
        every = fleet_of(rows)
        return [one.after_mib for one in plan_deployment(every, "fv-ml1", select(every, "all")).cards]

    if rows:
        pairs = zip(after(rows), after([*rows, ("serving", gib, card)]))
        assert all(more >= less for less, more in pairs)
