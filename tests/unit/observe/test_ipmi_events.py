"""Chassis status and event log: which power events happened, and which of them are over.

Protects: a lost input or a failed supply in the BMC's log is told with its time, and a switch that somebody threw and
threw back is not told as a fault of now.
"""

from __future__ import annotations

import pytest
from captured import code_set, codes, read, record
from hypothesis import given
from hypothesis import strategies as st

from gpu_seats.observe.ipmi.sel import parse_sel
from gpu_seats.observe.records import Observation


def chassis(text: str, rc: int | None = None) -> Observation:
    return read("ipmitool-chassis", text, rc)


def sel(text: str, rc: int | None = None) -> Observation:
    return read("ipmitool-sel", text, rc)


STATUS = """\
System Power         : on
Power Overload       : false
Power Interlock      : inactive
Main Power Fault     : false
Power Control Fault  : false
Power Restore Policy : always-on
Last Power Event     : command
Chassis Intrusion    : inactive
Front-Panel Lockout  : inactive
Drive Fault          : false
Cooling/Fan Fault    : false
Sleep Button Disable : allowed
Power Button Disabled: false
"""


def test_a_sound_chassis_has_no_finding() -> None:
    seen = chassis(STATUS)
    status = record(seen, "chassis_status")
    assert (status["system_power"], status["power_restore_policy"]) == ("on", "always-on")
    assert (status["power_overload"], status["main_power_fault"], status["power_interlock"]) == (False, False, False)
    assert status["last_power_event"] == ["command"]
    assert status["other"]["front-panel lockout"] == "inactive"
    assert seen.findings == []


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("Power Overload       : true", "overloaded"),
        ("Main Power Fault     : true", "main power fault"),
        ("Power Control Fault  : true", "power control fault"),
        ("Power Interlock      : active", "interlock"),
    ],
)
def test_a_power_fault_of_now_is_an_error(line: str, fault: str) -> None:
    key = line.split(":")[0]
    seen = chassis("".join(line + "\n" if one.startswith(key) else one + "\n" for one in STATUS.splitlines()))
    (found,) = seen.findings
    assert (found.code, found.subject, found.severity) == ("bmc.power_fault", "bmc:chassis", "error")
    assert fault in found.message


@pytest.mark.parametrize(
    ("event", "severity"),
    [
        ("ac-failed ", "info"),
        ("overload ", "warning"),
        ("ac-failed overload ", "warning"),
        ("fault command", "warning"),
    ],
)
def test_the_last_loss_of_power_is_told_with_its_kind(event: str, severity: str) -> None:
    seen = chassis(STATUS.replace(": command", f": {event}"))
    assert [(one.code, one.severity) for one in seen.findings] == [("bmc.last_power_event", severity)]
    assert record(seen, "chassis_status")["last_power_event"] == event.split()


def test_an_empty_last_event_is_no_event_and_no_finding() -> None:
    seen = chassis(STATUS.replace(": command", ": "))
    assert record(seen, "chassis_status")["last_power_event"] == []
    assert seen.findings == []


def test_power_status_and_restart_cause_are_read() -> None:
    seen = record(chassis("Chassis Power is off\n"), "chassis_status")
    assert (seen["system_power"], seen["main_power_fault"]) == ("off", None)
    assert seen["unknown"]["main_power_fault"]
    cause = record(chassis("System restart cause: power-up via power button\n"), "chassis_status")
    assert cause["restart_cause"] == "power-up via power button"


def test_a_flag_that_is_neither_true_nor_false_is_unknown() -> None:
    seen = record(chassis(STATUS.replace("Main Power Fault     : false", "Main Power Fault     : ?")), "chassis_status")
    assert seen["main_power_fault"] is None
    assert "?" in seen["unknown"]["main_power_fault"]


@pytest.mark.parametrize(
    ("text", "rc", "code"),
    [
        ("Error sending Chassis Status command\n", 1, "bmc.busy"),
        ("Error sending Chassis Status command: Node busy\n", 1, "bmc.busy"),
        ("Error sending Chassis Status command: Insufficient privilege level\n", 1, "bmc.auth_failed"),
        ("Error: Unable to establish IPMI v2 / RMCP+ session\n", 1, "bmc.unreachable"),
        ("", 0, "bmc.busy"),
        ("", 124, "command.hung"),
        ("nonsense here\n", 0, "parse.unrecognised"),
    ],
)
def test_no_status_is_a_finding(text: str, rc: int, code: str) -> None:
    assert code_set(chassis(text, rc)) == {code}


LIST = """\
   1 | 06/14/2023 | 10:01:17 | Power Supply #0x51 | Power Supply AC lost | Asserted
   2 | 06/14/2023 | 10:01:18 | Power Unit #0x02 | Fully Redundant | Deasserted
   3 | 06/14/2023 | 10:01:18 | Power Unit #0x02 | Redundancy Lost | Asserted
   4 |  Pre-Init  |0000000123| System Event #0x01 | Timestamp Clock Sync | Asserted
   5 | 06/14/2023 | 10:09:00 | Memory #0x02 | Correctable ECC (CPU0_G1 |  DIMMD7) | Asserted
   6 | Linux kernel panic: Fatal excep
  7b | 04/20/2015 | 03:03:14 | OEM record c0 | 000000 | 3a1100ffffff
  7c | OEM record e0 | 0000000000000000000000000
  6a | 09/20/2026 | 01:40:05 PM EDT | Power Unit PowerUnit | Power off/down | Asserted
  6b | 09/20/2026 | 01:40:17 PM EDT | Power Unit PowerUnit | Power off/down | Deasserted
  6c | 09/20/26 | 13:41:00 UTC | Current PSU1 | Upper Critical going high  | Asserted | Reading 9 > Threshold 8 Amps
fe3c | 09/20/2026 | 13:42:00 | Fan Fan2A | Lower Critical going low
"""


def test_the_list_is_read_in_the_layouts_of_old_and_new_releases() -> None:
    seen = sel(LIST)
    events = [one.as_dict() for one in seen.records]
    assert [one["id"] for one in events] == [1, 2, 3, 4, 5, 6, 0x7B, 0x7C, 0x6A, 0x6B, 0x6C, 0xFE3C]
    first = events[0]
    assert (first["time"], first["sensor"], first["sensor_type"]) == (
        "2023-06-14T10:01:17",
        "Power Supply #0x51",
        "Power Supply",
    )
    assert (first["event"], first["direction"]) == ("Power Supply AC lost", "asserted")
    assert (first["is_power"], first["is_fault"]) == (True, True)
    assert events[4]["event"] == "Correctable ECC (CPU0_G1 | DIMMD7)"
    assert (events[9]["direction"], events[9]["time"]) == ("deasserted", "2026-09-20T13:40:17")
    assert (events[10]["time"], events[10]["detail"]) == ("2026-09-20T13:41:00+00:00", "Reading 9 > Threshold 8 Amps")
    assert events[11]["direction"] is None


def test_the_power_events_are_these_and_no_others() -> None:
    events = [one.as_dict() for one in sel(LIST).records]
    assert [one["id"] for one in events if one["is_power"]] == [1, 2, 3, 0x6A, 0x6B, 0x6C]
    assert [one["id"] for one in events if one["is_fault"]] == [1, 2, 3, 0x6A, 0x6C]


def test_an_entry_from_before_the_clock_was_set_has_no_time_and_says_why() -> None:
    entry = record(sel(LIST), "sel_event", 3)
    assert entry["time"] is None
    assert "0000000123 s after the BMC started" in entry["unknown"]["time"]


def test_faults_are_findings_and_those_that_are_over_are_only_information() -> None:
    found = sel(LIST).findings
    assert {one.code for one in found} == {"bmc.power_event"}
    told = {(one.evidence["sensor"], one.evidence["event"]): one for one in found}
    lost = told["Power Supply #0x51", "Power Supply AC lost"]
    assert lost.severity == "warning" and "2023-06-14T10:01:17" in lost.message and "no entry says" in lost.message
    off = told["Power Unit PowerUnit", "Power off/down"]
    assert off.severity == "info" and "over at 2026-09-20T13:40:17" in off.message
    assert told["Power Unit #0x02", "Fully Redundant"].evidence["direction"] == "deasserted"


def test_a_fault_that_comes_again_counts_once_with_its_number_and_last_time() -> None:
    lines = [
        f"  {n} | 06/1{n}/2023 | 10:00:00 | Power Supply #0x51 | Power Supply AC lost | Asserted\n" for n in (1, 2, 3)
    ]
    (found,) = sel("".join(lines)).findings
    assert (found.evidence["times"], found.evidence["first"], found.evidence["last"]) == (
        3,
        "2023-06-11T10:00:00",
        "2023-06-13T10:00:00",
    )


def test_a_fault_that_came_back_after_its_end_is_not_over() -> None:
    text = (
        "  1 | 06/11/2023 | 10:00:00 | Power Supply #0x51 | Power Supply AC lost | Asserted\n"
        "  2 | 06/11/2023 | 10:05:00 | Power Supply #0x51 | Power Supply AC lost | Deasserted\n"
        "  3 | 06/12/2023 | 10:00:00 | Power Supply #0x51 | Power Supply AC lost | Asserted\n"
    )
    (found,) = sel(text).findings
    assert (found.severity, found.evidence["times"], found.evidence["over"]) == ("warning", 2, None)


def test_redundancy_that_is_whole_again_ends_its_loss() -> None:
    text = (
        "  1 | 06/11/2023 | 10:00:00 | Power Unit #0x02 | Redundancy Lost | Asserted\n"
        "  2 | 06/11/2023 | 10:00:00 | Power Unit #0x02 | Fully Redundant | Asserted\n"
    )
    assert [one.severity for one in sel(text).findings] == ["info"]


@pytest.mark.parametrize(
    ("sensor", "event", "direction", "power", "fault"),
    [
        ("Power Supply PS1 Status", "Failure detected", "Asserted", True, True),
        ("Power Supply PS1 Status", "Predictive failure", "Asserted", True, True),
        ("Power Supply #0x39", "AC lost or out-of-range", "Asserted", True, True),
        ("Power Supply #0x39", "Config Error: Vendor Mismatch", "Asserted", True, True),
        ("Power Supply #0x39", "Presence detected", "Asserted", True, False),
        ("Power Supply #0x39", "Presence detected", "Deasserted", True, True),
        ("Power Supply #0x39", "Power Supply Inactive", "Asserted", True, False),
        ("Power Unit #0x61", "AC lost", "Asserted", True, True),
        ("Power Unit #0x61", "240VA power down", "Asserted", True, True),
        ("Power Unit #0x61", "Interlock power down", "Asserted", True, True),
        ("Power Unit #0x61", "Soft-power control failure", "Asserted", True, True),
        ("Power Unit #0x61", "Non-Redundant: Insufficient Resources", "Asserted", True, True),
        ("Power Unit #0x61", "Redundancy Degraded", "Asserted", True, True),
        ("Power Unit #0x61", "Fully Redundant", "Asserted", True, False),
        ("Current Current 1", "Upper Non-critical going high", "Asserted", True, True),
        ("Voltage PSU1 VIN", "Lower Critical going low", "Asserted", True, True),
        ("Voltage P12V", "Lower Critical going low", "Asserted", False, False),
        ("System ACPI Power State #0x01", "S4/S5: soft-off", "Asserted", True, False),
        ("Button #0x02", "Power Button pressed", "Asserted", True, False),
        ("Fan #0x66", "Redundancy Lost", "Asserted", False, False),
        ("Temperature CPU1 Temp", "Upper Critical going high", "Asserted", False, False),
        ("Drive Slot / Bay #0xa5", "Drive Present", "Asserted", False, False),
        ("PSU2 Status", "Power Supply AC lost", "Asserted", True, True),
    ],
)
def test_what_is_about_power_and_what_is_a_fault(
    sensor: str, event: str, direction: str, power: bool, fault: bool
) -> None:
    entry = record(sel(f"  1 | 06/11/2023 | 10:00:00 | {sensor} | {event} | {direction}\n"), "sel_event")
    assert (entry["is_power"], entry["is_fault"]) == (power, fault)


def test_csv_is_read_like_the_table() -> None:
    seen = sel(
        "1,10/26/2014,20:17:30,Event Logging Disabled #0x07,Log area reset/cleared,Asserted\n"
        "SEL Entry: 020002C5C157542000042AFF6FF2FFFF\n"
        "0x0002,10/26/2014,20:17:47,Power Supply #0x51,Power Supply AC lost,Asserted\n"
        "1ff,08/15/26,23:45:40 UTC,Power Supply Status,Power Supply AC lost,Deasserted\n"
        "a,,,OEM record e0,0000000000\n"
    )
    assert [one.as_dict()["id"] for one in seen.records] == [1, 2, 0x1FF, 0xA]
    assert record(seen, "sel_event", 1)["event"] == "Power Supply AC lost"
    assert codes(seen) == [("bmc.power_event", "bmc:sel")]


def test_the_verbose_form_is_read_like_the_table() -> None:
    seen = sel(
        "SEL Record ID          : 00ff\n Record Type           : 02\n Timestamp             : 10/26/2014 20:17:47\n"
        " Generator ID          : 0020\n Sensor Type           : Power Supply\n Sensor Number         : 51\n"
        " Event Type            : Sensor-specific Discrete\n Event Direction       : Assertion Event\n"
        " Event Data            : 03ffff\n Description           : Power Supply AC lost\n\n"
        "SEL Record ID          : 0100\n Timestamp             : 10/26/2014 20:19:47\n"
        " Sensor Type           : Power Supply\n Sensor Number         : 51\n"
        " Event Direction       : Deassertion Event\n Description           : Power Supply AC lost\n"
    )
    assert [(one.as_dict()["id"], one.as_dict()["direction"]) for one in seen.records] == [
        (255, "asserted"),
        (256, "deasserted"),
    ]
    assert [one.severity for one in seen.findings] == ["info"]


def test_an_empty_log_is_no_error() -> None:
    seen = sel("SEL has no entries\n", 0)
    assert (seen.records, seen.findings) == ([], [])
    assert seen.notes == ["the BMC's event log is empty"]


def test_the_words_of_an_event_are_no_error_of_the_tool() -> None:
    for row in (
        "1,10/26/2014,20:17:47,Session Audit #0xff,Invalid user name,Asserted\n",
        "  1 | 10/26/2014 | 20:17:47 | Power Unit #0x61 | Insufficient resources for session | Asserted\n",
    ):
        assert [one.kind for one in sel(row).records] == ["sel_event"]


@pytest.mark.parametrize(
    ("percent", "overflow", "full"), [("2%", "false", False), ("100%", "false", True), ("2%", "true", True)]
)
def test_a_full_log_is_told(percent: str, overflow: str, full: bool) -> None:
    seen = sel(
        "SEL Information\nVersion          : 1.5 (v1.5, v2 compliant)\nEntries          : 107\n"
        f"Free Space       : 63576 bytes \nPercent Used     : {percent}\n"
        "Last Add Time    : 09/20/2026 01:40:17 PM EDT\nLast Del Time    : Not Available\n"
        f"Overflow         : {overflow}\n"
    )
    info = record(seen, "sel_info")
    assert (info["entries"], info["free_bytes"], info["last_add_time"]) == (107, 63576, "2026-09-20T13:40:17")
    assert code_set(seen) == ({"bmc.sel_full"} if full else set())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Get SEL Info command failed\n", "bmc.busy"),
        ("Get SEL Info command failed: Invalid command\n", "bmc.request_failed"),
        ("Unable to reserve SEL\n", "bmc.busy"),
        ("ID | Date | Time\nrubbish\n", "parse.unrecognised"),
    ],
)
def test_no_log_is_a_finding(text: str, code: str) -> None:
    assert code_set(sel(text, 1)) == {code}


def test_a_damaged_line_is_told_and_the_others_count() -> None:
    seen = sel(LIST + "zz | broken | line | here\n")
    assert len(seen.records) == 12
    assert "parse.row_malformed" in code_set(seen)


@given(
    st.lists(st.sampled_from([*LIST.splitlines(), "", "|||", "1,2,3,4", "0 | | | | |", "7 | 01/01/2020"]), max_size=20)
)
def test_no_mix_of_lines_makes_the_log_raise(lines: list[str]) -> None:
    parsed = parse_sel("\n".join(lines))
    assert all(one.kind in ("sel_event", "sel_info") for one in parsed.records)
