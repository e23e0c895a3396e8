"""Sensor lists of many boards in every layout of ipmitool, and which of their watts are those of the whole machine.

Protects: a part's power, a supply's output or a sensor without a value is never taken for what the machine draws.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from captured import code_set, read, record
from hypothesis import given
from hypothesis import strategies as st

from gpu_seats.observe.ipmi.sensors import parse_sensors
from gpu_seats.observe.ipmi.watt_sensors import role_of
from gpu_seats.observe.records import Observation


def sensors(text: str, rc: int | None = None) -> Observation:
    return read("ipmitool-sensor", text, rc)


def reading(text: str) -> dict[str, Any]:
    return record(sensors(text), "bmc_power_reading")


def by_name(seen: Observation) -> dict[str, dict[str, Any]]:
    return {one.as_dict()["name"]: one.as_dict() for one in seen.records if one.kind == "bmc_sensor"}


DELL = """\
SEL              | na         | discrete   | na    | na        | na        | na        | na        | na        | na
Inlet Temp       | 18.000     | degrees C  | ok    | na        | -7.000    | 10.000    | 28.000    | 47.000    | na
Fan1             | 3720.000   | RPM        | ok    | na        | 360.000   | 600.000   | na        | na        | na
Voltage 1        | 206.000    | Volts      | ok    | na        | na        | na        | na        | na        | na
Current 1        | 0.200      | Amps       | ok    | na        | na        | na        | na        | na        | na
Fan Redundancy   | 0x0        | discrete   | 0x0180| na        | na        | na        | na        | na        | na
Pwr Consumption  | 98.000     | Watts      | ok    | na        | na        | na        | 1792.000  | 1974.000  | na
"""
HPE = """\
PS 1 Input       | 200.000    | Watts      | ok    | na        | na        | na        | na        | na        | na
PS 2 Input       | 2550.000   | Watts      | ok    | na        | na        | na        | na        | na        | na
Power Meter      | 130.000    | Watts      | ok    | na        | na        | na        | na        | na        | na
CPU Utilization  | 205.000    | unspecified | ok    | na        | na        | na        | na        | na        | na
PS 1 Output      | 0.000      | Watts      | ok    | na        | na        | na        | na        | na        | na
"""
ASUS = """\
CPU2 Temperature | na         |            | na    | na        | na        | na        | 92.000    | 93.000    | 95.000
PSU1 Power In    | 480.000    | Watts      | ok    | na        | na        | na        | na        | na        | na
PSU1 Power Out   | 448.000    | Watts      | ok    | na        | na        | na        | 2464.000  | 2592.000  | na
PSU2 Power In    | 496.000    | Watts      | ok    | na        | na        | na        | na        | na        | na
PSU2 Power Out   | 464.000    | Watts      | ok    | na        | na        | na        | 2464.000  | 2592.000  | na
CPU_Power        | 112.000    | Watts      | ok    | na        | na        | na        | na        | na        | na
Memory_Power     | 8.000      | Watts      | ok    | na        | na        | na        | na        | na        | na
PSU1 AC Lost     | 0x1        | discrete   | 0x0180| na        | na        | na        | na        | na        | na
"""


def test_a_dell_tells_the_whole_machine_with_its_limits() -> None:
    seen = sensors(DELL)
    assert record(seen, "bmc_power_reading")["watts"] == 98.0
    assert record(seen, "bmc_power_reading")["sensors"] == ["Pwr Consumption"]
    power = by_name(seen)["Pwr Consumption"]
    assert power["thresholds"] == {"unc": 1792.0, "ucr": 1974.0}
    assert (power["role"], power["unit"], power["status"]) == ("system", "Watts", "ok")
    assert by_name(seen)["Inlet Temp"]["thresholds"] == {"lcr": -7.0, "lnc": 10.0, "unc": 28.0, "ucr": 47.0}
    assert by_name(seen)["Fan Redundancy"]["state"] == "0x0"
    assert seen.findings == []


def test_a_meter_of_the_machine_goes_before_supplies_and_a_full_byte_is_no_value() -> None:
    seen = sensors(HPE)
    assert record(seen, "bmc_power_reading")["watts"] == 130.0
    broken = by_name(seen)["PS 2 Input"]
    assert (broken["value"], broken["watts"]) == (2550.0, None)
    assert "byte" in broken["unknown"]["watts"]
    assert code_set(seen) == {"bmc.reading_implausible"}


def test_the_inputs_of_the_supplies_are_added_up_not_their_outputs_and_not_the_parts() -> None:
    got = reading(ASUS)
    assert (got["watts"], got["reads"], got["source"]) == (976.0, "ac", "sensor")
    assert got["sensors"] == ["PSU1 Power In", "PSU2 Power In"]
    assert "sum of the inputs" in got["measures"]


def test_outputs_alone_are_said_to_lack_the_supplies_loss() -> None:
    got = reading("PSU1_POUT | 200.000 | Watts | ok\nPSU2_POUT | 100.000 | Watts | ok\n")
    assert (got["watts"], got["reads"]) == (300.0, "dc")
    assert "without their own loss" in got["measures"]


def test_supplies_whose_side_is_not_told_are_added_up_and_the_side_stays_unknown() -> None:
    got = reading("Power Supply 1   | 225 Watts         | ok\nPower Supply 2   | 215 Watts         | ok\n")
    assert (got["watts"], got["reads"]) == (440.0, None)
    assert got["unknown"]["reads"]


def test_a_supply_without_a_value_is_named_in_what_is_measured() -> None:
    seen = sensors("PS1 Input Power | 54h | ok | 10.1 | 84 Watts\nPS2 Input Power | 55h | ns | 10.2 | No Reading\n")
    got = record(seen, "bmc_power_reading")
    assert got["watts"] == 84.0
    assert "PS2 Input Power gives no value" in got["measures"]
    assert [(one.code, one.severity) for one in seen.findings] == [("bmc.sensor_unreadable", "warning")]


def test_an_empty_supply_beside_one_that_carries_all_counts_as_0_in_the_sum() -> None:
    got = reading("PSU1_PIN | 300.000 | Watts | ok\nPSU2_PIN | 0.000 | Watts | ok\n")
    assert (got["watts"], got["sensors"]) == (300.0, ["PSU1_PIN", "PSU2_PIN"])


ZEROS = ["Total_Power | 0.000 | Watts | ok\n", "PSU1_PIN | 0.000 | Watts | ok\nPSU2_PIN | 0.000 | Watts | ok\n"]


@pytest.mark.parametrize("text", ZEROS)
def test_zero_watts_of_a_machine_that_runs_is_no_reading(text: str) -> None:
    seen = sensors(text)
    assert record(seen, "bmc_power_reading")["watts"] is None
    assert code_set(seen) == {"bmc.reading_zero"}


def test_a_dead_meter_does_not_hide_supplies_that_read() -> None:
    assert reading("SYS_POWER | 0.000 | Watts | ok\nPSU1_PIN | 210.000 | Watts | ok\n")["watts"] == 210.0


@pytest.mark.parametrize(
    "text",
    [
        "CPU_Power | 112.000 | Watts | ok\nMemory_Power | 8.000 | Watts | ok\n",
        "GPU1_PWR | 3Ch | ok | 11.1 | 275 Watts\n",
        "PDB Flux | 400.000 | Watts | ok\n",
    ],
)
def test_parts_and_unknown_names_are_not_taken_for_the_machine(text: str) -> None:
    seen = sensors(text)
    assert record(seen, "bmc_power_reading")["watts"] is None
    assert code_set(seen) == {"bmc.no_power_sensor"}
    assert "there are: " in seen.findings[0].message


def test_an_operator_can_name_the_sensor() -> None:
    text = "PDB Flux | 400.000 | Watts | ok\nPwr Consumption | 300.000 | Watts | ok\n"
    named = parse_sensors(text, named="pdb flux").records[0].as_dict()
    assert (named["watts"], named["sensors"]) == (400.0, ["PDB Flux"])
    missing = parse_sensors(text, named="PDB Flow")
    assert missing.records[0].as_dict()["watts"] is None
    assert [one.code for one in missing.findings] == ["bmc.no_power_sensor"]


LAYOUTS = {
    "sensor": "PSU1 Power In    | 500.000    | Watts      | ok    | na | na | na | 900.000 | na | na\n"
    "PSU2 Power In    | na         | Watts      | na    | na | na | na | 900.000 | na | na\n"
    "CPU Temp         | 46.000     | degrees C  | ok    | na | na | na | na | na | na\n",
    "sdr": "PSU1 Power In    | 500 Watts         | ok\nPSU2 Power In    | no reading        | ns\n"
    "CPU Temp         | 46 degrees C      | ok\n",
    "sdr, disabled": "PSU1 Power In    | 500 Watts         | ok\nPSU2 Power In    | disabled          | ns\n"
    "CPU Temp         | 46 degrees C      | ok\n",
    "elist": "PSU1 Power In    | 05h | ok  |  7.5 | 500 Watts\nPSU2 Power In    | 07h | ns  |  7.7 | No Reading\n"
    "CPU Temp         | 01h | ok  |  7.1 | 46 degrees C\n",
    "elist, disabled": "PSU1 Power In    | 05h | ok  |  7.5 | 500 Watts\n"
    "PSU2 Power In    | 07h | ns  |  7.7 | Disabled\n"
    "CPU Temp         | 01h | ok  |  7.1 | 46 degrees C\n",
    "-c sdr": "PSU1 Power In,500,Watts,ok\nPSU2 Power In,,,ns\nCPU Temp,46,degrees C,ok\n",
    "-c sdr with entities": "PSU1 Power In,500,Watts,ok,10.1,\nPSU2 Power In,no reading,Watts,ns,10.2,\n"
    "CPU Temp,46,degrees C,ok,3.1,\n",
    "-c sensor": "PSU1 Power In,500.000,Watts,ok,na,na,na,900.000,na,na\nPSU2 Power In,na,Watts,na,na,na,na,na,na,na\n"
    "CPU Temp,46.000,degrees C,ok,na,na,na,na,na,na\n",
    "-v sdr": "Sensor ID              : PSU1 Power In (0x5)\n Entity ID             : 7.5 (System Board)\n"
    " Sensor Type (Threshold)  : Power Supply (0x08)\n Sensor Reading        : 500 (+/- 0) Watts\n"
    " Status                : ok\n Positive Hysteresis   : Unspecified\n\n"
    "Sensor ID              : PSU2 Power In (0x7)\n Sensor Type (Threshold)  : Power Supply (0x08)\n"
    " Sensor Reading        : No Reading\n Status                : Not Available\n\n"
    "Sensor ID              : CPU Temp (0x1)\n Sensor Reading        : 46 (+/- 0) degrees C\n Status : ok\n",
    "sensor get": "Locating sensor record...\nSensor ID              : PSU1 Power In (0x5)\n Entity ID  : 7.5\n"
    " Sensor Type (Threshold)  : Power Supply\n Sensor Reading        : 500.250 (+/- 8) Watts\n Status : ok\n"
    " Upper Critical        : 900.000\n\nSensor ID              : PSU2 Power In (0x7)\n Entity ID : 7.7\n"
    " Sensor Reading        :  Unable to read sensor: Device Not Present\n\n\n"
    "Sensor ID              : CPU Temp (0x1)\n Sensor Reading        : 46 (+/- 0) degrees C\n",
    "decimal comma": "PSU1 Power In    | 500,5 Watts       | ok\nPSU2 Power In    | no reading        | ns\n"
    "CPU Temp         | 46,0 degrees C    | ok\n",
}


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_every_layout_gives_the_same_values(layout: str) -> None:
    seen = sensors(LAYOUTS[layout])
    named = by_name(seen)
    assert list(named) == ["PSU1 Power In", "PSU2 Power In", "CPU Temp"]
    first, second, temperature = named.values()
    assert int(first["watts"]) == 500 and first["unit"] == "Watts" and first["role"] == "psu_input"
    assert second["watts"] is None and second["role"] == "psu_input" and second["unknown"]["watts"]
    assert (temperature["value"], temperature["unit"], temperature["watts"]) == (46.0, "degrees C", None)
    assert record(seen, "bmc_power_reading")["watts"] == first["watts"]
    assert code_set(seen) == {"bmc.sensor_unreadable"}


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_every_value_that_is_missing_has_a_reason(layout: str) -> None:
    for one in sensors(LAYOUTS[layout]).records:
        data = one.as_dict()
        assert {key for key, value in data.items() if value is None} == set(data["unknown"])


def test_states_and_rows_of_other_kinds_are_kept_apart_from_numbers() -> None:
    seen = by_name(
        sensors(
            "PS1 Status       | E6h | ok  | 10.1 | Presence detected, Failure detected\n"
            "Chassis Intru    | AAh | ok  | 23.1 |\nBMC              | 00h | ok  |  7.1 | Dynamic MC @ 20h\n"
            "FRU0             | 00h | ns  |  7.1 | Logical FRU @00h\nEvt              | A1h | ns  |  4.0 | Event-Only\n"
            "PwrStat          | 0x0180            | ok\nPwr Consumption  | 77h | ok  |  7.1 | 420 Watts\n"
        )
    )
    assert seen["PS1 Status"]["state"] == "Presence detected, Failure detected"
    assert (seen["PS1 Status"]["number"], seen["PS1 Status"]["entity"]) == (0xE6, "10.1")
    assert (seen["PwrStat"]["state"], seen["PwrStat"]["watts"], seen["PwrStat"]["role"]) == ("0x0180", None, None)
    assert seen["Chassis Intru"]["value"] is None and seen["Evt"]["value"] is None
    assert seen["Pwr Consumption"]["watts"] == 420.0


def test_a_raw_value_in_watts_is_no_number_of_watts() -> None:
    seen = sensors("Pwr Consumption  | 0x54       | Watts      | ok    | na | na | na | na | na | na\n")
    assert record(seen, "bmc_power_reading")["watts"] is None
    assert "raw" in by_name(seen)["Pwr Consumption"]["unknown"]["watts"]


ROLES = {
    "system": "Pwr Consumption|PW Consumption|System Level|Power Meter|SYS_POWER|SystemTotalPower|POWER_USAGE"
    "|Total_Power|Sys Power|System Power|Total Power|total_power|System Board Pwr Consumption|Chassis Power|Input Power"
    "|Power"
    "|PSU Total Power|Sys Total Power|Node Power|Total Power Out|PWR_SYSTEM|AC Input Power|PWR_IN|TOTAL_PIN|/SYS/VPS"
    "|Current Power|System Wattage",
    "psu_input": "PS1 Input Power|PS 1 Input|PSU1_PIN|PSU0_PIN|PSU1 PIN|PSU1 Power In|PSU_1_AC_In_Pwr|PS2_Input_Power"
    "|PSU1PowerIn",
    "psu_output": "PS 1 Output|PSU1_Pout|PSU1 POUT|PSU1 Power Out|PSU_2_DC_Out_Pwr",
    "psu": "Power Supply 1|PS1 Power|PWR_PSU0|Power1|PSU1 Total Power|PMBPower1",
    "component": "CPU_Power|CPU0_Power|Memory_Power|FAN_Power|GPU Power|SW1_Power|GPU Total Power|CPU1 Total Power"
    "|Disk_Power|HSC Input Power|MB_P12V_INA219_O|Total GPU Power|P1 Power|/SYS/MB/VPS|Node1 Power",
    "other": "AvgPwrIns1|Sys Pwr Cap|Peak Power|Power Limit|Max Power",
}


@pytest.mark.parametrize(("role", "name"), [(role, name) for role, names in ROLES.items() for name in names.split("|")])
def test_names_of_real_boards_tell_what_they_count(role: str, name: str) -> None:
    assert role_of(name) == role


def test_the_surest_name_wins_among_several_of_the_machine() -> None:
    got = reading(
        "Input Power | 420.000 | Watts | ok\nTotal Power Out | 350.000 | Watts | ok\n"
        "Total_Power | 400.000 | Watts | ok\n"
    )
    assert (got["watts"], got["sensors"]) == (400.0, ["Total_Power"])


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Get Device ID command failed: 0xc0 Node busy\nUnable to open SDR for reading\n", {"bmc.busy"}),
        ("Error obtaining SDR info: Invalid command\n", {"bmc.request_failed"}),
        ("Get SDR 0001 command failed: BMC initialization in progress\n", {"bmc.busy"}),
        ("CPU Temp         | 46 degrees C      | ok\n", {"bmc.no_power_sensor"}),
        ('Locating sensor record...\nSensor data record "Watts" not found!\n', {"bmc.no_power_sensor"}),
        ("", {"bmc.busy"}),
        ("what is this\n", {"parse.unrecognised"}),
    ],
)  # fmt: skip
def test_no_sensors_is_a_finding_and_no_watts(text: str, codes: set[str]) -> None:
    seen = sensors(text)
    assert code_set(seen) == codes
    assert all(one.as_dict().get("watts") is None for one in seen.records)


def test_an_error_beside_rows_does_not_spoil_them() -> None:
    """OpenBMC lists some sensors and then fails at one record."""
    seen = sensors("Total_Power      | 21h | ok  |  7.1 | 700 Watts\nGet SDR 0042 command failed: Unspecified error\n")
    assert record(seen, "bmc_power_reading")["watts"] == 700.0
    assert code_set(seen) == {"bmc.request_failed"}


_NAMES = st.sampled_from([name for names in ROLES.values() for name in names.split("|")] + ["", "x|y", "Fan,1"])
_VALUES = st.sampled_from(
    ["0.000", "98.000", "na", "0x1", "2550.000", "-5", "1e9", "500 Watts", "", "No Reading", "9" * 40]
)


@given(st.lists(st.tuples(_NAMES, _VALUES, st.sampled_from(["Watts", "", "na", "discrete", "RPM"]))), st.booleans())
def test_no_mix_of_rows_gives_zero_or_negative_watts_or_raises(rows: list[tuple[str, str, str]], csv: bool) -> None:
    join = "," if csv else " | "
    parsed = parse_sensors("".join(join.join([*row, "ok", "na", "na", "na", "na", "na", "na"]) + "\n" for row in rows))
    for one in parsed.records:
        data = one.as_dict()
        json.dumps(data, allow_nan=False)
        if one.kind == "bmc_power_reading":
            assert data["watts"] is None or data["watts"] > 0
            assert (data["watts"] is None) == ("watts" in data["unknown"])
