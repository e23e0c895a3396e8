"""The host page's table, and the incident, come out of the declarations of this repository.

Protects: 1100/1200, 1500/1600, 1625/1725 W, 85/90 % and 295/195 W of the page's power section, its warnings about
325 W, 1650 W and the high end, and the order in which the devices of 2026-09-13 gave.
"""

from __future__ import annotations

import pytest
import watt_cases

from gpu_seats.declare.fleet import Fleet
from gpu_seats.plan.power import parse_what_if, site_power

INCIDENT = "in_use=fv-ups+fv-ups-inlet,loaded=2"


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return watt_cases.production()


@pytest.mark.parametrize(
    ("question", "cards", "host", "whole", "percent", "headroom"),
    [
        ("", 1100, 1500, 1625, 85, 295),
        ("limit=300", 1200, 1600, 1725, 90, 195),
        ("gpus=4,limit=300W", 1200, 1600, 1725, 90, 195),
    ],
)
def test_the_table_of_the_page(
    fleet: Fleet, question: str, cards: float, host: float, whole: float, percent: int, headroom: float
) -> None:
    power = site_power(fleet, "fv", parse_what_if(question))
    (ml1,) = (load for load in power.loads if load.name == "fv-ml1")
    (edge,) = (load for load in power.loads if load.name == "fv-edge")
    assert [term.draw.watts for term in ml1.terms] == [cards, 400, 0]
    assert (ml1.draw.watts, edge.draw.watts) == (host, 125)
    breaker = power.device("fv-20a")
    assert (breaker.absolute_watts, breaker.continuous_watts) == (2400, 1920)
    assert (breaker.draw.watts, breaker.headroom_watts) == (whole, headroom)
    assert round(100 * (breaker.share_of_continuous or 0)) == percent
    assert breaker.verdict == "ok"


def test_the_cap_saves_100_watts_and_not_200(fleet: Fleet) -> None:
    """The page counted from the firmware's ceiling once: the saving is against stock."""
    capped, stock = (site_power(fleet, "fv", parse_what_if(asked)) for asked in ("", "limit=300"))
    assert stock.device("fv-20a").draw.watts - capped.device("fv-20a").draw.watts == 100


def test_325_watts_are_95_percent_and_refused(fleet: Fleet) -> None:
    power = site_power(fleet, "fv", parse_what_if("limit=325"))
    assert round(100 * (power.device("fv-20a").share_of_continuous or 0)) == 95
    found = {one.code: one for one in power.findings}
    assert {"power.cap_above_ceiling", "power.cap_above_stock"} <= set(found)
    assert "asked limit 325 W is above the ceiling 300 W" in found["power.cap_above_ceiling"].message


def test_the_floor_and_the_high_end(fleet: Fleet) -> None:
    """1650 W is the floor to reckon with, and losses of the supplies bring the circuit to about 94 %."""
    heavy = site_power(fleet, "fv", parse_what_if("load=fv-edge:150W")).device("fv-20a")
    assert (heavy.draw.watts, round(100 * (heavy.share_of_continuous or 0))) == (1650, 86)
    worst = site_power(fleet, "fv").device("fv-20a")
    assert (worst.draw.low_watts, worst.draw.high_watts) == (1525, 1800)
    assert worst.as_dict()["high_share_of_continuous"] == 0.9375


def test_at_rest_the_machine_takes_what_its_bmc_read(fleet: Fleet) -> None:
    (ml1,) = (load for load in site_power(fleet, "fv", loaded={}).loads if load.name == "fv-ml1")
    assert ml1.draw.watts == 390


def test_what_the_page_does_not_have_measured_is_told(fleet: Fleet) -> None:
    told = " ".join(f"{one['load']}: {one['text']}" for one in site_power(fleet, "fv").unmeasured)
    assert "1650 W on the circuit as a floor" in told
    assert "AC input or DC output" in told
    assert "fv-edge: Its draw is an estimate" in told


def test_a_fifth_card_or_another_box_is_calculated_against_1920_watts(fleet: Fleet) -> None:
    fifth = site_power(fleet, "fv", parse_what_if("gpus=5"))
    assert (fifth.device("fv-20a").draw.watts, fifth.device("fv-20a").verdict) == (1900, "over_possible")
    box = site_power(fleet, "fv", parse_what_if("load=box:300W"))
    assert box.device("fv-20a").verdict == "over_continuous"
    (over,) = (one for one in box.findings if one.code == "power.over_continuous")
    for part in ("4 x 275 W cards", "400 W machine under load = 1500 W", "fv-edge 125 W (estimate)", "box 300 W"):
        assert part in over.message
    assert over.message.endswith("together 1925 W; over 1920 W by 5 W")


def test_in_the_incident_the_ups_gives_first_and_says_why(fleet: Fleet) -> None:
    """Two loaded cards took the site down, not four: the UPS's output is far below the circuit's rating."""
    power = site_power(fleet, "fv", parse_what_if(INCIDENT))
    first = power.first_to_give
    assert first is not None
    assert (first["device"], first["kind"], first["verdict"]) == ("fv-ups", "ups", "over_absolute")
    for part in ("124 % of the 900 W", "2 x 275 W cards", "2 x 19.25 W idle cards", "together 1113.5 W"):
        assert part in first["why"]
    assert first["why"].endswith("then fv-ups-inlet at 77 % of 1440 W, fv-20a at 46 % of 2400 W")
    verdicts = {one.name: one.verdict for one in power.devices}
    assert verdicts == {"fv-20a": "ok", "fv-ups-inlet": "ok", "fv-ups": "over_absolute"}
    (critical,) = (one for one in power.findings if one.code == "power.over_absolute")
    assert critical.severity == "critical" and "over 900 W by 213.5 W" in critical.message


def test_one_loaded_card_was_under_the_rating_of_the_ups(fleet: Fleet) -> None:
    """The campaign's first rep on one card ran clean."""
    power = site_power(fleet, "fv", parse_what_if("in_use=fv-ups+fv-ups-inlet,loaded=1"))
    assert power.device("fv-ups").verdict != "over_absolute"


@pytest.mark.parametrize(("question", "device"), [("", "fv-20a"), (INCIDENT, "fv-ups")])
def test_router_and_bmc_share_the_fate_of_the_cards(fleet: Fleet, question: str, device: str) -> None:
    power = site_power(fleet, "fv", parse_what_if(question))
    (found,) = (one for one in power.findings if one.code == "power.correlated_recovery")
    assert found.severity == "warning" and found.subject == f"site:fv/circuit:{device}"
    for part in (f"{device} gives first", "router fv-edge", "the BMC of fv-ml1", "nobody can then look at fv-ml1"):
        assert part in found.message
    dark = {one.device: one.goes_dark for one in power.shared_fate}
    assert set(dark[device]) == {"fv-ml1", "fv-edge"}


def test_the_proposed_feed_separates_them_and_shows_its_own_budget(fleet: Fleet) -> None:
    power = site_power(fleet, "fv")
    assert power.proposal is not None and power.proposal["separates"]
    budget = {one["name"]: (one["nominal_watts"], one["verdict"]) for one in power.proposal["devices"]}
    assert budget == {
        "fv-20a": (1635, "ok"),
        "fv-pdu": (1500, "ok"),
        "fv-ups-inlet": (135, "ok"),
        "fv-ups": (135, "ok"),
    }
    (found,) = (one for one in power.findings if one.code == "power.correlated_recovery")
    assert "fv-ups feeds fv-edge, fv-ml1/bmc (135 W of 900 W, 15 %)" in found.remedy
    fates = {one["device"]: one for one in power.proposal["shared_fate"]}
    assert fates["fv-20a"]["goes_dark"] == ["fv-ml1"]
    assert set(fates["fv-20a"]["on_battery"]) == {"fv-edge", "fv-ml1/bmc"}
    assert not fates["fv-20a"]["locks_out"]


def test_a_proposal_says_which_asked_load_it_does_not_feed(fleet: Fleet) -> None:
    asked = site_power(fleet, "fv", parse_what_if("load=nas@fv-20a:200W"))
    assert asked.proposal is not None and asked.proposal["left_out"] == ["nas"]
    assert "it feeds no nas, so find a place for that first" in asked.proposal["text"]
    declared = site_power(fleet, "fv").proposal
    assert declared is not None and declared["left_out"] == [] and "feeds no" not in declared["text"]


def test_the_document_is_plain_data(fleet: Fleet) -> None:
    """JSON, the picture and the playbook read it; what-if leaves the declaration as it was."""
    document = site_power(fleet, "fv", parse_what_if(INCIDENT)).as_dict()
    assert set(document) == {
        "site", "summary", "what_if", "devices", "loads", "first_to_give", "shared_fate", "proposal", "unmeasured",
        "findings",
    }  # fmt: skip
    ups = next(one for one in document["devices"] if one["name"] == "fv-ups")
    assert ups["parents"] == ["fv-ups-inlet"] and ups["plugged"] == ["fv-ml1", "fv-edge"]
    assert [term["name"] for term in ups["terms"]] == ["fv-ml1", "fv-edge"]
    ml1 = next(one for one in document["loads"] if one["name"] == "fv-ml1")
    assert {"source", "watts", "on"} == set(ml1["readings"][0]) and ml1["readings"][0]["watts"] == 461
    assert not fleet.sites["fv"].circuits["fv-ups"].in_use
