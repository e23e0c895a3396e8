"""Protects: what a measurement proposes for the host file is what was measured, keeps every other line, and is still a
declaration; nothing is written by itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gpu_seats.controller.measured_host_file import host_file_change
from gpu_seats.declare.fleet import load_fleet
from gpu_seats.observe.power_log import PowerLog
from gpu_seats.plan.power.measurement import measurement_of, supply_reading

PROJECT = Path(__file__).parents[3]
HOST_FILE = "inventories/production/host_vars/fv-ml1.yml"
UUIDS = [f"GPU-5e7a000{n}-c0de-4000-8000-00000000000{n}" for n in range(4)]


def measured(bmc=1487.0, draws=(270.1, 271.2, 269.9, 270.8), cards=4, clamp=None, steps=(0, 4)):
    plan = {
        "steps": [{"number": number} for number in steps],
        "cards": [{"card": str(n), "uuid": UUIDS[n], "cap_watts": 275.0} for n in range(4)],
        "load": {"command": ["gpu-burn", "-i", "{index}", "{seconds}"]},
    }
    records = [
        {"kind": "run", "t": "2026-12-01T10:00:00.000Z", "host": "fv-ml1", "key": "k", "plan": plan},
        end(0, 0, 391.0, (3.8, 3.9, 62.7, 7.0)),
        {"kind": "sample", "step": 4, "phase": "hold", "t": "2026-12-01T10:04:05.000Z", **bmc_of(bmc)},
        end(4, cards, bmc, draws),
    ]
    if clamp is not None:
        records.append({"kind": "clamp", "t": "2026-12-01T10:04:06.000Z", **clamp})
    return measurement_of(PowerLog(records))


def bmc_of(watts):
    return {"bmc_watts": watts, "bmc_source": "dcmi" if watts else None}


def end(number, cards, bmc, draws):
    total = sum(draws)

    def spread(value):
        return None if bmc is None else {"average": value, "minimum": value - 4.2, "maximum": value + 6.5, "count": 20}

    return {
        "kind": "step_end",
        "t": f"2026-12-01T10:0{number}:59.000Z",
        "number": number,
        "cards": [str(n) for n in range(cards)],
        "from": f"2026-12-01T10:0{number}:00.000Z",
        "until": f"2026-12-01T10:0{number}:58.000Z",
        "samples": 20,
        "cards_watts": {"average": total, "minimum": total, "maximum": total, "count": 20},
        "bmc_watts": spread(bmc or 0.0),
        "machine_watts": spread((bmc or 0.0) - total),
        "by_card": {UUIDS[n]: {"average": draws[n], "minimum": 1, "maximum": 2, "count": 20} for n in range(4)},
    }


@pytest.fixture(scope="module")
def fleet():
    return load_fleet(PROJECT)


def added(diff: str) -> list[str]:
    return [line[1:] for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++")]


def removed(diff: str) -> list[str]:
    return [line[1:].strip() for line in diff.splitlines() if line.startswith("-") and not line.startswith("---")]


def test_the_figure_of_full_load_a_reading_and_nothing_else(fleet):
    change = host_file_change(fleet, measured(), None)
    assert change.file == HOST_FILE
    assert added(change.diff)[:5] == [
        "      watts: 405W",
        "      low: 400W",
        "      high: 412W",
        "      standing: measured",
        '      date: "2026-12-01"',
    ]
    assert '      - date: "2026-12-01"' in added(change.diff)
    assert "        instantaneous: 1487W" in added(change.diff) and "        maximum: 1494W" in added(change.diff)
    assert "        gpus: [270.1W, 271.2W, 269.9W, 270.8W]" in added(change.diff)
    assert "with no card loaded, 391 W with 77 W on the cards" in change.after.replace("\n          ", " ")
    assert "watts: 400W" in removed(change.diff) and not [one for one in removed(change.diff) if "313W" in one]
    assert change.before == (PROJECT / HOST_FILE).read_text()


def test_the_diff_applies_as_it_is(fleet, tmp_path):
    change = host_file_change(fleet, measured(), None)
    target = tmp_path / HOST_FILE
    target.parent.mkdir(parents=True)
    target.write_text(change.before)
    (tmp_path / "it.diff").write_text("# a line of words first\n" + change.diff)
    subprocess.run(["git", "apply", "it.diff"], cwd=tmp_path, check=True, timeout=20)
    assert target.read_text() == change.after


def test_a_clamp_meter_that_decides_is_written_with_its_arithmetic(fleet):
    of = measured(clamp={"watts": 1610.0, "around": "host"})
    supply = supply_reading(of, {"fv-20a": (25.0, 150.0)})
    text = host_file_change(fleet, of, supply).diff
    assert "      reads: dc" in added(text) and "reads: unknown" in removed(text)
    assert "+8.3 %" in text and "      low: 0.08" not in added(text)
    unclear = supply_reading(of, {"fv-20a": (25.0, 150.0)}).__class__("unknown", "words")
    assert "reads" not in "".join(added(host_file_change(fleet, of, unclear).diff))


@pytest.mark.parametrize(
    "partly",
    [{"cards": 2}, {"bmc": None}, {"draws": (270.0, 270.0, 270.0, 100.0)}],
)
def test_a_partial_load_leaves_the_declared_machine_and_adds_the_reading(fleet, partly):
    text = host_file_change(fleet, measured(**partly), None).diff
    assert removed(text) == []
    assert "standing: measured" not in "".join(added(text)) and '      - date: "2026-12-01"' in added(text)
    if "bmc" in partly:
        assert "instantaneous" not in text and "no BMC answered" in text and " 0W" not in text


def test_a_run_that_was_cut_off_proposes_nothing(fleet):
    assert host_file_change(fleet, measured(steps=(0, 4, 5)), None).diff == ""


def test_no_step_no_change(fleet):
    plan = {"cards": [], "load": {}, "steps": []}
    head = {"kind": "run", "t": "2026-12-01T10:00:00.000Z", "host": "fv-ml1", "key": "k", "plan": plan}
    nothing = measurement_of(PowerLog([head]))
    assert host_file_change(fleet, nothing, None).diff == ""
