"""The simulated BMC on its way to the host and on the network, with pyghmi's server side stood in for.

Protects: the password is root's alone, a silent BMC says nothing to anybody, and readings for days fill no memory.
"""

from __future__ import annotations

import socket
import stat
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from bmc_sim import server, state
from bmc_sim.meter import HostWatts, Meter

from lab import declared, host_files
from lab.bmc import installation

PROJECT = Path(__file__).resolve().parents[3]
CONFIG = server.Config("127.0.0.1", "reader", 313.0, 400.0)


@pytest.fixture
def listening(bmc_state: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The object that pyghmi would call, after `listen`; what reached pyghmi's own handling is in `opened`."""

    class Bmc:
        def __init__(self, logins: server.Logins, **where: object) -> None:
            self.logins, self.where = logins, where
            self.opened: list[tuple[bytes, object]] = []
            made.append(self)

        def sessionless_data(self, data: bytes, sender: object) -> None:
            self.opened.append((data, sender))

    made: list[Bmc] = []
    module = ModuleType("pyghmi.ipmi.bmc")
    vars(module)["Bmc"] = Bmc
    monkeypatch.setitem(sys.modules, "pyghmi.ipmi.bmc", module)
    meter = Meter(HostWatts(313.0, 400.0), cards=lambda: ([275.0] * 4, 100.0))
    server.listen(CONFIG, "secret", server.Board(meter, 4))
    return made[0]


class Session:
    """Keeps what it is told to send."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, list[int]]] = []

    def send_ipmi_response(self, data: list[int], code: int) -> None:
        self.sent.append((code, data))


def asked(bmc: Any) -> list[tuple[int, list[int]]]:
    session = Session()
    request = {"netfn": 0x2C, "command": 0x02, "data": bytearray([0xDC, 1, 0, 0])}
    bmc.handle_raw_request(request, session)
    return session.sent


def test_requests_are_answered_and_a_silent_bmc_answers_nobody(listening: Any) -> None:
    assert listening.where["address"] == "127.0.0.1" and listening.where["port"] == 623
    (code, data), *others = asked(listening)
    assert code == 0 and int.from_bytes(bytes(data[1:3]), "little") == 1500 and others == []
    listening.sessionless_data(b"packet", ("127.0.0.1", 9))
    state.set_fault("silent", None)
    listening.sessionless_data(b"other", ("127.0.0.1", 9))
    assert asked(listening) == [] and listening.opened == [(b"packet", ("127.0.0.1", 9))]


def test_a_slow_bmc_answers_late(listening: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    state.set_fault("slow", None)
    assert len(asked(listening)) == 1
    state.set_fault("slow", 0.5)
    asked(listening)
    assert slept == [2.0, 0.5]


def test_the_password_is_another_one_with_the_fault_on(listening: Any) -> None:
    logins = listening.logins
    assert "reader" in logins and "somebody" not in logins and logins["reader"] == "secret"
    state.set_fault("wrong-password", None)
    assert logins["reader"] != "secret"


def test_samples_are_taken_without_a_request_and_a_meter_that_fails_ends_the_bmc(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = iter([[0.0], [275.0], [100.0]])  # then it is at its end, which is an error
    meter = Meter(HostWatts(313.0, 400.0), cards=lambda: (next(drawn), 100.0))
    slept: list[float] = []
    ended: list[int] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(server.os, "_exit", ended.append)
    server.sample_for_ever(meter)
    seen = meter.figures()
    assert (seen.current, seen.minimum, seen.maximum, slept, ended) == (413.0, 313.0, 675.0, [1.0] * 3, [1])
    assert "StopIteration" in capsys.readouterr().err


def test_clients_of_long_ago_are_forgotten_and_the_socket_is_kept() -> None:
    handlers: dict[Any, Any] = {"socket": 1, ("10.0.0.1", 5): 2}
    doors = server.Doors()
    doors.close_old(handlers, now=0.0)
    handlers["10.0.0.1", 6] = 3
    doors.close_old(handlers, now=30.0)
    doors.close_old(handlers, now=61.0)
    assert list(handlers) == ["socket", ("10.0.0.1", 6)]
    doors.close_old(handlers, now=200.0)
    assert list(handlers) == ["socket"]


def test_systemd_is_told_once_the_port_is_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.tell_systemd()  # nobody to tell: nothing happens
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        server.tell_systemd()
        assert listener.recv(100) == b"READY=1"


@pytest.fixture
def laid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[bytes, int]]:
    monkeypatch.setattr(installation, "STATE", tmp_path / ".lab")
    return installation.files(declared.host_bmc())


def test_the_hosts_own_declaration_says_where_it_is_and_what_the_machine_draws(
    laid: dict[str, tuple[bytes, int]], tmp_path: Path
) -> None:
    config = tmp_path / "bmc.json"
    config.write_bytes(laid[installation.CONFIG_FILE][0])
    read = server.read_config(config)
    assert (read.address, read.supplies, read.port) == ("10.251.250.50", 4, 623)
    assert (read.baseline_watts, read.under_load_watts) == (313.0, 400.0)
    assert laid[installation.ADDRESS_FILE][0] == b"10.251.250.50/32\n"


def test_user_and_password_are_what_ipmi_allows_and_the_password_is_roots_alone(
    laid: dict[str, tuple[bytes, int]], tmp_path: Path
) -> None:
    content, mode = laid[installation.PASSWORD_FILE]
    assert mode == 0o600 and 12 <= len(content.strip()) <= 16 and len(installation.USER) <= 16
    kept = tmp_path / ".lab/bmc-password"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert content.strip() not in laid[installation.CONFIG_FILE][0]
    assert installation.files(declared.host_bmc())[installation.PASSWORD_FILE] == (content, mode)


def test_the_labs_inventory_names_the_user_and_the_file_that_are_laid() -> None:
    inventory = yaml.safe_load((PROJECT / "inventories/lab/90-lab.yml").read_text())
    host = inventory["gpu_hosts"]["hosts"]["fv-ml1"]
    assert host["gpu_seats_bmc_user"] == installation.USER
    assert host["gpu_seats_bmc_password_file"] == installation.PASSWORD_FILE


@pytest.mark.parametrize(
    "content",
    [
        "gpu_seats_host: {power: {baseline: {watts: 313W}, under_load: {watts: 400W}}}",  # no BMC
        "gpu_seats_host: {bmc: {address: 10.0.0.1}, power: {baseline: 313W, under_load: 400W}}",
        "gpu_seats_host: {bmc: {address: here}, power: {baseline: {watts: 1W}, under_load: {watts: 1W}}}",
        "gpu_seats_host: {bmc: {address: 10.0.0.1}, power: {baseline: {watts: 313}, under_load: {watts: 400W}}}",
        "- a list",
        "{",
    ],
)
def test_a_host_file_that_says_nothing_usable_gives_no_bmc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    monkeypatch.setattr(declared, "HOST_FILE", tmp_path / "host.yml")
    (tmp_path / "host.yml").write_text(content)
    assert declared.host_bmc() is None
    assert not [name for name in installation.files(None) if name.startswith("/etc/")]


def test_every_unit_that_is_enabled_is_laid_where_its_link_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay = {str(path.relative_to(PROJECT / "lab/host_files")) for path in (PROJECT / "lab/host_files").rglob("*")}
    wanted = {name: target for name, target in host_files.host_links().items() if ".wants/" in name}
    assert {target.lstrip("/") for target in wanted.values()} <= overlay
    units = {name.rpartition("/")[2] for name in wanted}
    assert {"bmc-sim.service", "nvidia-persistenced.service", "gpu-sim.service"} <= units


def test_the_generator_is_laid_as_a_program() -> None:
    generator = PROJECT / "lab/host_files/etc/systemd/system-generators/gpu-sim"
    assert generator.stat().st_mode & 0o111 and generator.read_text().startswith("#!/bin/sh\n")
    assert "/faults/daemon-reload-loses-gpus.json" in generator.read_text()
