"""Protects: a measurement is planned with what is declared and seen, and refused before any load where a card cannot be
watched, a cap does not hold or nothing would be loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_seats.apply.power_measure.loads import remaining_s
from gpu_seats.apply.power_measure.plan import measure_plan
from gpu_seats.controller.declared_faults import PlayHostError
from gpu_seats.controller.power_measure_plan import (
    MeasureRequest,
    bmc_options,
    default_folder,
    measured_cards,
    planned_measurement,
    questions,
)
from gpu_seats.controller.power_measure_result import refused_result, shown_ladder
from gpu_seats.controller.power_sampler_config import sampler_config
from gpu_seats.declare.fleet import load_fleet
from gpu_seats.observe.bmc_reader import bmc_reader
from gpu_seats.observe.ipmi.access import bmc_access
from gpu_seats.plan.power.ladder import LadderError

PROJECT = Path(__file__).parents[3]
BURN = MeasureRequest(load_command="burn -i {index} {seconds}")


@pytest.fixture(scope="module")
def fleet():
    return load_fleet(PROJECT)


@pytest.fixture(scope="module")
def host(fleet):
    return fleet.hosts["fv-ml1"]


def facts(host, mount="/tank", **of_card_2):
    cards = [
        {
            "uuid": gpu.uuid,
            "draw_watts": 12.0,
            "limit_watts": 275.0,
            "index": int(card),
            **(of_card_2 if card == "2" else {}),
        }
        for card, gpu in host.gpus.items()
    ]
    bmc = {"watts": 390.0, "source": "dcmi", "reason": None}
    return {"cards": cards, "bmc": bmc, "mount": mount, "program": "/usr/bin/burn", "seats": AnsweringSeats()}


class AnsweringSeats(dict):
    """Every port answers but those that are told otherwise."""

    def get(self, key, default=None):
        return super().get(key, {"answers": True, "said": "HTTP 200"})


def test_the_plan_of_the_page(fleet, host):
    planned = planned_measurement(fleet, host, BURN, facts(host))
    plan = planned.plan
    assert [step.cards for step in plan.steps] == [(), ("0",), ("0", "1"), ("0", "1", "2"), ("0", "1", "2", "3")]
    assert set(plan.caps.values()) == {275.0} and plan.folder == "/tank/gpu-seats/power"
    assert (plan.limits.stop_at_watts, plan.limits.machine_watts, plan.limits.loss_factor) == (1770, 400, 1.1)
    assert plan.load.command == ("burn", "-i", "{index}", "{seconds}") and planned.findings == []
    assert measure_plan(plan.as_dict()) == plan, "what is sent is what the host reads"
    text = shown_ladder(planned, facts(host), every_step=True)
    assert "step 4 of 4, at worst with cards 0, 1, 2, 3 loaded: host 1500 W (up to 1650 W)" in text
    assert "ended above 1770 W of the host (1920 W of fv-20a less up to 150 W of fv-edge)" in text
    assert "counted beside it, whatever they do now: fv-edge 125 W (estimate), up to 150 W" in text
    assert "now: BMC 390 W by dcmi; cards 12, 12, 12, 12 W" in text


def test_only_the_asked_cards_are_loaded_and_all_are_watched(fleet, host):
    plan = planned_measurement(fleet, host, MeasureRequest("burn {index}", cards=["2", "0"]), facts(host)).plan
    assert [step.cards for step in plan.steps] == [(), ("0",), ("0", "2")] and len(plan.cards) == 4
    with pytest.raises(PlayHostError, match=r"cards=0,7: fv-ml1 has no card 7"):
        planned_measurement(fleet, host, MeasureRequest("burn {index}", cards=["0", "7"]), facts(host))


def test_seats_load_the_cards_that_they_run_on(fleet, host):
    planned = planned_measurement(fleet, host, MeasureRequest(), facts(host))
    seats = {seat.seat: seat for seat in planned.plan.load.seats}
    assert seats["flash-next"].cards == ("2",) and seats["flash-next"].port == 8022
    assert planned.plan.load.command == ()
    top = planned.plan.steps[-1].cards
    assert "2" in top
    idle = [card for card in host.gpus if card not in top]
    told = [one.message for one in planned.findings if one.code == "power.load_weak"]
    assert bool(told) == bool(idle) and all(card in told[0] for card in idle)


def test_what_will_load_the_cards_is_shown_as_it_will_be_run(fleet, host):
    """Protects: words that were lost between a terminal and the task are seen before the load."""
    planned = planned_measurement(fleet, host, BURN, facts(host))
    seconds = f"{remaining_s(planned.plan, planned.plan.steps[1]):.0f}"
    assert f"load of card 0, cards 1, 2, 3 alike: burn -i 0 {seconds}" in shown_ladder(planned, facts(host), False)
    by_seats = planned_measurement(fleet, host, MeasureRequest(), facts(host))
    text = shown_ladder(by_seats, facts(host), False)
    assert "load: 16 requests at once to each of" in text and "flash-next (card 2, port 8022)" in text


def test_a_program_that_is_not_on_the_host_is_refused_by_name(fleet, host):
    assert questions(fleet, host, BURN)["program"] == "burn"
    with pytest.raises(LadderError, match="load_command: burn is no program on fv-ml1") as caught:
        planned_measurement(fleet, host, BURN, {**facts(host), "program": None})
    assert "full path" in refused_result("fv-ml1", caught.value.findings)["msg"]


def test_a_seat_that_is_declared_and_does_not_answer_is_refused(fleet, host):
    """Protects: what is declared to serve is no load; the host is asked."""
    assert 8022 in questions(fleet, host, MeasureRequest())["ports"]
    silent = AnsweringSeats({"8022": {"answers": False, "said": "refused (Connection refused)"}})
    with pytest.raises(LadderError, match=r"flash-next .* does not answer: refused \(Connection refused\)") as caught:
        planned_measurement(fleet, host, MeasureRequest(), {**facts(host), "seats": silent})
    assert [one.subject for one in caught.value.findings] == ["host:fv-ml1/seat:flash-next"]
    assert "deploy-seat.yml" in caught.value.findings[0].remedy


def test_no_seat_on_the_cards_is_refused_with_what_to_give(fleet, host):
    free = [card for card in host.gpus if card not in {c for _, _, s in fleet.seats("fv-ml1") for c in s.gpus}]
    assert free, "the page keeps a card empty"
    with pytest.raises(PlayHostError, match="load_command, for example"):
        planned_measurement(fleet, host, MeasureRequest(cards=free), facts(host))


@pytest.mark.parametrize(
    ("card", "code", "says"),
    [
        ({"draw_watts": None, "why": "GPU is lost"}, "power.measure_blind", r"cannot be watched \(GPU is lost\)"),
        ({"limit_watts": None}, "power.measure_blind", "cannot be watched"),
        ({"limit_watts": 300.0}, "power.card_over_cap", "card 2 of fv-ml1 enforces 300 W, its cap is 275 W"),
        ({"uuid": "GPU-other"}, "power.measure_blind", "nvidia-smi does not list it"),
    ],
)
def test_cards_that_cannot_be_watched_or_are_not_capped_stop_it_before_any_load(fleet, host, card, code, says):
    with pytest.raises(LadderError, match=says) as caught:
        planned_measurement(fleet, host, BURN, facts(host, **card))
    assert [(one.code, one.subject) for one in caught.value.findings] == [(code, "host:fv-ml1/gpu:2")]
    result = refused_result("fv-ml1", caught.value.findings)
    assert result["failed"] and "no load was put on any card" in result["msg"] and result["findings"]


def test_a_threshold_above_the_device_and_a_command_that_is_none(fleet, host):
    with pytest.raises(LadderError, match="a higher one is not"):
        planned_measurement(fleet, host, MeasureRequest("burn {index}", stop_at_watts=1900), facts(host))
    with pytest.raises(PlayHostError, match=r"unknown \{gpu\}"):
        planned_measurement(fleet, host, MeasureRequest("burn {gpu}"), facts(host))


def test_hosts_without_caps_or_uuids_have_nothing_to_raise_to(fleet, host):
    with pytest.raises(PlayHostError, match=r"fv-edge declares no cards"):
        measured_cards(fleet.hosts["fv-edge"])
    gpus = {card: gpu.model_copy(update={"uuid": None}) for card, gpu in host.gpus.items()}
    with pytest.raises(PlayHostError, match=r"gpus\.0 declares no uuid"):
        measured_cards(host.model_copy(update={"gpus": gpus}))
    assert host.power is not None
    uncapped = host.model_copy(update={"power": host.power.model_copy(update={"caps": None})})
    with pytest.raises(PlayHostError, match=r"no power\.caps"):
        measured_cards(uncapped)


def test_a_pool_that_is_not_mounted_is_told(fleet, host):
    told = planned_measurement(fleet, host, BURN, facts(host, mount="/")).findings
    assert [(one.code, one.severity) for one in told] == [("power.log_not_on_pool", "info")]
    assert planned_measurement(fleet, host, BURN, facts(host, mount="/tank/gpu-seats")).findings == []
    assert default_folder(fleet.hosts["fv-edge"]) == "/var/lib/gpu-seats/power"


ADDRESS = "10.251.250.50"


@pytest.mark.parametrize(
    ("given", "kind", "address"),
    [
        ({"interface": "auto", "username": "", "address": ""}, "open", ADDRESS),
        ({}, "open", ADDRESS),
        ({"username": "op"}, "lanplus", ADDRESS),
        ({"username": "op", "address": "10.0.0.9"}, "lanplus", "10.0.0.9"),
        ({"interface": "lan", "username": "op"}, "lan", ADDRESS),
        ({"interface": "open", "username": "op"}, "open", ADDRESS),
    ],
)
def test_the_way_to_the_bmc(host, given, kind, address):
    access = bmc_access(bmc_options(host, given))
    assert (access.kind, access.address) == (kind, address)


def test_no_way_to_the_bmc(fleet, host):
    assert bmc_reader(bmc_options(host, {"interface": "none"})) is None
    assert bmc_access(bmc_options(fleet.hosts["fv-edge"], {})).kind == "open"


def test_the_sampler_is_told_what_the_declaration_says(host):
    text = sampler_config(host, {"interface": "open"})
    assert text == sampler_config(host, {"interface": "open"})
    assert '"loss_factor": 1.1' in text and '"2": "GPU-5e7a0002-c0de-4000-8000-000000000002"' in text
    assert '"bmc": {}' in sampler_config(host, {"interface": "none"})
