"""Protects: what a measurement leaves on the controller, and that its verdict is that of the host's file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_seats.controller.power_measure_result import measure_result
from gpu_seats.declare.fleet import load_fleet
from gpu_seats.findings import finding
from gpu_seats.observe.power_log import log_line

PROJECT = Path(__file__).parents[3]
UUIDS = [f"GPU-5e7a000{n}-c0de-4000-8000-00000000000{n}" for n in range(4)]


@pytest.fixture(scope="module")
def fleet():
    return load_fleet(PROJECT)


def file_text(steps=(0, 4), measured=(0, 4)) -> str:
    plan = {
        "cards": [{"card": str(n), "uuid": UUIDS[n], "cap_watts": 275.0} for n in range(4)],
        "steps": [{"number": n} for n in steps],
        "load": {"command": ["burn", "{index}"]},
        "limits": {"stop_at_watts": 1770.0},
    }
    head = {"kind": "run", "t": "2026-12-01T10:00:00.000Z", "key": "k", "host": "fv-ml1", "plan": plan}
    return b"".join(map(log_line, [head, *(line for number in measured for line in step(number))])).decode()


def step(number):
    draw = 271.0 if number else 10.0
    cards, bmc = 4 * draw, 4 * draw + 400
    at = f"2026-12-01T10:0{number}"
    sample = {
        "kind": "sample",
        "t": f"{at}:20.000Z",
        "step": number,
        "phase": "hold",
        "cards": [{"uuid": uuid, "draw_watts": draw, "limit_watts": 275.0} for uuid in UUIDS],
        "cards_watts": cards,
        "bmc_watts": bmc,
        "bmc_source": "dcmi",
    }
    spread = {"average": bmc, "minimum": bmc, "maximum": bmc, "count": 1}
    of_cards = {**spread, "average": cards, "minimum": cards, "maximum": cards}
    machine = {**spread, "average": 400.0, "minimum": 400.0, "maximum": 400.0}
    by_card = {uuid: {"average": draw} for uuid in UUIDS}
    figures = {"cards_watts": of_cards, "bmc_watts": spread, "machine_watts": machine, "by_card": by_card}
    end = {"kind": "step_end", "t": f"{at}:30.000Z", "number": number, "cards": [str(n) for n in range(number)]}
    return [
        {"kind": "step", "t": f"{at}:00.000Z", "number": number, "cards": end["cards"]},
        sample,
        {**end, "from": f"{at}:10.000Z", "until": f"{at}:29.000Z", "samples": 1, **figures},
    ]


def result(fleet, tmp_path, text, stop=None, told=(), inventories=("/srv/p/inventories/lab",)):
    return measure_result(fleet, "fv-ml1", text, stop, list(told), tmp_path / "out", inventories)


def test_a_whole_measurement(fleet, tmp_path):
    found = result(fleet, tmp_path, file_text())
    assert found.ok and found.verdict == "fv-ml1: 2 steps measured, peak 1484 W at the BMC"
    assert [Path(path).name for path in found.written] == [
        f"fv-ml1-2026-12-01-1000.{ending}" for ending in ("jsonl", "png", "svg", "diff")
    ]
    assert Path(found.written[0]).read_text() == file_text()
    diff = Path(found.written[-1]).read_text()
    assert diff.startswith("# Measured on fv-ml1 through inventories/lab") and "+      standing: measured" in diff
    assert "4     0, 1, 2, 3  1084 W (1084 to 1084)  1484 W (1484 to 1484)  400 W (400 to 400)  1" in found.text
    assert "84 % of the 1770 W that fv-20a leaves to the host" in found.text
    assert not found.as_result()["failed"] and json.dumps(found.as_result())


def test_a_diff_of_another_inventory_is_told_before_anybody_applies_it(fleet, tmp_path):
    """Protects: watts of the lab's simulated cards don't become a declaration of the real host."""
    lab = result(fleet, tmp_path, file_text()).text
    assert "CAREFUL: measured through inventories/lab, and the diff is of inventories/production/host_vars" in lab
    own = result(fleet, tmp_path, file_text(), inventories=["/srv/p/inventories/production/hosts.yml"]).text
    assert "CAREFUL" not in own


def test_what_the_host_file_calls_unknown_is_to_be_read_again(fleet, tmp_path):
    text = result(fleet, tmp_path, file_text()).text
    assert "read power.unknown of inventories/production/host_vars/fv-ml1.yml again, and strike" in text
    assert all(f"  - {one}" in text for one in fleet.hosts["fv-ml1"].power.unknown)
    nothing = result(fleet, tmp_path, file_text(measured=(0,)))
    assert "power.unknown" not in nothing.text


def test_a_run_that_was_stopped_fails_with_its_reason_and_proposes_nothing(fleet, tmp_path):
    stop = {"code": "power.measure_over_threshold", "message": "BMC 1800 W is over", "evidence": {"bmc_watts": 1800}}
    found = result(fleet, tmp_path, file_text(measured=(0,)), stop)
    assert not found.ok and found.diff == "" and "BMC 1800 W is over (1 steps measured" in found.verdict
    assert [one.code for one in found.findings] == ["power.measure_over_threshold"]
    assert [Path(path).suffix for path in found.written] == [".jsonl", ".png", ".svg"]
    assert found.as_result()["failed"]


def test_what_was_refused_before_fails_what_was_measured_after_it(fleet, tmp_path):
    refused = finding("power.measure_step_refused", "host:fv-ml1", "step 3 is not taken")
    assert not result(fleet, tmp_path, file_text(), told=[refused]).ok


def test_a_torn_line_is_told_and_a_file_without_a_run_is_nothing(fleet, tmp_path):
    torn = result(fleet, tmp_path, file_text() + '{"kind":"sample","t"')
    assert torn.ok and [one.code for one in torn.findings] == ["power.log_torn"]
    nothing = result(fleet, tmp_path, "")
    assert not nothing.ok and nothing.written == [] and "nothing was measured" in nothing.verdict
