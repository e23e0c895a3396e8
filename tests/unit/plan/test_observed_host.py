"""What the host shows decides too: card identity, free memory, Docker, disks, images, old projects."""

from __future__ import annotations

import pytest
from plan_cases import TOTAL_MIB, bus_of, codes, flash_next, fleet, host, seat, service, stack, uuid_of

from gpu_seats.declare.selection import select
from gpu_seats.plan.deployment import plan_deployment

OWN = {"gpu-seats.stack": "s", "gpu-seats.seat": "x"}


def card(index, free=97247.0, **over):
    row = {"index": index, "uuid": uuid_of(index), "bus_id": bus_of(index), "memory_total_mib": TOTAL_MIB}
    return {**row, "memory_free_mib": free, "unknown": {}, **over}


def seen(cards=None, processes=(), containers=(), **over):
    data = {
        "docker": {"available": True, "compose_version": "2.26.1", "containers": list(containers), "images": {}},
        "gpus": {
            "cards": [card(index) for index in range(4)] if cards is None else cards,
            "processes": list(processes),
        },
        "listeners": [],
        "memory": {"total_mib": 579584, "available_mib": 500000},
        "disks": {"/opt/docker/compose": {"free_mib": 50000, "total_mib": 100000}},
    }
    return {**data, **over}


def plan(observed, workload=None, pull="missing", hosts=None):
    one = fleet(stack("s", {"x": workload or seat()}), hosts=hosts)
    return plan_deployment(one, "fv-ml1", select(one, "x"), observed, pull)


def running(name="x", labels=None):
    return {"id": "c" * 64, "name": name, "running": True, "labels": OWN if labels is None else labels}


def process(used, container="x", card_index=0, pid=4242):
    return {
        "pid": pid,
        "name": "python3",
        "gpu_uuid": uuid_of(card_index),
        "used_memory_mib": used,
        "container": container,
    }


def test_a_host_as_declared_is_deployed_to():
    done = plan(seen())
    assert (done.refusals, done.findings) == ([], [])
    assert done.device_ids["0"] == uuid_of(0)
    assert done.cards[0].free_mib == 97247.0


def test_swapped_index_changes_nothing_for_a_card_keyed_by_uuid():
    cards = [card(index) for index in range(4)]
    cards[0]["index"], cards[1]["index"] = 1, 0
    done = plan(seen(cards))
    assert (done.refusals, done.device_ids["0"]) == ([], uuid_of(0))


def test_other_card_in_the_declared_slot_stops_and_shows_the_lines_to_paste():
    new = "GPU-ffffffff-0000-4000-8000-000000000000"
    refusals = plan(seen([card(0, uuid=new), card(1)])).refusals
    assert codes(refusals) == ["gpu.identity_mismatch"]
    assert refusals[0].evidence == {'gpus."0".uuid': new, 'gpus."0".bus_id': bus_of(0)}


def test_card_in_another_slot_stops():
    assert codes(plan(seen([card(0, bus_id="00000000:c1:00.0")])).refusals) == ["gpu.identity_mismatch"]


@pytest.mark.parametrize("bus", ["0000:01:00.0", "00000000:01:00.0", "00000000:01:00.0".upper()])
def test_bus_ids_of_one_slot_agree_in_every_spelling(bus):
    assert plan(seen([card(0, bus_id=bus)])).refusals == []


def test_lost_card_is_refused_and_one_not_in_use_is_not():
    assert codes(plan(seen([card(1), card(2)])).refusals) == ["gpu.not_listed"]
    assert plan(seen([card(0)])).refusals == []


def test_stranger_takes_the_memory_and_the_numbers_are_shown():
    refusals = plan(seen([card(0, free=10000.0)], [process(87000.0, None)])).refusals
    assert set(codes(refusals)) == {"vram.not_enough_free", "vram.stranger"}
    text = next(one.message for one in refusals if one.code == "vram.not_enough_free")
    assert text == ("card 0 of fv-ml1: nvidia-smi measures 10,000 MiB free; x 20,480; 10,480 MiB are missing")
    assert refusals[0].evidence == {"processes": ["pid 4242: python3, 87,000 MiB, no declared container"]}


def test_memory_of_the_container_that_is_replaced_comes_back():
    full = seen([card(0, free=2000.0)], [process(20000.0)], [running()])
    assert plan(full).refusals == []
    short = seen([card(0, free=100.0)], [process(20000.0)], [running()])
    refusals = plan(short).refusals
    assert codes(refusals) == ["vram.not_enough_free"]
    assert "100 MiB free + 20,000 that come back = 20,100" in refusals[0].message


def test_small_stranger_beside_enough_room_is_a_warning():
    done = plan(seen([card(0, free=90000.0)], [process(500.0, None)]))
    assert (done.refusals, codes(done.findings)) == ([], ["vram.stranger"])


def test_strangers_must_fit_beside_all_declared_claims_not_only_the_new_one():
    both = fleet(
        stack("s", {"x": seat()}),
        stack("n", {"n": seat(port=8001, claim={"vram": "60GiB"}, vllm={"gpu_memory_utilization": 0.6})}),
    )
    observed = seen([card(0, free=77000.0)], [process(20000.0, None)])
    refusals = plan_deployment(both, "fv-ml1", select(both, "x"), observed).refusals
    assert codes(refusals) == ["vram.stranger"]
    assert "81,920 MiB of declared claims + 20,000 are 4,673 MiB more than the 97,247" in refusals[0].message


def test_unmeasured_memory_is_a_finding_and_not_zero():
    unknown = card(0, free=None, unknown={"memory_free_mib": "[N/A]"})
    done = plan(seen([unknown]))
    assert (done.refusals, codes(done.findings)) == ([], ["vram.unmeasured"])
    assert "[N/A]" in done.findings[0].message
    assert done.cards[0].free_mib is None


def test_processes_that_cannot_be_told_apart_do_not_refuse_a_running_seat():
    loose = {key: value for key, value in process(80000.0).items() if key != "container"}
    done = plan(seen([card(0, free=1000.0)], [loose], [running()]))
    assert (done.refusals, codes(done.findings)) == ([], ["vram.unmeasured"])


def test_host_ram_that_is_not_available_is_told_and_no_refusal_for_the_zfs_cache_counts_as_used():
    little = seen(memory={"total_mib": 570000, "available_mib": 30 * 1024})
    done = plan(little, flash_next())
    assert (done.refusals, codes(done.findings)) == ([], ["ram.not_enough_free"])
    assert "30.0 GiB of RAM available; x 67.0 GiB = 67.0 GiB; 37.0 GiB are missing" in done.findings[0].message
    assert codes(plan(seen(memory={"total_mib": None, "available_mib": None}), flash_next()).findings) == []


def test_host_that_shows_less_ram_than_declared_says_nothing_about_what_is_available():
    done = plan(seen(memory={"total_mib": 65536, "available_mib": 30000}), flash_next())
    assert codes(done.findings) == ["ram.other_than_declared"]


@pytest.mark.parametrize(
    ("docker", "code"),
    [
        ({"available": False, "reason": "connection refused"}, "compose.engine_unreachable"),
        ({"available": True, "compose_version": None}, "compose.plugin_missing"),
        ({"available": True, "compose_version": "1.29.2"}, "compose.plugin_missing"),
    ],
)
def test_docker_or_compose_missing_is_the_only_refusal(docker, code):
    assert codes(plan(seen([], docker=docker)).refusals) == [code]


def test_full_disk_is_refused():
    full = seen(
        disks={"/opt/docker/compose": {"free_mib": 12, "total_mib": 100000}, "/var/lib/docker": {"free_mib": None}}
    )
    refusals = plan(full).refusals
    assert codes(refusals) == ["host.disk_full"] and "12 MiB free; 64 are needed" in refusals[0].message


def test_missing_image_is_refused_only_where_nothing_may_be_pulled():
    image = "vllm/vllm-openai:v0.30.0"
    absent = seen()
    absent["docker"]["images"] = {image: None}
    assert plan(absent).refusals == []
    assert codes(plan(absent, pull="never").refusals) == ["compose.image_missing"]
    absent["docker"]["images"] = {image: "sha256:1"}
    assert plan(absent, pull="never").refusals == []


def test_old_project_under_another_spelling_is_told_before_a_second_copy():
    labels = {"com.docker.compose.project": "q3-5", "com.docker.compose.service": "x"}
    dotted = fleet(stack("q3.5", {"x": seat()}))
    done = plan_deployment(dotted, "fv-ml1", select(dotted, "x"), seen(containers=[running("q3-5-x-1", labels)]))
    assert codes(done.findings) == ["compose.project_other_spelling"]
    assert "is Compose project q35" in done.findings[0].message


def test_before_shows_what_really_runs():
    on_demand = service(
        state="on_demand", gpus=["1"], claim={"vram": "2GiB"}, on_demand={"yields_to": "full-size", "reason": "r"}
    )
    both = fleet(stack("s", {"x": seat()}), stack("t", services={"t": on_demand}))
    labels = {"gpu-seats.stack": "t", "gpu-seats.service": "t"}
    done = plan_deployment(both, "fv-ml1", select(both, "x"), seen(containers=[running("t", labels)]))
    assert [claim.workload for claim in done.cards[1].before] == ["t"]
    assert done.cards[0].before == []
    assert [claim.workload for claim in done.cards[0].after] == ["x"]


def test_index_keyed_card_is_found_by_its_index():
    data = host().model_dump()
    data["gpus"]["0"].update(uuid=None, bus_id=None)
    loose = type(host()).model_validate(data)
    done = plan(seen([card(0, uuid="GPU-x")]), hosts=[loose])
    assert (done.refusals, done.device_ids["0"]) == ([], "0")


def test_serving_seat_that_is_not_part_of_the_deployment_counts_before_and_after_though_it_is_down():
    both = fleet(stack("s", {"x": seat()}), stack("n", {"n": seat(port=8001)}))
    done = plan_deployment(both, "fv-ml1", select(both, "x"), seen())
    assert [claim.workload for claim in done.cards[0].before] == ["n"]
    assert {claim.workload for claim in done.cards[0].after} == {"x", "n"}


def test_a_declared_address_that_no_interface_holds_is_said_and_does_not_refuse():
    """Links and labels are made from it; after a renumbering every one of them would lead nowhere."""
    moved = plan(seen(addresses=["127.0.0.1", "10.250.50.54"]))
    assert (codes(moved.refusals), codes(moved.findings)) == ([], ["host.address_absent"])
    assert "10.251.50.54" in moved.findings[0].message and "10.250.50.54" in moved.findings[0].message
    assert plan(seen(addresses=["10.251.50.54"])).findings == []
    assert plan(seen(addresses=None)).findings == []


def unseen(reason="library version 580.178 does not match the loaded module"):
    return {"cards": None, "processes": None, "unknown": {"cards": reason}}


def test_a_driver_that_cannot_be_asked_refuses_seats_with_cards():
    """Protects: a running engine goes on with a broken driver; recreating its container would end it for good."""
    done = plan(seen(gpus=unseen()))
    [refused] = done.refusals
    assert (refused.code, refused.subject) == ("gpu.cards_unseen", "host:fv-ml1")
    assert "library version 580.178" in refused.message and "card 0 is needed" in refused.message


def test_a_driver_that_cannot_be_asked_is_no_matter_for_a_seat_on_the_cpu():
    done = plan(seen(gpus=unseen()), seat(gpus=[], engine="llamacpp", vllm=None, claim={"host_ram": "1GiB"}))
    assert done.refusals == []


def renamed(port=8000):
    """Container of a seat `old` that the stack no longer has; it publishes the port and holds memory."""
    labels = {"gpu-seats.stack": "s", "gpu-seats.seat": "old"}
    return {**running("old", labels), "published_ports": [{"host_port": port, "protocol": "tcp", "host_ip": ""}]}


def test_renamed_seat_takes_port_and_memory_of_the_container_that_goes():
    """The deploy removes the container under the old name first: it is neither a stranger nor in the way."""
    observed = seen([card(0, free=5000.0)], [process(60000.0, "old")], [renamed()])
    done = plan(observed)
    assert (done.refusals, codes(done.findings)) == ([], [])


def test_port_of_a_seat_that_moved_from_another_stack_is_refused_with_the_way_to_move_it():
    labels = {"gpu-seats.stack": "elsewhere", "gpu-seats.seat": "x"}
    refusals = plan(seen(containers=[{**renamed(), "name": "x", "labels": labels}])).refusals
    assert codes(refusals) == ["port.taken"] and "seat=elsewhere,s" in refusals[0].remedy
