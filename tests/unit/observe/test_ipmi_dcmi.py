"""The power reading in the layouts of ipmitool's releases and what boards answer in its place.

Protects: a number that a BMC itself calls no measurement is not taken for watts, and no refusal for an idle machine.
"""

from __future__ import annotations

import json

import pytest
from captured import code_set, codes, read, record
from hypothesis import given
from hypothesis import strategies as st

from gpu_seats.observe.ipmi.clock import bmc_time
from gpu_seats.observe.ipmi.dcmi import parse_dcmi
from gpu_seats.observe.records import Observation


def dcmi(text: str, rc: int | None = None) -> Observation:
    return read("ipmitool-dcmi", text, rc)


def printed(watts: str, state: str = "activated", period: str = "00000001 Seconds.", stamp: str = "") -> str:
    stamp = stamp or "Tue May  9 14:24:36 2023"
    return (
        f"\n    Instantaneous power reading:              {watts:>8} Watts\n"
        f"    Minimum during sampling period:           {70:8d} Watts\n"
        f"    Maximum during sampling period:           {600:8d} Watts\n"
        f"    Average power reading over sample period: {220:8d} Watts\n"
        f"    IPMI timestamp:                           {stamp}\n"
        f"    Sampling period:                          {period}\n"
        f"    Power reading state is:                   {state}\n\n\n"
    )


@given(st.integers(1, 65534))
def test_every_wattage_that_the_field_holds_is_read(watts: int) -> None:
    reading = parse_dcmi(printed(str(watts))).records[0].as_dict()
    assert reading["watts"] == float(watts)
    assert (reading["minimum_watts"], reading["maximum_watts"], reading["average_watts"]) == (70.0, 600.0, 220.0)


@given(st.text(alphabet="abIPMI :WattsDC\n0123456789().-", max_size=300), st.sampled_from([None, 0, 1, 124]))
def test_no_text_makes_zero_watts(text: str, rc: int | None) -> None:
    parsed = parse_dcmi(text, rc)
    for one in parsed.records:
        json.dumps(one.as_dict())
        assert one.as_dict().get("watts") != 0
    assert parsed.records or parsed.findings


def test_a_deactivated_measurement_is_none_whatever_number_stands_there() -> None:
    """OpenBMC prints a number, a clock of 1970 and "deactivated" side by side."""
    seen = dcmi(printed("360", "deactivated", "00000000 Seconds.", "Thu Jan  1 00:00:00 1970"))
    reading = record(seen, "bmc_power_reading")
    assert (reading["watts"], reading["average_watts"], reading["printed_watts"]) == (None, None, 360.0)
    assert (reading["state"], reading["timestamp"]) == ("deactivated", None)
    assert "clock" in reading["unknown"]["timestamp"]
    assert codes(seen) == [("bmc.power_deactivated", "bmc:power")]
    assert "deactivated" in reading["unknown"]["watts"] and "360 Watts" in reading["unknown"]["watts"]


def test_a_deactivated_zero_is_told_as_deactivated() -> None:
    assert code_set(dcmi(printed("0", "deactivated"))) == {"bmc.power_deactivated"}


def test_the_state_alone_is_an_answer_without_watts() -> None:
    seen = dcmi("Power reading state is:                   deactivated\n")
    assert record(seen, "bmc_power_reading")["watts"] is None
    assert code_set(seen) == {"bmc.power_deactivated"}


def test_all_bits_set_is_no_reading() -> None:
    seen = dcmi(printed("65535"))
    assert record(seen, "bmc_power_reading")["watts"] is None
    assert record(seen, "bmc_power_reading")["printed_watts"] == 65535.0
    assert code_set(seen) == {"bmc.reading_implausible"}


def test_text_in_place_of_the_number_is_no_reading() -> None:
    seen = dcmi(printed("N/A"))
    assert record(seen, "bmc_power_reading")["watts"] is None
    assert code_set(seen) == {"bmc.reading_implausible"}


@pytest.mark.parametrize(
    ("period", "seconds"),
    [
        ("00123893 Seconds.", 123893.0),
        ("00010000 Milliseconds", 10.0),
        ("1000 ms", 1.0),
        ("5 Sec ", 5.0),
        ("15 minutes", 900.0),
        ("1 hour", 3600.0),
        ("00000000 Seconds.", 0.0),
        ("soon", None),
    ],
)
def test_the_sampling_period_is_read_in_its_units(period: str, seconds: float | None) -> None:
    assert record(dcmi(printed("220", period=period)), "bmc_power_reading")["sampling_s"] == seconds


@pytest.mark.parametrize(
    ("stamp", "iso"),
    [
        ("Tue May  9 14:24:36 2023", "2023-05-09T14:24:36"),
        ("05/09/23 14:24:36 UTC", "2023-05-09T14:24:36+00:00"),
        ("05/09/2023 02:24:36 PM EDT", "2023-05-09T14:24:36"),
        ("05/09/2023 14:24:36", "2023-05-09T14:24:36"),
        ("2023-05-09 14:24:36 UTC", "2023-05-09T14:24:36+00:00"),
        ("Tue 09 May 2023 02:24:36 PM EST EST", "2023-05-09T14:24:36"),
        ("29.05.2023 14:24:36", "2023-05-29T14:24:36"),
        ("Thu Jan  1 00:00:00 1970", None),
        ("Unspecified", None),
        ("", None),
    ],
)
def test_the_time_is_read_in_every_layout(stamp: str, iso: str | None) -> None:
    assert bmc_time(stamp) == iso


def test_time_and_period_on_one_line_are_two_values() -> None:
    text = printed("2064").replace("Tue May  9 14:24:36 2023\n    Sampling", "10/08/2026 06:02:12 PM EDT    Sampling")
    reading = record(dcmi(text), "bmc_power_reading")
    assert (reading["timestamp"], reading["sampling_s"], reading["watts"]) == ("2026-10-08T18:02:12", 1.0, 2064.0)
    assert (reading["minimum_watts"], reading["maximum_watts"]) == (70.0, 600.0)


REFUSED = [
    ("Invalid command (c1)", "bmc.power_unsupported"),
    ("Invalid command on LUN (c2)", "bmc.power_unsupported"),
    ("Parameter out of range (c9)", "bmc.power_unsupported"),
    ("Requested sensor, data, or record not found (cb)", "bmc.power_unsupported"),
    ("Invalid data field in request (cc)", "bmc.power_unsupported"),
    ("Command not supported in present state (d5)", "bmc.power_unsupported"),
    ("Cannot execute command, command disabled (d6)", "bmc.power_unsupported"),
    ("Node busy (c0)", "bmc.busy"),
    ("Timeout (c3)", "bmc.busy"),
    ("Command response could not be provided (ce)", "bmc.busy"),
    ("Device firmeware in update mode (d1)", "bmc.busy"),
    ("BMC initialization in progress (d2)", "bmc.busy"),
    ("Destination unavailable (d3)", "bmc.busy"),
    ("Insufficient privilege level (d4)", "bmc.auth_failed"),
    ("Unspecified error (ff)", "bmc.request_failed"),
    ("Unknown (0x80) (80)", "bmc.request_failed"),
    ("", "bmc.request_failed"),
]


@pytest.mark.parametrize(("reason", "code"), REFUSED)
@pytest.mark.parametrize("ending", ["", "\n", "\n\n"])
@pytest.mark.parametrize("rc", [None, 0, 1])
def test_a_refusal_is_a_value_with_its_reason(reason: str, code: str, ending: str, rc: int | None) -> None:
    seen = dcmi(f"\n    DCMI request failed because: {reason}{ending}", rc)
    reading = record(seen, "bmc_power_reading")
    assert codes(seen) == [(code, "bmc:power")]
    assert reading["watts"] is None
    assert reason in reading["unknown"]["watts"]


V2 = "Error: Unable to establish IPMI v2 / RMCP+ session"
LAN = "Error: Unable to establish LAN session"
DEVICE = "Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0"
AUTH, OUT, BUSY = "bmc.auth_failed", "bmc.unreachable", "bmc.busy"
ACCESS = [
    (f"{LAN}\nError: Unable to establish IPMI v1.5 / RMCP session", OUT),
    (V2, OUT),
    (f"Address lookup for bmc.example failed\nCould not open socket!\n{V2}", OUT),
    (f"Get Auth Capabilities error\nError issuing Get Channel Authentication Capabilities request\n{V2}", OUT),
    (f"> RAKP 2 HMAC is invalid\n{V2}", AUTH),
    (f"RAKP 2 message indicates an error : unauthorized name\n{V2}", AUTH),
    (f"> RAKP 4 message has invalid integrity check value\n{V2}", AUTH),
    (f"Error in open session response message : no matching cipher suite\n\n{V2}", AUTH),
    (f"Error in open session response message : insufficient resources for session\n\n{V2}", BUSY),
    (f"Set Session Privilege Level to ADMINISTRATOR failed: Insufficient privilege level\n{V2}", AUTH),
    (f"Invalid user name\n{LAN}", AUTH),
    (f"Activate Session error:\tInvalid data field in request\n{LAN}", AUTH),
    (f"Authentication type NONE not supported\n{LAN}", AUTH),
    (f"lanplus: password is longer than 20 bytes.\n{V2}", "bmc.password_too_long"),
    (f"Unable to read password from environment\nPassword: {V2}", AUTH),
    (f"{DEVICE}: No such file or directory", "bmc.no_device"),
    (f"{DEVICE}: Permission denied", "bmc.no_device"),
    ("Get Device ID command failed", BUSY),
    ("Get Device ID command failed: 0xc0 Node busy", BUSY),
    ("Get Device ID command failed: BMC initialization in progress", BUSY),
    ("Get Device ID command failed: 0xc1 Invalid command", "bmc.request_failed"),
    ("\n    Unable to get DCMI information", BUSY),
    ("\n    A valid DCMI command was not returned! (8c)", "bmc.power_unsupported"),
    ("bash: ipmitool: command not found", "command.missing"),
    ("timeout: sending signal TERM to command 'ipmitool'", "command.hung"),
    ("Invalid dcmi command: pwr", "command.failed"),
]


@pytest.mark.parametrize(("text", "code"), ACCESS)
def test_no_way_to_the_bmc_is_told_by_its_cause(text: str, code: str) -> None:
    seen = dcmi(text + "\n", 1)
    assert [one.code for one in seen.findings] == [code]
    reading = record(seen, "bmc_power_reading")
    assert reading["watts"] is None
    assert reading["unknown"]["watts"] == seen.findings[0].message


def test_missing_rights_for_the_device_are_told_from_a_missing_device() -> None:
    denied = dcmi("Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0: Permission denied\n")
    absent = dcmi("Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0: No such file or directory\n")
    assert "may not open" in denied.findings[0].message
    assert "no usable device" in absent.findings[0].message


def test_what_ipmitool_repeated_on_the_way_does_not_spoil_the_answer() -> None:
    text = "> Error: no response from RAKP 1 message\nError: Received an Unexpected RAKP 2 message\n" + printed("220")
    seen = dcmi(text)
    assert record(seen, "bmc_power_reading")["watts"] == 220.0
    assert seen.findings == []


def test_what_v_prints_beside_the_answer_is_no_error() -> None:
    text = (
        "Loading IANA PEN Registry...\nUsing best available cipher suite 3\n\n"
        "Running Get VSO Capabilities my_addr 0x20, transit 0, target 0x20\n"
        "Invalid completion code received: Invalid command\nDiscovered IPMB address 0x0\n"
    )
    seen = dcmi(text + printed("220"))
    assert (record(seen, "bmc_power_reading")["watts"], seen.findings) == (220.0, [])
    assert codes(dcmi(text + "\n    DCMI request failed because: Invalid command (c1)\n")) == [
        ("bmc.power_unsupported", "bmc:power")
    ]


@pytest.mark.parametrize(
    ("text", "rc", "code"),
    [
        ("", 124, "command.hung"),
        ("", 127, "command.missing"),
        ("", 0, "bmc.busy"),
        ("", None, "bmc.busy"),
        ("\n\n", 1, "bmc.busy"),
        ("hello world\n", 0, "parse.unrecognised"),
        ('{"watts": 100}\n', 0, "parse.unrecognised"),
    ],
)
def test_silence_and_foreign_text_are_findings(text: str, rc: int | None, code: str) -> None:
    seen = dcmi(text, rc)
    assert code_set(seen) == {code}
    assert all(one.as_dict()["watts"] is None for one in seen.records)


def test_the_limit_of_the_bmc_itself_is_a_record_of_its_own() -> None:
    text = (
        "\n    Current Limit State: No Active Power Limit\n    Exception actions:   Hard Power Off & Log Event to SEL\n"
        "    Power Limit:         1600 Watts\n    Correction time:     1000 milliseconds\n"
        "    Sampling period:     5 seconds\n\n"
    )
    limit = record(dcmi(text), "bmc_power_limit")
    assert (limit["active"], limit["limit_watts"], limit["sampling_s"]) == (False, 1600.0, 5.0)
    assert limit["correction_ms"] == 1000.0
    assert record(dcmi(text.replace("No Active Power Limit", "Power Limit Active")), "bmc_power_limit")["active"]


def test_freeipmi_and_ipmiutil_are_read_and_named_as_other_tools() -> None:
    free = (
        "Current Power                        : 164 Watts\nMinimum Power over sampling duration : 48 watts\n"
        "Maximum Power over sampling duration : 361 watts\nAverage Power over sampling duration : 157 watts\n"
        "Time Stamp                           : 12/29/2023 - 08:58:00\n"
        "Statistics reporting time period     : 1473439000 milliseconds\n"
        "Power Measurement                    : Active\n"
    )
    seen = dcmi(free)
    reading = record(seen, "bmc_power_reading")
    assert (reading["watts"], reading["minimum_watts"], reading["sampling_s"]) == (164.0, 48.0, 1473439.0)
    assert code_set(seen) == {"parse.other_tool"}
    off = dcmi(free.replace(": Active", ": Not Available"))
    assert record(off, "bmc_power_reading")["watts"] is None
