"""Rules of one seat: what vLLM would refuse at start, or quietly do wrong, is refused before anything is touched."""

from __future__ import annotations

import pytest
from plan_cases import codes, flash_next, fleet, host, seat, service, stack

from gpu_seats.plan.fleet_plan import plan_fleet

PINNED = {"kv_cache_memory": "2GiB", "max_num_batched_tokens": 8192}


def found_for(workload, **over):
    kind = "seats" if "engine" in workload else "services"
    return plan_fleet(fleet(stack("s", **{kind: {"x": workload}}), **over))


def test_the_seat_of_the_incident_report_is_clean():
    assert found_for(flash_next()) == []


@pytest.mark.parametrize(
    ("image", "code"),
    [
        ("vllm/vllm-openai:v0.29.0", "seat.feature_missing"),
        ("vllm/vllm-openai:nightly-2026-09-09", "seat.feature_missing"),
        ("vllm/vllm-openai:nightly-" + "a" * 40, "seat.feature_unverified"),
        ("vllm/vllm-openai@sha256:" + "a" * 64, "seat.feature_unverified"),
    ],
)
def test_build_without_the_needed_feature_is_refused_with_the_merge(image, code):
    found = [one for one in found_for(flash_next(image=image)) if one.code == code]
    assert len(found) == 1 and found[0].fails
    assert "#54371" in found[0].message and image in found[0].message


def test_engram_needs_its_feature_also_when_needs_does_not_say_so():
    silent = flash_next(image="vllm/vllm-openai:v0.29.0", needs=None)
    assert "seat.feature_missing" in codes(found_for(silent))


def test_unknown_feature_is_refused_with_the_nearest():
    found = found_for(seat(needs=["engram_cpu_ofload"]))
    assert codes(found) == ["seat.feature_unknown"] and "did you mean engram_cpu_offload" in found[0].message


def test_declared_build_day_makes_a_nightly_usable():
    nightly = flash_next(image="vllm/vllm-openai:nightly-" + "a" * 40)
    nightly["vllm"] = {**nightly["vllm"], "build_date": "2026-09-12"}
    assert codes(found_for(nightly)) == []


def test_pinned_kv_bytes_need_a_bound_for_the_activations():
    unbounded = seat(vllm={"kv_cache_memory": "2GiB"})
    assert codes(found_for(unbounded)) == ["vram.unbounded_activations"]
    assert codes(found_for(seat(vllm=PINNED))) == []


def test_pinned_seat_must_not_ask_for_more_free_memory_than_its_neighbours_leave():
    greedy = seat(claim={"vram": "20GiB"}, vllm={**PINNED, "gpu_memory_utilization": 0.92})
    neighbour = seat(port=8001, claim={"vram": "60GiB"}, vllm={"gpu_memory_utilization": 0.6})
    shared = fleet(stack("s", {"x": greedy}), stack("n", {"n": neighbour}))
    found = [one for one in plan_fleet(shared) if one.code == "vram.utilisation_over_share"]
    assert len(found) == 1 and "0.92 x 97,887 = 90,056" in found[0].message
    alone = fleet(stack("s", {"x": greedy}))
    assert codes(plan_fleet(alone)) == []


@pytest.mark.parametrize(
    ("speculative", "expected"),
    [
        ({"method": "mtp", "num_speculative_tokens": 1}, []),
        ({"method": "mtp", "num_speculative_tokens": 3, "mtp_layers": 1}, []),
        ({"method": "mtp", "num_speculative_tokens": 4, "mtp_layers": 2}, []),
        ({"method": "mtp", "num_speculative_tokens": 1, "mtp_layers": 2}, []),
        ({"method": "mtp", "num_speculative_tokens": 3, "mtp_layers": 2}, ["seat.speculation_refused"]),
        ({"method": "mtp", "num_speculative_tokens": 3}, ["seat.speculation_unchecked"]),
        ({"method": "mpt", "num_speculative_tokens": 1}, ["seat.speculation_refused"]),
        ({"method": "ngram", "num_speculative_tokens": 5}, []),
    ],
    ids=str,
)
def test_speculation_above_the_mtp_layers_is_a_multiple_of_them(speculative, expected):
    options = {"gpu_memory_utilization": 0.2, "speculative": speculative}
    assert codes(found_for(seat(vllm=options))) == expected


@pytest.mark.parametrize(
    ("gpus", "options", "fits"),
    [
        (["0", "1"], {}, True),
        (["0", "1"], {"tensor_parallel_size": 2}, True),
        (["0"], {"tensor_parallel_size": 2}, False),
        (["0", "1"], {"tensor_parallel_size": 1}, False),
        (["0", "1", "2", "3"], {"tensor_parallel_size": 2, "flags": {"pipeline-parallel-size": 2}}, True),
        (["0", "1"], {"tensor_parallel_size": 2, "flags": {"pipeline-parallel-size": 2}}, False),
    ],
)
def test_one_worker_a_card(gpus, options, fits):
    found = found_for(seat(gpus=gpus, vllm={"gpu_memory_utilization": 0.2, **options}))
    assert ("seat.parallel_mismatch" not in codes(found)) is fits


@pytest.mark.parametrize(("task", "runner"), [("embedding", "generate"), ("rerank", "generate"), ("chat", "pooling")])
def test_runner_that_contradicts_the_task_is_refused(task, runner):
    wrong = seat(task=task, vllm={"gpu_memory_utilization": 0.2, "runner": runner})
    assert codes(found_for(wrong)) == ["seat.runner_mismatch"]


def test_flag_faults_name_flag_and_seat():
    found = found_for(seat(vllm={"gpu_memory_utilization": 0.2, "flags": {"enable-prefix-cachng": True}}))
    assert codes(found) == ["seat.flag_refused"]
    assert found[0].message.startswith("vllm.flags.enable-prefix-cachng of x is no flag of vLLM 0.30.0")


def test_kv_cache_dtype_is_checked_against_the_version():
    found = found_for(seat(vllm={"gpu_memory_utilization": 0.2, "kv_cache_dtype": "fp8_e4m4"}))
    assert codes(found) == ["seat.flag_refused"] and "did you mean" in found[0].message


def test_image_whose_tag_tells_nothing_is_warned_about():
    assert codes(found_for(seat(image="vllm/vllm-openai:ours"))) == ["seat.build_unknown"]


def test_engine_seats_do_not_write_their_own_command():
    assert codes(found_for(seat(command=["--seed", "1"]))) == ["seat.command_overridden"]
    assert codes(found_for(service(command=["serve"]))) == []


@pytest.mark.parametrize(
    ("labels", "homepage", "refused"),
    [
        ({"gpu-seats.stack": "x"}, None, True),
        ({"com.docker.compose.project": "x"}, None, True),
        ({"homepage.group": "x"}, {"group": "a", "name": "b"}, True),
        ({"homepage.widget.type": "x"}, None, True),
        ({"homepage.widget.type": "x"}, {"group": "a", "name": "b"}, False),
        ({"homepagex": "x"}, {"group": "a", "name": "b"}, True),
        ({"team": "x"}, None, False),
    ],
    ids=str,
)
def test_labels_that_others_write_cannot_be_declared(labels, homepage, refused):
    found = found_for(service(labels=labels, homepage=homepage))
    assert codes(found) == (["seat.label_reserved"] if refused else [])


def test_one_dashboard_tile_twice_is_a_finding():
    tile = {"group": "AI seats", "name": "Gen"}
    both = fleet(stack("a", {"x": seat(homepage=tile)}), stack("b", {"y": seat(port=8001, homepage=tile)}))
    assert codes(plan_fleet(both)) == ["seat.tile_repeated"]


@pytest.mark.parametrize(
    ("over", "missing"),
    [
        ({"image": None}, "image"),
        ({"model": {}}, "model.path (or model.repo)"),
        ({"engine": "llamacpp", "vllm": None, "model": {"repo": "a/b"}}, "model.path"),
    ],
)
def test_what_a_container_is_made_from_must_be_declared(over, missing):
    found = found_for(seat(**over))
    assert codes(found) == ["seat.incomplete"] and missing in found[0].message
    assert codes(found_for(seat(state="dormant", **over))) == ["seat.dormant_incomplete"]


def test_card_without_uuid_is_keyed_by_index_and_warned_about():
    data = host().model_dump()
    data["gpus"]["0"]["uuid"] = None
    loose = type(host()).model_validate(data)
    assert codes(plan_fleet(fleet(stack("s", {"x": seat()}), hosts=[loose]))) == ["gpu.index_keyed"]


def test_host_ram_counts_the_pinned_table_as_the_next_power_of_two():
    low = flash_next(claim={"vram": "93GiB", "host_ram": "50GiB"})
    found = found_for(low)
    assert codes(found) == ["ram.claim_too_small"]
    assert "table of 47.7 GiB takes 64.0 GiB once pinned" in found[0].message
    silent = flash_next(claim={"vram": "93GiB"})
    silent["vllm"] = {**silent["vllm"], "engram": {"cpu_offload": True}}
    assert codes(found_for(silent)) == ["ram.claim_unknown"]


def test_host_ram_over_the_hosts_own_is_refused_with_the_arithmetic():
    found = found_for(flash_next(), hosts=[host(ram="80GiB")])
    assert codes(found) == ["ram.overcommitted"]
    assert found[0].message == (
        "fv-ml1 has 80.0 GiB - 16.0 GiB reserve = 64.0 GiB; x 67.0 GiB = 67.0 GiB; over by 3.0 GiB"
    )
