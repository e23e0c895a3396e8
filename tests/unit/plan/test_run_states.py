"""What becomes of each container: only what was asked for is started, and nothing is lost from a file."""

from __future__ import annotations

import json

import pytest
from plan_cases import codes, fleet, seat, service, stack

from gpu_seats.declare.selection import select
from gpu_seats.plan.deployment import plan_deployment

TENANT = {"yields_to": "full-size", "reason": "in use only"}


def runs(asked, **workloads):
    one = fleet(stack("s", **workloads))
    plan = plan_deployment(one, "fv-ml1", select(one, asked))
    return {name: planned.run for stack_plan in plan.stacks for name, planned in stack_plan.workloads.items()}


@pytest.mark.parametrize(
    ("state", "asked", "run"),
    [
        ("serving", "x", "up"),
        ("serving", "all", "up"),
        ("on_demand", "x", "up"),
        ("on_demand", "s", "up"),
        ("on_demand", "all", "keep"),
        ("dormant", "x", "stopped"),
        ("dormant", "all", "stopped"),
    ],
)
def test_state_and_way_of_asking_decide(state, asked, run):
    rule = {"on_demand": TENANT} if state == "on_demand" else {}
    assert runs(asked, seats={"x": seat(state=state, **rule)}) == {"x": run}


def test_others_of_the_stack_are_kept_as_they_are():
    found = runs("x", seats={"x": seat(), "y": seat(port=8001, gpus=["1"]), "z": seat(state="retired", reason="lost")})
    assert found == {"x": "up", "y": "leave", "z": "absent"}


def test_dormant_stack_without_known_facts_is_left_alone():
    bare = fleet(stack("s", {"x": seat(state="dormant", image=None)}), stack("t", {"y": seat()}))
    plan = plan_deployment(bare, "fv-ml1", select(bare, "all"))
    assert [one.stack for one in plan.stacks] == ["t"]
    assert (codes(plan.findings), plan.refusals) == (["seat.dormant_incomplete"], [])


def test_file_that_would_lose_a_dormant_service_is_refused():
    mixed = fleet(stack("s", {"x": seat(), "y": seat(state="dormant", image=None, port=8001)}))
    plan = plan_deployment(mixed, "fv-ml1", select(mixed, "x"))
    assert codes(plan.refusals) == ["seat.stack_incomplete"] and "y would be lost" in plan.refusals[0].message


def test_profiling_seats_start_first_and_largest_first():
    pinned = {"kv_cache_memory": "2GiB", "max_num_batched_tokens": 8192}
    several = fleet(
        stack("a", {"small": seat(claim={"vram": "10GiB"}, port=1, vllm={"gpu_memory_utilization": 0.1})}),
        stack("b", {"large": seat(claim={"vram": "40GiB"}, port=2)}),
        stack("c", {"pinned": seat(claim={"vram": "30GiB"}, port=3, vllm=pinned)}),
        stack("d", services={"web": service()}),
    )
    plan = plan_deployment(several, "fv-ml1", select(several, "all"))
    assert plan.start_order == ["b/large", "a/small", "c/pinned", "d/web"]


def test_plan_is_plain_data():
    one = fleet(stack("s", {"x": seat()}))
    data = plan_deployment(one, "fv-ml1", select(one, "x")).as_dict()
    assert json.loads(json.dumps(data)) == data
