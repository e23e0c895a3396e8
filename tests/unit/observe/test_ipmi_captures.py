"""Every saved output of ipmitool gives the watts that it prints, or none with the reason.

Protects: a BMC without a meter, one that can't be reached and one that prints 0 W never become a load of 0 W.
"""

from __future__ import annotations

from typing import Any

import pytest
from captured import CAPTURES, capture, codes, record

from gpu_seats.observe.tools import observe

READINGS: dict[str, dict[str, Any]] = {
    "dcmi-ok.txt": {
        "source": "dcmi",
        "watts": 197.0,
        "minimum_watts": 175.0,
        "maximum_watts": 242.0,
        "average_watts": 190.0,
        "sampling_s": 123893.0,
        "timestamp": "2022-03-06T15:13:42",
        "state": "activated",
        "reads": None,
    },
    "dcmi-timestamp-sameline.txt": {
        "watts": 1215.0,
        "minimum_watts": 94.0,
        "maximum_watts": 2087.0,
        "average_watts": 194.0,
        "sampling_s": 5.0,
        "timestamp": "2026-08-28T07:12:06+00:00",
        "state": "activated",
    },
    "dcmi-zero-watts.txt": {
        "watts": None,
        "minimum_watts": None,
        "maximum_watts": None,
        "average_watts": None,
        "printed_watts": 0.0,
        "sampling_s": 1.0,
        "timestamp": "2026-11-30T09:00:00",
        "state": "activated",
    },
    **{
        name: {"source": "dcmi", "watts": None, "printed_watts": None, "state": None}
        for name in (
            "auth-failure.txt",
            "dcmi-failed-invalid-command.txt",
            "dcmi-failed-present-state.txt",
            "lan-unreachable.txt",
            "lanplus-unreachable.txt",
            "local-no-device.txt",
        )
    },
}
FINDINGS: dict[str, list[tuple[str, str]]] = {
    "auth-failure.txt": [("bmc.auth_failed", "bmc:access")],
    "dcmi-failed-invalid-command.txt": [("bmc.power_unsupported", "bmc:power")],
    "dcmi-failed-present-state.txt": [("bmc.power_unsupported", "bmc:power")],
    "dcmi-ok.txt": [],
    "dcmi-timestamp-sameline.txt": [],
    "dcmi-zero-watts.txt": [("bmc.reading_zero", "bmc:power")],
    "lan-unreachable.txt": [("bmc.unreachable", "bmc:access")],
    "lanplus-unreachable.txt": [("bmc.unreachable", "bmc:access")],
    "local-no-device.txt": [("bmc.no_device", "bmc:access")],
}
ACCESS = ("auth-failure.txt", "lan-unreachable.txt", "lanplus-unreachable.txt", "local-no-device.txt")


@pytest.mark.parametrize("name", sorted(READINGS))
def test_the_reading_has_the_printed_values(name: str) -> None:
    reading = record(capture(f"ipmitool/{name}"), "bmc_power_reading")
    assert {key: reading[key] for key in READINGS[name]} == READINGS[name]


@pytest.mark.parametrize("name", sorted(READINGS))
def test_every_value_that_is_missing_has_a_reason(name: str) -> None:
    reading = record(capture(f"ipmitool/{name}"), "bmc_power_reading")
    missing = {key for key, value in reading.items() if value is None}
    assert missing == set(reading["unknown"])
    assert all(reading["unknown"].values())


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_the_findings_are_these_and_no_others(name: str) -> None:
    seen = capture(f"ipmitool/{name}")
    assert codes(seen) == FINDINGS[name]
    assert seen.notes == []


@pytest.mark.parametrize("name", [name for name in sorted(READINGS) if READINGS[name]["watts"] is None])
def test_the_reason_of_no_reading_is_what_the_finding_says(name: str) -> None:
    seen = capture(f"ipmitool/{name}")
    assert record(seen, "bmc_power_reading")["unknown"]["watts"] == seen.findings[0].message


@pytest.mark.parametrize("name", ACCESS)
@pytest.mark.parametrize("tool", ["ipmitool-sensor", "ipmitool-chassis", "ipmitool-sel"])
def test_no_way_to_the_bmc_is_the_same_finding_for_every_command(name: str, tool: str) -> None:
    seen = observe(tool, (CAPTURES / "ipmitool" / name).read_bytes())
    assert codes(seen) == FINDINGS[name]
    assert [one.as_dict().get("watts") for one in seen.records] in ([], [None])


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_a_password_in_a_note_is_in_no_answer(name: str) -> None:
    assert "secret" not in str(capture(f"ipmitool/{name}").as_dict())


def test_exit_codes_come_from_the_notes() -> None:
    assert capture("ipmitool/lanplus-unreachable.txt").rc == 1
