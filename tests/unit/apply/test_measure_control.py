"""Protects: a measurement is started once, resumed where it was cut off, and looked at without mistaking an older run's
lines for the running one's."""

from __future__ import annotations

import json
import socket
import stat
from pathlib import Path

import pytest
from measured_host import UUIDS, FakeHost, plan_data

from gpu_seats.apply.host_lock import HostLock
from gpu_seats.apply.power_measure import unit
from gpu_seats.apply.power_measure.control import Control, MeasureError, longest_s
from gpu_seats.apply.power_measure.lease import GO_ON, Lease
from gpu_seats.apply.power_measure.plan import measure_plan
from gpu_seats.apply.power_measure.watcher import orders_of
from gpu_seats.observe.command import CommandResult
from gpu_seats.observe.power_log import log_line, read_power_log

NOW = 1_800_000_000.0


class FakeSystemd:
    """Answers systemctl and systemd-run; keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[list[str]] = []
        self.active = "inactive"
        self.fails = ""

    def __call__(self, argv, limit_s, environment=None):
        self.told.append(list(argv))
        if argv[0] == "systemd-run":
            return CommandResult(tuple(argv), 1 if self.fails else 0, "", self.fails)
        if argv[:2] == ["systemctl", "stop"]:
            self.active = "inactive"
        return CommandResult(tuple(argv), 0, f"ActiveState={self.active}\nResult=success\n", "")

    @property
    def started(self) -> list[list[str]]:
        return [argv for argv in self.told if argv[0] == "systemd-run"]


@pytest.fixture
def systemd(monkeypatch, tmp_path):
    monkeypatch.setattr(unit, "_SYSTEMD", tmp_path)
    return FakeSystemd()


@pytest.fixture
def control(systemd, tmp_path):
    return Control(systemd, ["/usr/bin/python3", "/tool.pyz"], str(tmp_path / "run"), lambda: NOW)


@pytest.fixture
def plan(tmp_path):
    return measure_plan(plan_data(2, folder=str(tmp_path / "pool")))


def left_by(plan, done: int, complete: bool = False, name: str = "20260101T000000Z") -> Path:
    """A file that a run left which had measured that many steps."""
    path = Path(plan.folder) / f"measure-{name}-{plan.key}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [log_line({"kind": "run", "t": "2026-01-01T00:00:00.000Z", "key": plan.key, "host": plan.host})]
    lines += [log_line({"kind": "step_end", "t": f"2026-01-01T00:0{n}:00.000Z", "number": n}) for n in range(done)]
    if complete:
        lines.append(log_line({"kind": "end", "t": "2026-01-01T00:09:00.000Z", "complete": True}))
    path.write_bytes(b"".join(lines))
    return path


def test_start_runs_the_unit_within_its_limits(control, systemd, plan, tmp_path):
    answer = control.start(plan)
    assert (answer["resumes"], answer["first_step"], answer["done"]) == (False, 0, {})
    assert answer["log"] == f"{plan.folder}/measure-20270115T080000Z-{plan.key}.jsonl"
    orders = tmp_path / "run" / "orders.json"
    assert stat.S_IMODE(orders.stat().st_mode) == 0o600 and stat.S_IMODE(orders.parent.stat().st_mode) == 0o700
    assert orders_of(orders.read_text()).plan == plan
    (argv,) = systemd.started
    assert argv[-5:] == ["/usr/bin/python3", "/tool.pyz", "measure", "--orders", str(orders)]
    assert f"--property=RuntimeMaxSec={longest_s(plan):.0f}" in argv and "--property=KillMode=mixed" in argv
    assert "--unit=gpu-seats-power-measure.service" in argv
    assert not [one for one in argv if UUIDS[0] in one], "what is measured stands in a file, not in a process list"


def test_a_run_that_was_cut_off_is_resumed_with_what_it_had(control, plan, tmp_path):
    path = left_by(plan, 2)
    answer = control.start(plan)
    assert answer["resumes"] and answer["log"] == str(path) and answer["first_step"] == 2
    assert answer["done"] == {"0": "2026-01-01T00:00:00.000Z", "1": "2026-01-01T00:01:00.000Z"}
    assert orders_of((tmp_path / "run" / "orders.json").read_text()).runs == 1


@pytest.mark.parametrize("how", ["fresh", "fresh of a complete one", "other plan"])
def test_a_new_file_where_nothing_can_be_resumed(control, plan, how):
    old = left_by(plan, 2, complete=how == "fresh of a complete one")
    if how == "other plan":
        plan = measure_plan({**plan.as_dict(), "load": {"command": ["other", "{uuid}"]}})
    answer = control.prospect(plan, fresh=how.startswith("fresh"))
    assert not answer["resumes"] and answer["log"] != str(old) and answer["first_step"] == 0


def test_only_the_newest_file_of_a_plan_is_gone_on_with(control, plan):
    left_by(plan, 1, name="20260101T000000Z")
    newest = left_by(plan, 2, name="20260102T000000Z")
    assert control.prospect(plan)["log"] == str(newest)


def test_what_was_measured_to_its_end_is_not_loaded_again_without_being_asked(control, systemd, plan):
    """Protects: a playbook that is run twice puts load on the cards once."""
    path = left_by(plan, 3, complete=True)
    for call in (control.start, control.prospect):
        with pytest.raises(MeasureError, match=r"to the end at 2026-01-01T00:09:00\.000Z") as caught:
            call(plan)
        (found,) = caught.value.findings
        assert found.code == "power.measure_complete" and found.evidence["log"] == str(path)
        assert "-e fresh=true" in found.remedy and "-e fresh=true" in str(caught.value)
    assert systemd.started == []


def test_a_second_start_is_refused_and_touches_nothing(control, systemd, plan, tmp_path):
    control.start(plan)
    before = (tmp_path / "run" / "orders.json").read_bytes()
    other = measure_plan({**plan.as_dict(), "host": "other"})
    held = HostLock("power measurement of fv-ml1", str(tmp_path / "run" / "lock"))
    with held, pytest.raises(MeasureError, match="a measurement runs already: process") as caught:
        control.start(other)
    assert [one.code for one in caught.value.findings] == ["power.measure_busy"]
    assert "systemctl stop gpu-seats-power-measure.service" in str(caught.value)
    assert (tmp_path / "run" / "orders.json").read_bytes() == before and len(systemd.started) == 1


def test_what_systemd_refuses_is_told_in_its_words(control, systemd, plan, monkeypatch, tmp_path):
    systemd.fails = "Failed to start transient service unit: Unit was already loaded"
    with pytest.raises(MeasureError, match="Unit was already loaded") as caught:
        control.start(plan)
    assert caught.value.findings[0].code == "power.measure_not_started"
    monkeypatch.setattr(unit, "_SYSTEMD", tmp_path / "none")
    with pytest.raises(MeasureError, match="does not run systemd"):
        control.start(plan)


def test_a_look_renews_the_lease_and_tells_how_far_it_is(control, systemd, plan, tmp_path):
    log = Path(control.start(plan, hold=True)["log"])
    lease = Lease(tmp_path / "run" / "lease")
    assert lease.word() == "hold"
    systemd.active = "active"
    waiting = control.look()
    assert waiting["running"] and not waiting["started"] and waiting["step"] is None and lease.word() == "hold"
    host = FakeHost(plan)
    host.run()
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(host.content)
    seen = control.look(GO_ON)
    assert lease.word() == GO_ON
    assert (seen["step"], seen["ended"], seen["complete"], seen["stop"]) == (2, True, True, None)
    assert set(seen["done"]) == {"0", "1", "2"}
    assert seen["sample"]["by_card"].keys() == {"0", "1"} and seen["sample"]["total_watts"] is not None


def test_lines_of_the_run_before_are_not_the_new_ones(control, plan):
    path = left_by(plan, 1)
    with path.open("ab") as stream:
        stream.write(log_line({"kind": "stop", "t": "x", "code": "power.card_over_cap", "message": "old"}))
        stream.write(log_line({"kind": "end", "t": "x", "complete": False}))
    control.start(plan)
    seen = control.look()
    assert not seen["started"] and seen["stop"] is None and not seen["ended"]
    assert control.prospect(plan)["stopped_before"]["message"] == "old"


def test_after_a_boot_the_host_knows_of_none(control):
    seen = control.look()
    assert seen["gone"] and not seen["running"] and not seen["complete"]


def test_a_reading_is_added_to_a_finished_file(control, plan):
    path = left_by(plan, 3, complete=True)
    found = control.finished(plan.folder, plan.host, within_s=1e12)
    assert found["log"] == str(path) and found["ended"] == "2026-01-01T00:09:00.000Z"
    assert control.finished(plan.folder, plan.host, within_s=86400) is None, "a year ago is not today"
    assert control.finished(plan.folder, "other", within_s=1e12) is None
    control.note(found["log"], {"kind": "clamp", "watts": 1480.0, "around": "host"})
    last = read_power_log(path.read_bytes()).last("clamp")
    assert last["watts"] == 1480.0 and last["t"] == "2027-01-15T08:00:00.000Z"
    assert control.read(str(path))["log_text"].count("\n") == 6
    with pytest.raises(MeasureError, match="cannot be read: No such file"):
        control.read(str(path) + "x")


def test_an_unfinished_run_is_no_finished_one(control, plan):
    left_by(plan, 2)
    assert control.finished(plan.folder, plan.host, within_s=1e12) is None


def test_a_finished_run_is_found_whatever_loaded_it(control, plan):
    """Protects: a clamp meter's reading needs no load command, and never resumes another plan."""
    other = measure_plan({**plan.as_dict(), "load": {"command": ["other", "{uuid}"]}})
    path = left_by(other, 3, complete=True)
    left_by(plan, 2, name="20260102T000000Z")
    assert control.finished(plan.folder, plan.host, within_s=1e12)["log"] == str(path)
    assert control.finished(str(path.parent / "none"), plan.host, within_s=1e12) is None


def test_facts_are_cards_bmc_and_where_the_file_would_be(tmp_path):
    def run(argv, limit_s):
        rows = f"0, {UUIDS[0]}, 12.50, 275.00, 275.00\n"
        return CommandResult(tuple(argv), 0, rows, "")

    facts = Control(run, ["python3", str(tmp_path / "none.pyz")]).facts([UUIDS[0]], {}, str(tmp_path / "a" / "b"))
    assert facts["cards"] == [{"uuid": UUIDS[0], "draw_watts": 12.5, "limit_watts": 275.0, "index": 0}]
    assert facts["bmc"] == {"watts": None, "source": None, "reason": "none is asked"}
    assert Path(facts["mount"]).is_mount()
    assert json.dumps(facts)


def test_facts_look_up_the_program_and_ask_the_seats(control):
    """Protects: a load that can't be started is told before the first step, not after it."""
    found = control.facts([], {}, "/", "sh", [])
    assert found["program"].endswith("/sh") and found["seats"] == {}
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        asked = control.facts([], {}, "/", "no-such-burner", [port])
    assert asked["program"] is None
    assert asked["seats"][str(port)]["answers"] is False and "refused" in asked["seats"][str(port)]["said"]
