"""What the simulated BMC answers: readings, sensors, events, chassis, with the completion codes of its failures.

Protects: the real ipmitool reads the figures that the simulated cards stand for, and every failure as a board has it.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from bmc_sim import control, event_log, identity, sensors, state
from bmc_sim.meter import HostWatts, Meter, cards_watts
from bmc_sim.server import Board
from gpu_sim import claims, machine
from gpu_sim import control as gpu_control
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

DCMI, READING = 0x2C, bytes([0xDC, 1, 0, 0])
HOST = HostWatts(baseline_watts=313.0, under_load_watts=400.0)
ANY_EXAMPLE = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


class Cards:
    """Cards that draw what a test says, and a clock that it moves."""

    def __init__(self, *watts: float) -> None:
        self.watts, self.now = list(watts), 100.0

    def meter(self) -> Meter:
        return Meter(HOST, cards=lambda: (self.watts, 100.0), clock=lambda: self.now)


def board(meter: Meter | None = None) -> Board:
    return Board(meter or Cards(3.8, 3.8, 3.8, 3.8).meter(), supplies=4)


def reading(asked: Board) -> dict[str, int]:
    """The power reading as DCMI lays it out."""
    code, data = asked.answer(DCMI, 0x02, READING)
    assert code == 0
    names = ("group", "now", "lowest", "highest", "mean", "time", "period_ms", "active")
    return dict(zip(names, struct.unpack("<B4HIIB", data)))


def test_watts_are_the_declared_ones_and_the_cards(bmc_state: Path) -> None:
    assert HOST.total([3.8] * 4, 100.0) == pytest.approx(328.2)
    assert HOST.total([275.0] * 4, 100.0) == 1500.0
    assert HOST.total([275.0, 3.8, 3.8, 3.8], 100.0) == pytest.approx(686.4)


def test_lowest_highest_and_mean_are_those_of_its_own_samples(bmc_state: Path) -> None:
    cards = Cards(0, 0, 0, 0)
    meter = cards.meter()
    asked = board(meter)
    for watts in (275.0, 10.0):
        cards.watts, cards.now = [watts, 0, 0, 0], cards.now + 1.5
        meter.sample()
    cards.watts = [300.0] * 4  # not sampled yet
    seen = reading(asked)
    assert (seen["now"], seen["lowest"], seen["highest"]) == (323, 313, 675)
    assert seen["mean"] == round((313 + 675 + 323) / 3) and seen["period_ms"] == 3000
    assert seen["group"] == 0xDC and seen["active"] == 0x40


def test_the_meter_reads_the_cards_and_not_what_nvidia_smi_is_made_to_say(cards: Path) -> None:
    gpu_control.switch_on("err-values", None)
    held = claims.HeldClaim(machine.load_machine().cards[1].uuid, "load", "gpu-sim load", 512, 400.0)
    watts, busy_above = cards_watts()
    assert watts == [3.8, 300.0, 3.8, 3.8] and busy_above == 100.0
    with machine.changing_machine() as kept:
        kept.cards[1].limit_w = 275.0
    assert cards_watts()[0][1] == 275.0
    held.release()
    assert cards_watts()[0] == [3.8] * 4


@pytest.mark.parametrize(
    ("fault", "code"),
    [("dcmi-unsupported", 0xC1), ("dcmi-no-meter", 0xD5), ("busy", 0xC0)],
)
def test_failures_that_give_no_reading(bmc_state: Path, fault: str, code: int) -> None:
    asked = board()
    state.set_fault(fault, None)
    assert asked.answer(DCMI, 0x02, READING) == (code, b"")
    assert control.clear(None) == f"off: {fault}"
    assert reading(asked)["now"] == 328


def test_a_busy_bmc_answers_after_so_many_refusals(bmc_state: Path) -> None:
    asked = board()
    state.set_fault("busy", 2)
    assert [asked.answer(DCMI, 0x02, READING)[0] for _ in range(4)] == [0xC0, 0xC0, 0, 0]


@pytest.mark.parametrize(("fault", "active"), [("zero", 0x40), ("deactivated", 0)])
def test_readings_that_are_none(bmc_state: Path, fault: str, active: int) -> None:
    state.set_fault(fault, None)
    seen = reading(board())
    assert (seen["now"], seen["lowest"], seen["highest"], seen["mean"], seen["active"]) == (0, 0, 0, 0, active)


@pytest.mark.parametrize("data", [b"", b"\xdc", b"\xdd\x01\x00\x00", b"\xdc\x02\x00\x00"])
def test_a_power_request_of_another_form_is_refused(bmc_state: Path, data: bytes) -> None:
    assert board().answer(DCMI, 0x02, data)[0] in (0xC1, 0xC7, 0xCC)


@ANY_EXAMPLE
@given(function=st.integers(0, 0x3F), command=st.integers(0, 0xFF), data=st.binary(max_size=12))
def test_no_request_whatever_it_says_brings_the_bmc_down(
    bmc_state: Path, function: int, command: int, data: bytes
) -> None:
    code, answer = board().answer(function, command, data)
    assert 0 <= code <= 0xFF and isinstance(answer, bytes) and len(answer) < 64


def walked(asked: Board, chunk: int = 255) -> list[bytes]:
    """All sensor records, read in pieces as ipmitool reads them."""
    found, wanted = [], 0
    while wanted != 0xFFFF:
        head = asked.answer(0x0A, 0x23, struct.pack("<HHBB", 1, wanted, 0, 5))[1]
        following, length = struct.unpack("<H", head[:2])[0], head[6]
        record = bytearray(head[2:])
        while len(record) < 5 + length:
            count = min(chunk, 5 + length - len(record))
            code, part = asked.answer(0x0A, 0x23, struct.pack("<HHBB", 1, wanted, len(record), count))
            if code == 0xCA:  # more at once than the board gives: ask for less, as ipmitool does
                chunk = count - 1
                continue
            assert code == 0
            record += part[2:]
        found.append(bytes(record))
        wanted = following
    return found


def name_of(record: bytes) -> str:
    start = 5 + (42 if record[3] == 1 else 26)
    return record[start + 1 : start + 1 + (record[start] & 0x1F)].decode()


@given(chunk=st.integers(1, 255))
@ANY_EXAMPLE
def test_the_repository_is_the_same_in_pieces_of_every_size(bmc_state: Path, chunk: int) -> None:
    asked = board()
    records = walked(asked, chunk)
    assert len(records) == struct.unpack("<H", asked.answer(0x0A, 0x20, b"")[1][1:3])[0]
    assert [name_of(r) for r in records][:5] == ["CPU Temp", "System Temp", "FAN1", "FAN2", "PW Consumption"]
    assert [name_of(r) for r in records][-4:] == [f"PS{i} Status" for i in (1, 2, 3, 4)]
    assert [struct.unpack("<H", r[:2])[0] for r in records] == list(range(1, len(records) + 1))


def watts_sensor(asked: Board) -> tuple[float, bool]:
    """Watts of the sensor in watts by its record's factor, and whether it has a reading."""
    record = next(r for r in walked(asked) if r[3] == 1 and r[5 + 16] == sensors.WATTS)
    factor = record[5 + 19] | (record[5 + 20] & 0xC0) << 2
    code, data = asked.answer(0x04, 0x2D, record[7:8])
    assert code == 0
    return float(data[0] * factor), not data[1] & 0x20


@pytest.mark.parametrize("cards", [(3.8,) * 4, (275.0,) * 4, (325.0,) * 4])
def test_the_sensor_in_watts_says_what_the_meter_says_in_its_coarse_steps(
    bmc_state: Path, cards: tuple[float, ...]
) -> None:
    meter = Cards(*cards).meter()
    watts, readable = watts_sensor(board(meter))
    assert readable and abs(watts - meter.figures().current) <= 5


def test_a_sensor_in_watts_that_is_gone_or_has_no_reading(bmc_state: Path) -> None:
    asked = board()
    state.set_fault("sensor-unreadable", None)
    assert watts_sensor(asked)[1] is False
    state.set_fault("no-sensor", None)
    assert "PW Consumption" not in [name_of(r) for r in walked(asked)]
    assert asked.answer(0x04, 0x2D, bytes([sensors.WATTS_NUMBER]))[0] == 0xCB


def logged(asked: Board) -> list[tuple[int, ...]]:
    """Sensor type, number, event type and offset of every record, first to last, by walking through the log."""
    found: list[tuple[int, ...]] = []
    wanted = 0
    while wanted != 0xFFFF:
        code, data = asked.answer(0x0A, 0x43, struct.pack("<HHBB", 0, wanted, 0, 0xFF))
        if code == 0xCB and not found:
            return []
        assert code == 0 and len(data) == 18
        found.append(tuple(data[12:16]))
        wanted = struct.unpack("<H", data[:2])[0]
    return found


def test_power_events_are_logged_with_the_sensor_that_saw_them(bmc_state: Path) -> None:
    asked = board()
    assert logged(asked) == []
    assert control.log_event("supply-ac-lost", 2, back=False) == "supply-ac-lost of supply 2 logged"
    control.log_event("redundancy-lost", 1, back=False)
    control.log_event("supply-ac-lost", 2, back=True)
    control.log_event("ac-lost", 1, back=False)
    assert logged(asked) == [(8, 0x82, 0x6F, 3), (8, 0x71, 0x0B, 1), (8, 0x82, 0xEF, 3), (9, 0x70, 0x6F, 4)]
    assert struct.unpack("<H", asked.answer(0x0A, 0x40, b"")[1][1:3])[0] == 4


def test_a_supply_shows_its_condition_until_it_is_over(bmc_state: Path) -> None:
    asked = board()

    def states(number: int) -> int:
        return asked.answer(0x04, 0x2D, bytes([number]))[1][2]

    assert (states(0x82), states(sensors.REDUNDANCY_NUMBER)) == (0x01, 0x01)
    control.log_event("supply-failure", 2, back=False)
    control.log_event("supply-ac-lost", 2, back=False)
    assert (states(0x82), states(0x81), states(sensors.REDUNDANCY_NUMBER)) == (0x0B, 0x01, 0x02)
    control.log_event("supply-failure", 2, back=True)
    assert states(0x82) == 0x09
    control.clear(None)
    assert states(0x82) == 0x01


def test_the_log_is_cleared_by_request_and_says_so(bmc_state: Path) -> None:
    asked = board()
    control.log_event("power-off", 1, back=False)
    assert asked.answer(0x0A, 0x47, b"\x01\x00CLR\xaa") == (0, b"\x01")
    assert logged(asked) == [(0x10, 0, 0x6F, 2)]
    assert asked.answer(0x0A, 0x47, b"\x01\x00CLX\xaa")[0] == 0xCC


def test_a_full_log_drops_its_oldest_event(bmc_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "CAPACITY", 3)
    for at in range(5):
        event_log.log(event_log.EVENTS["power-off"], at=at)
    assert [(entry["id"], entry["time"]) for entry in event_log.entries()] == [(3, 2), (4, 3), (5, 4)]


@pytest.mark.parametrize(
    ("flag", "status"),
    [
        (None, (0x21, 0x10, 0)),
        ("overload", (0x23, 0x02, 0)),
        ("interlock", (0x25, 0x04, 0)),
        ("main-fault", (0x29, 0x08, 0)),
        ("control-fault", (0x31, 0x10, 0)),
        ("ac-failed", (0x21, 0x01, 0)),
        ("cooling-fault", (0x21, 0x10, 0x08)),
    ],
)
def test_chassis_status_tells_its_flags(bmc_state: Path, flag: str | None, status: tuple[int, ...]) -> None:
    if flag is not None:
        assert control.set_chassis(flag, on=True) == f"chassis flags: {flag}"
    assert board().answer(0x00, 0x01, b"") == (0, bytes(status))
    if flag is not None:
        assert control.set_chassis(flag, on=False) == "chassis flags: none"


def test_the_chassis_is_not_to_be_switched(bmc_state: Path) -> None:
    assert [board().answer(0x00, 0x02, bytes([action]))[0] for action in range(6)] == [0xC1] * 6


def test_it_says_that_it_is_a_simulator(bmc_state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = identity.fru()
    product = whole[8:]
    assert sum(whole[:8]) % 256 == 0 and sum(product) % 256 == 0 and len(product) == product[1] * 8
    assert b"SIMULATED BMC" in product
    asked = board()
    read = b"".join(asked.answer(0x0A, 0x11, struct.pack("<BHB", 0, at, 16))[1][1:] for at in range(0, len(whole), 16))
    assert read == whole
    assert asked.answer(0x06, 0x01, b"")[1][6:9] == b"\0\0\0"  # no vendor's number
    with pytest.raises(SystemExit, match="0"):
        control.main(["--help"])
    assert "SIMULATED" in capsys.readouterr().out


def test_a_failure_that_does_not_exist_is_refused(bmc_state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        control.main(["fault", "explode"])
    assert "invalid choice: 'explode'" in capsys.readouterr().err
    assert state.active_faults() == {}


def test_status_tells_watts_failures_and_conditions(
    cards: Path, bmc_state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "bmc.json"
    config.write_text('{"address": "10.0.0.9", "user": "u", "baseline_watts": 313, "under_load_watts": 400}')
    control.main(["fault", "busy", "3"])
    control.main(["event", "supply-failure", "--supply", "2"])
    control.main(["chassis", "overload"])
    capsys.readouterr()
    assert control.main(["--config", str(config), "status"]) == 0
    told: Any = capsys.readouterr().out
    for part in ("SIMULATED BMC on 10.0.0.9 port 623", "now 328 W", "busy 3", "overload", "2: failure", "1 events"):
        assert part in told
