"""A BMC is asked once for what it lacks, again for what passes, and never longer than it may take.

Protects: no play hangs or fails on a BMC, no missing reading becomes 0 W, and no password reaches a command line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_seats.observe.command import CommandResult
from gpu_seats.observe.ipmi.access import BmcAccess, bmc_access
from gpu_seats.observe.ipmi.reading import BmcMeter, bmc_reading, power_reader

LAN = BmcAccess(address="10.0.0.9", username="monitor", password="pass word")
OK = (
    "\n    Instantaneous power reading:                   197 Watts\n"
    "    Minimum during sampling period:                175 Watts\n"
    "    Maximum during sampling period:                242 Watts\n"
    "    Average power reading over sample period:      190 Watts\n"
    "    IPMI timestamp:                           Sun Mar  6 15:13:42 2022\n"
    "    Sampling period:                          00000060 Seconds.\n"
    "    Power reading state is:                   activated\n\n"
)
ZERO = OK.replace("197", "  0")
NO_DCMI = "\n    DCMI request failed because: Invalid command (c1)\n"
BUSY = "\n    DCMI request failed because: Node busy (c0)\n"
DEACTIVATED = OK.replace("activated", "deactivated")
SENSORS = "PS1 Input Power | 54h | ok | 10.1 | 84 Watts\nPS2 Input Power | 55h | ok | 10.2 | 90 Watts\n"
NO_SENSORS = "CPU Temp | 01h | ok | 3.1 | 46 degrees C\n"
CHASSIS = "System Power         : on\nMain Power Fault     : false\nLast Power Event     : ac-failed\n"
EVENTS = (
    "  1 | 06/14/2023 | 10:01:17 | Power Supply #0x51 | Power Supply AC lost | Asserted\n"
    "  2 | 06/14/2023 | 10:01:17 | Memory #0x51 | Correctable ECC | Asserted\n"
)
NO_SESSION = "Error: Unable to establish IPMI v2 / RMCP+ session\n"
WRONG_PASSWORD = "> RAKP 2 HMAC is invalid\n" + NO_SESSION
NO_DEVICE = "Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0: No such file or directory\n"
HANGS, MISSING = "(hangs)", "(missing)"


class FakeBmc:
    """Answers ipmitool's requests in the C locale. answers: by the request's first word, the last one repeats."""

    def __init__(self, **answers: str | list[str]) -> None:
        self.answers = {name: list(said) if isinstance(said, list) else [said] for name, said in answers.items()}
        self.asked: list[str] = []
        self.argv: list[list[str]] = []
        self.environments: list[Mapping[str, str]] = []
        self.now = 0.0
        self.slept: list[float] = []
        self.request_s = 0.1

    def run(self, argv: Sequence[str], limit_s: float, environment: Mapping[str, str] | None = None) -> CommandResult:
        request = next(one for one in argv if one in ("dcmi", "sdr", "chassis", "sel"))
        self.asked.append(request)
        self.argv.append(list(argv))
        self.environments.append(dict(environment or {}))
        said = self.answers.get(request, [""])
        text = said.pop(0) if len(said) > 1 else said[0]
        if text == HANGS:
            self.now += limit_s
            return CommandResult(tuple(argv), None, "", "", limit_s, timed_out=True)
        self.now += min(self.request_s, limit_s)
        if text == MISSING:
            return CommandResult(tuple(argv), None, "", "ipmitool: No such file or directory", missing=True)
        return CommandResult(tuple(argv), 0, text, "", self.request_s)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def read(self, access: BmcAccess = LAN, **options: Any) -> dict[str, Any]:
        return bmc_reading(self.run, access, sleep=self.sleep, clock=lambda: self.now, **options)

    def meter(self) -> BmcMeter:
        return BmcMeter(self.run, LAN, sleep=self.sleep, clock=lambda: self.now)


def codes(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(one["code"], one["severity"]) for one in answer["findings"]]


def test_a_bmc_with_dcmi_is_asked_for_nothing_else_of_its_power() -> None:
    bmc = FakeBmc(dcmi=OK, chassis=CHASSIS, sel=EVENTS)
    answer = bmc.read()
    assert bmc.asked == ["dcmi", "chassis", "sel"]
    assert (answer["watts"], answer["source"], answer["reason"]) == (197.0, "dcmi", None)
    assert (answer["minimum_watts"], answer["maximum_watts"], answer["average_watts"]) == (175.0, 242.0, 190.0)
    assert (answer["sampling_s"], answer["state"], answer["sensors"]) == (60.0, "activated", [])
    assert answer["chassis"]["last_power_event"] == ["ac-failed"]
    assert [one["event"] for one in answer["events"]] == ["Power Supply AC lost"]
    assert codes(answer) == [("bmc.last_power_event", "info"), ("bmc.power_event", "warning")]
    json.dumps(answer)


@pytest.mark.parametrize("said", [NO_DCMI, DEACTIVATED, "\n    A valid DCMI command was not returned! (0)\n"])
def test_what_the_board_lacks_is_asked_once_and_its_sensors_are_read(said: str) -> None:
    bmc = FakeBmc(dcmi=said, sdr=SENSORS, chassis=CHASSIS)
    answer = bmc.read(events=False)
    assert bmc.asked == ["dcmi", "sdr", "chassis"]
    assert bmc.slept == []
    assert (answer["watts"], answer["source"], answer["reads"]) == (174.0, "sensor", "ac")
    assert [(one["name"], one["watts"]) for one in answer["sensors"]] == [
        ("PS1 Input Power", 84.0),
        ("PS2 Input Power", 90.0),
    ]
    assert answer["findings"][0]["severity"] == "info"


def test_a_busy_bmc_is_asked_again_with_a_pause() -> None:
    bmc = FakeBmc(dcmi=[BUSY, "", OK], chassis=CHASSIS)
    answer = bmc.read(events=False)
    assert bmc.asked == ["dcmi", "dcmi", "dcmi", "chassis"]
    assert bmc.slept == [2.0, 2.0]
    assert answer["watts"] == 197.0
    assert codes(answer) == [("bmc.last_power_event", "info")]


def test_a_bmc_that_stays_busy_is_null_with_the_reason() -> None:
    bmc = FakeBmc(dcmi=BUSY, sdr="Get Device ID command failed: Node busy\n", chassis=CHASSIS)
    answer = bmc.read(events=False)
    assert bmc.asked.count("dcmi") == 3
    assert answer["watts"] is None and answer["source"] is None
    assert "Node busy (c0)" in answer["reason"]
    assert "bmc.busy" in {code for code, _ in codes(answer)}


def test_a_zero_is_asked_again_and_then_the_sensors() -> None:
    bmc = FakeBmc(dcmi=[ZERO, OK], chassis=CHASSIS)
    assert bmc.read(events=False)["watts"] == 197.0
    zero = FakeBmc(dcmi=ZERO, sdr=SENSORS, chassis=CHASSIS)
    assert zero.read(events=False)["watts"] == 174.0
    assert zero.asked == ["dcmi", "dcmi", "dcmi", "sdr", "chassis"]


def test_zero_both_ways_is_null_never_0() -> None:
    answer = FakeBmc(dcmi=ZERO, sdr="Total_Power | 21h | ok | 7.1 | 0 Watts\n", chassis=CHASSIS).read()
    assert answer["watts"] is None
    assert "0 W" in answer["reason"]
    assert ("bmc.reading_zero", "warning") in codes(answer)


def test_neither_dcmi_nor_a_sensor_is_null_with_both_reasons() -> None:
    answer = FakeBmc(dcmi=NO_DCMI, sdr=NO_SENSORS, chassis=CHASSIS).read()
    assert answer["watts"] is None
    assert "Invalid command (c1)" in answer["reason"] and "no sensor has the unit watts" in answer["reason"]
    assert [code for code, _ in codes(answer)][:2] == ["bmc.power_unsupported", "bmc.no_power_sensor"]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (NO_SESSION, "bmc.unreachable"),
        (WRONG_PASSWORD, "bmc.auth_failed"),
        (NO_DEVICE, "bmc.no_device"),
        (HANGS, "bmc.unreachable"),
        (MISSING, "command.missing"),
    ],
)
def test_no_way_to_the_bmc_ends_the_questions_at_once(said: str, code: str) -> None:
    """A login that is repeated locks the account."""
    bmc = FakeBmc(dcmi=said, sdr=SENSORS, chassis=CHASSIS, sel=EVENTS)
    answer = bmc.read()
    assert bmc.asked == ["dcmi"]
    assert (answer["watts"], answer["chassis"], answer["events"]) == (None, None, [])
    assert [one["code"] for one in answer["findings"]] == [code]
    assert answer["reason"] == answer["findings"][0]["message"]


def test_a_bmc_that_hangs_while_it_refuses_the_login_is_told_as_that() -> None:
    def run(argv: Sequence[str], limit_s: float, environment: Mapping[str, str] | None = None) -> CommandResult:
        return CommandResult(
            tuple(argv), None, "", "> Error: no response from RAKP 1 message\n", limit_s, timed_out=True
        )

    answer = bmc_reading(run, LAN)
    assert [one["code"] for one in answer["findings"]] == ["bmc.auth_failed"]


@given(
    st.lists(st.sampled_from([OK, ZERO, NO_DCMI, BUSY, DEACTIVATED, "", HANGS, NO_SESSION]), min_size=1, max_size=4),
    st.sampled_from([SENSORS, NO_SENSORS, "", HANGS, NO_SESSION, "garbage"]),
    st.sampled_from([CHASSIS, "", HANGS, NO_SESSION, "garbage"]),
    st.sampled_from([EVENTS, "", HANGS, "SEL has no entries\n", "garbage"]),
    st.floats(0.0, 40.0),
    st.floats(5.0, 90.0),
)
def test_whatever_a_bmc_does_ends_in_time_and_never_as_zero(
    dcmi: list[str], sdr: str, chassis: str, sel: str, request_s: float, total_s: float
) -> None:
    bmc = FakeBmc(dcmi=dcmi, sdr=sdr, chassis=chassis, sel=sel)
    bmc.request_s = request_s
    answer = bmc.read(total_s=total_s)
    assert bmc.now <= total_s + 1e-6
    assert answer["watts"] is None or answer["watts"] > 0
    assert (answer["watts"] is None) == bool(answer["reason"])
    assert answer["watts"] is not None or answer["findings"]
    json.dumps(answer)


def test_a_sampler_asks_what_the_board_lacks_only_once() -> None:
    bmc = FakeBmc(dcmi=NO_DCMI, sdr=SENSORS)
    meter = bmc.meter()
    assert [meter.power().reading.watts for _ in range(3)] == [174.0, 174.0, 174.0]
    assert bmc.asked == ["dcmi", "sdr", "sdr", "sdr"]


def test_a_sampler_goes_on_asking_a_bmc_that_was_busy() -> None:
    bmc = FakeBmc(dcmi=[BUSY, BUSY, BUSY, OK], sdr=SENSORS)
    meter = bmc.meter()
    assert [meter.power().reading.watts, meter.power().reading.watts] == [174.0, 197.0]


def test_the_reader_of_a_sampler_gives_the_watts_of_one_try() -> None:
    bmc = FakeBmc(dcmi=[BUSY, OK], sdr="")
    read = power_reader(bmc.run, LAN)
    first, second = read(), read()
    assert (first["watts"], second["watts"]) == (None, 197.0)
    assert first["reason"] and bmc.slept == []
    assert "chassis" not in bmc.asked


def test_a_named_sensor_is_read_without_dcmi() -> None:
    bmc = FakeBmc(dcmi=OK, sdr="PDB Flux | 21h | ok | 7.1 | 400 Watts\n" + SENSORS, chassis=CHASSIS)
    answer = bmc.read(named="PDB Flux", events=False)
    assert (answer["watts"], bmc.asked) == (400.0, ["sdr", "chassis"])


def test_the_password_is_on_no_command_line_and_in_no_answer() -> None:
    bmc = FakeBmc(dcmi=NO_DCMI, sdr=SENSORS, chassis=CHASSIS, sel=EVENTS)
    answer = bmc.read()
    assert not any("pass word" in word for argv in bmc.argv for word in argv)
    assert all(environment["IPMI_PASSWORD"] == "pass word" for environment in bmc.environments)
    assert "-E" in bmc.argv[0] and "-P" not in bmc.argv[0]
    assert "pass word" not in json.dumps(answer)
    assert "pass word" not in repr(LAN)


def test_a_password_file_goes_to_ipmitool_by_its_name(tmp_path: Path) -> None:
    secret = tmp_path / "bmc"
    secret.write_text("pass word\n")
    bmc = FakeBmc(dcmi=OK, chassis=CHASSIS)
    bmc.read(BmcAccess(address="10.0.0.9", username="monitor", password_file=str(secret)), events=False)
    assert bmc.argv[0][bmc.argv[0].index("-f") + 1] == str(secret)
    assert bmc.environments[0] == {}


@pytest.mark.parametrize(("interface", "longest"), [("lanplus", 20), ("lan", 16)])
def test_a_password_that_ipmi_can_not_hold_is_told_before_it_is_tried(
    interface: str, longest: int, tmp_path: Path
) -> None:
    secret = tmp_path / "bmc"
    secret.touch(0o600)
    for length, ok in ((longest, True), (longest + 1, False)):
        secret.write_text("x" * length + "\r\nsecond line\n")
        for access in (
            BmcAccess(interface, "10.0.0.9", username="u", password="x" * length),
            BmcAccess(interface, "10.0.0.9", username="u", password_file=str(secret)),
        ):
            bmc = FakeBmc(dcmi=OK, chassis=CHASSIS)
            answer = bmc.read(access, events=False)
            assert (answer["watts"] is not None) == ok
            assert bool(bmc.asked) == ok
            if not ok:
                assert [code for code, _ in codes(answer)] == ["bmc.password_too_long"]
                assert f"takes {longest}" in answer["reason"]


@pytest.mark.parametrize(("mode", "told"), [(0o600, []), (0o400, []), (0o640, ["warning"]), (0o604, ["warning"])])
def test_a_password_file_that_others_can_read_is_told(tmp_path: Path, mode: int, told: list[str]) -> None:
    secret = tmp_path / "password"
    secret.write_text("s3cret\n")
    secret.chmod(mode)
    access = BmcAccess(address="10.0.0.9", username="u", password_file=str(secret))
    answer = FakeBmc(dcmi=OK, chassis=CHASSIS).read(access, events=False)
    exposed = [one for one in answer["findings"] if one["code"] == "bmc.password_exposed"]
    assert [one["severity"] for one in exposed] == told
    assert all(f"mode {mode:04o}" in one["message"] and "s3cret" not in str(one) for one in exposed)


def test_a_password_file_that_is_not_there_is_a_finding_and_no_login_is_tried() -> None:
    bmc = FakeBmc(dcmi=OK)
    answer = bmc.read(BmcAccess(address="10.0.0.9", username="u", password_file="/no/such/file"))
    assert bmc.asked == []
    assert [code for code, _ in codes(answer)] == ["bmc.auth_failed"]
    assert "/no/such/file" in answer["reason"]


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, "open"),
        ({"address": "10.0.0.9"}, "open"),
        ({"address": "10.0.0.9", "username": "u"}, "lanplus"),
        ({"address": "10.0.0.9", "password_file": "/x"}, "lanplus"),
        ({"address": "10.0.0.9", "interface": "lan"}, "lan"),
        ({"address": "10.0.0.9", "username": "u", "interface": "open"}, "open"),
    ],
)
def test_auto_is_the_network_only_with_a_login(options: dict[str, Any], kind: str) -> None:
    access = bmc_access(options, {})
    assert access.kind == kind
    assert access.argv()[:3] == ["ipmitool", "-I", kind]
    assert ("-H" in access.argv()) == (kind != "open")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"interface": "lanplus"}, "needs the address"),
        ({"interface": "serial"}, "not one of auto, open, lanplus, lan"),
        ({"privilege": "god"}, "not one of callback, user"),
        ({"address": "a", "username": "u", "port": 70000}, "port 70000"),
        ({"address": "-oProxy", "username": "u"}, "starts with a dash"),
        ({"address": "a", "username": "u", "password_env": "NOT_SET"}, "NOT_SET"),
        ({"address": "a", "username": "u", "password": "p", "password_file": "/f"}, "both given"),
        ({"address": "a", "username": "u", "password": "p", "password_env": "SET"}, "keep one"),
    ],
)
def test_options_that_lead_to_no_bmc_are_refused_with_what_to_do(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        bmc_access(options, {"SET": "secret"})


def test_the_password_comes_from_the_named_variable() -> None:
    access = bmc_access({"address": "a", "username": "u", "password_env": "SET"}, {"SET": "secret"})
    assert access.environment() == {"IPMI_PASSWORD": "secret", "IPMITOOL_PASSWORD": "secret"}
    assert "secret" not in " ".join(access.argv())
