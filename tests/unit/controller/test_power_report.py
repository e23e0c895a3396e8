"""Protects: the verdict of a power run, its sums with the limits that hold, and what it shows of them."""

from __future__ import annotations

import json
from pathlib import Path

from power_cases import SET, UNITS, card, look, power_fleet, power_host

from gpu_seats.apply.gpu_limits.caps import caps_from
from gpu_seats.controller.power_closing import power_closing_text
from gpu_seats.controller.power_report import measured_watts, power_report, written_pictures
from gpu_seats.controller.power_verify import bmc_reading, verified_caps
from gpu_seats.controller.site_power import host_power
from gpu_seats.findings import finding

BMC = {"watts": 451.0, "source": "dcmi", "reason": "", "findings": []}


def verified(*limits: float, bmc: dict | None = BMC) -> dict:
    cards = [card(key, limit) for key, limit in zip("01", limits)]
    return {**verified_caps(power_host(), SET, look(*cards), UNITS).as_result(), "bmc": bmc_reading(bmc)}


def test_the_site_is_added_up_with_the_limits_that_hold() -> None:
    fine = power_report(power_fleet(), "box1", {"power_verify": verified(275.0, 260.0), "bmc_power_info": BMC})
    assert fine.ok and fine.worst_watts == 400 + 275 + 260
    lost = power_report(power_fleet(), "box1", {"power_verify": verified(325.0, 325.0)})
    assert not lost.ok and lost.worst_watts == 400 + 2 * 325
    assert {one.code for one in lost.findings if one.fails} == {"power.cap_lost", "power.over_continuous"}


def test_a_limit_that_nobody_could_read_counts_as_stock() -> None:
    """Protects: a breaker is not said to carry its load because of caps that may not hold."""
    unread = {**verified(275.0, 260.0), "limits": {"1": 260.0}}
    assert power_report(power_fleet(), "box1", {"power_verify": unread}).worst_watts == 400 + 300 + 260
    none = {**verified(275.0, 260.0), "limits": {}}
    assert power_report(power_fleet(), "box1", {"power_verify": none}).worst_watts == 400 + 300 + 300
    assert power_report(power_fleet(), "box1", {}).worst_watts == 400 + 275 + 260


def test_findings_of_every_task_name_their_host() -> None:
    broken = {"findings": [finding("systemd.unit_failed", "unit:a.service", "no").as_dict()]}
    report = power_report(power_fleet(), "box1", {"systemd_units": broken, "power_verify": verified(275.0, 260.0)})
    assert [one.subject for one in report.findings] == ["host:box1/unit:a.service"]
    assert not report.ok and "1 error" in report.as_result()["msg"]


def test_of_a_container_that_a_restart_did_not_help_that_is_told() -> None:
    def lost(subject: str, text: str) -> dict:
        return finding("gpu.container_lost_device", subject, text).as_dict()

    looked = verified(275.0, 260.0)
    # as they come: only power_verify names the host
    seen_later = lost("host:box1/container:chat", "chat has lost its GPUs")
    results = {
        "systemd_reload": {"findings": [lost("container:chat", "chat has lost its GPUs; a restart did not help")]},
        "power_verify": {**looked, "findings": [*looked["findings"], seen_later]},
    }
    report = power_report(power_fleet(), "box1", results)
    told = [one for one in report.findings if one.code == "gpu.container_lost_device"]
    assert [one.message for one in told] == ["chat has lost its GPUs; a restart did not help"] and not report.ok


def test_caps_reach_the_host_by_uuid_with_what_their_enforcement_needs() -> None:
    planned = host_power(power_fleet(), "box1")
    assert [(one["card"], one["limit_watts"], one["max_watts"]) for one in planned["caps"]] == [
        ("0", 275.0, 325.0),
        ("1", 260.0, 325.0),
    ]
    assert all(one["uuid"].startswith("GPU-") and one["above_stock"] is None for one in planned["caps"])
    assert planned["caps_file"] == host_power(power_fleet(), "box1")["caps_file"]
    assert planned["tree"]["site"] == "lab"


def test_whatever_is_declared_of_caps_is_what_the_hosts_tool_takes() -> None:
    """Protects: a cap above stock with its dated reason reaches the host, instead of breaking its file of caps."""
    decision = {"date": "2026-10-01", "reason": "measured: the circuit takes it"}
    planned = host_power(power_fleet(limit="310W", ceiling="325W", above_stock=decision), "box1")
    caps = caps_from(json.loads(planned["caps_file"])["caps"])
    assert {cap.card: (cap.limit_watts, cap.ceiling_watts) for cap in caps} == {
        "0": (310.0, 325.0),
        "1": (260.0, 325.0),
    }
    assert {cap.above_stock for cap in caps} == {"2026-10-01: measured: the circuit takes it"}


def test_measured_watts_stand_beside_the_worst_case() -> None:
    results = {"power_verify": verified(275.0, 260.0), "bmc_power_info": BMC}
    report = power_report(power_fleet(), "box1", results).as_result()
    text = power_closing_text({"box1": {**results, "power_report": report}})
    assert "cards draw 40 W now, at most 535 W by their limits" in text
    assert "the whole machine draws 451 W by its BMC (DCMI), 935 W is its worst case" in " ".join(text.split())
    assert "b1" in text


def test_a_bmc_that_gives_no_reading_is_told_with_its_reason() -> None:
    results = {"power_verify": verified(275.0, 260.0, bmc={"watts": None, "reason": "deactivated"})}
    report = power_report(power_fleet(), "box1", results).as_result()
    text = power_closing_text({"box1": {"power_report": report}})
    assert "the whole machine can't be measured (deactivated), 935 W is its worst case" in " ".join(text.split())


def test_a_machine_above_its_worst_case_makes_the_sums_wrong_and_fails() -> None:
    bmc = {"watts": 940.0, "source": "dcmi", "reason": None}
    report = power_report(power_fleet(), "box1", {"power_verify": verified(275.0, 260.0, bmc=bmc)})
    (found,) = [one for one in report.findings if one.fails]
    assert (found.code, found.subject) == ("power.above_worst_case", "host:box1")
    assert "940 W" in found.message and "935 W" in found.message


def test_the_picture_of_a_site_is_named_by_it(tmp_path: Path) -> None:
    report = power_report(power_fleet(), "box1", {"power_verify": verified(275.0, 260.0)})
    paths = written_pictures(report, str(tmp_path / "power"))
    assert [Path(path).name for path in paths] == ["lab.html", "lab.svg"]
    assert all("b1" in Path(path).read_text() for path in paths)


def test_the_picture_marks_what_is_measured_of_every_host_that_was_looked_at(tmp_path: Path) -> None:
    results = {"power_verify": verified(275.0, 260.0), "bmc_power_info": BMC}
    report = power_report(power_fleet(), "box1", results)
    load = next(one for one in report.tree["loads"] if one["name"] == "box1")
    assert load["measured"] == {"cards_watts": 40.0, "bmc_watts": 451.0}
    page = Path(written_pictures(report, str(tmp_path))[0]).read_text()
    assert "measured: cards 40\u00a0W, BMC 451\u00a0W" in page


def test_a_card_that_gives_no_draw_leaves_no_sum_of_cards() -> None:
    cards = [{"draw_watts": 20.0}, {"draw_watts": None}]
    assert measured_watts(cards, {"watts": None}) == {"cards_watts": None, "bmc_watts": None}
    assert measured_watts([], None) == {"cards_watts": None, "bmc_watts": None}
