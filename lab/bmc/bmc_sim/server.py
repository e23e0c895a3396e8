"""The BMC on the network: pyghmi's server side of RMCP+ in front of the commands."""

from __future__ import annotations

import importlib
import json
import os
import socket
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import chassis, event_log, identity, state
from .dcmi import Dcmi
from .meter import SAMPLE_S, HostWatts, Meter
from .replies import Commands, Reply
from .sensors import Sensors

SESSION_LIMIT_S = 60.0
SLOW_S = 2.0


@dataclass(frozen=True)
class Config:
    """Where the BMC listens, who may ask, and what the host draws beside its cards."""

    address: str
    user: str
    baseline_watts: float
    under_load_watts: float
    supplies: int = 2
    port: int = 623


def read_config(path: Path) -> Config:
    return Config(**json.loads(path.read_text(encoding="utf-8")))


class Logins:
    """Password by user, as pyghmi looks them up at every log-in."""

    def __init__(self, user: str, password: str) -> None:
        self._user, self._password = user, password

    def __contains__(self, user: object) -> bool:
        return user == self._user

    def __getitem__(self, user: str) -> str:
        return f"not-{self._password}" if "wrong-password" in state.active_faults() else self._password


class Board:
    """Everything that the BMC answers, without a transport."""

    def __init__(self, meter: Meter, supplies: int) -> None:
        self._commands: Commands = {
            **identity.commands(),
            **chassis.commands(),
            **event_log.commands(),
            **Sensors(meter, supplies).commands(),
            **Dcmi(meter).commands(),
        }

    def answer(self, function: int, command: int, data: bytes) -> Reply:
        return self._commands.get((function, command), identity.unknown)(data)


def serve(config: Config, password: str) -> None:
    """Answer requests while samples are taken, for ever."""
    meter = Meter(HostWatts(config.baseline_watts, config.under_load_watts))
    if not event_log.entries():
        event_log.clear()
    sessions = importlib.import_module("pyghmi.ipmi.private.session").Session
    listen(config, password, Board(meter, config.supplies))
    threading.Thread(target=sample_for_ever, args=(meter,), daemon=True).start()
    tell_systemd()
    doors = Doors()
    while True:
        # without a packet pyghmi may come back minutes later than it is told to
        sessions.wait_for_rsp(SESSION_LIMIT_S)
        doors.close_old(sessions.bmc_handlers)


def sample_for_ever(meter: Meter) -> None:
    """A sample every second. A meter that fails ends the BMC, which systemd starts anew."""
    try:
        while True:
            time.sleep(SAMPLE_S)
            meter.sample()
    except Exception:
        traceback.print_exc()
        os._exit(1)


def listen(config: Config, password: str, board: Board) -> None:
    """Bind the BMC's port. pyghmi calls back for every packet outside of a session, and every request inside of one."""
    bmc: Any = importlib.import_module("pyghmi.ipmi.bmc").Bmc(
        Logins(config.user, password), port=config.port, bmcuuid=identity.GUID, address=config.address
    )
    open_session = bmc.sessionless_data

    def outside(data: bytes, sender: Any) -> None:
        if "silent" not in state.active_faults():
            open_session(data, sender)

    def inside(request: dict[str, Any], session: Any) -> None:
        faults = state.active_faults()
        if "silent" in faults:
            return
        if "slow" in faults:
            time.sleep(SLOW_S if faults["slow"] is None else faults["slow"])
        code, data = board.answer(request["netfn"], request["command"], bytes(request["data"]))
        session.send_ipmi_response(code=code, data=list(data))

    bmc.sessionless_data = outside
    bmc.handle_raw_request = inside


class Doors:
    """pyghmi keeps what it knows of every client's address for ever; an hour of readings is thousands of them."""

    def __init__(self) -> None:
        self._seen: dict[Any, float] = {}

    def close_old(self, handlers: dict[Any, Any], now: float | None = None) -> None:
        """Forget clients whose session is older than SESSION_LIMIT_S; every ipmitool opens one of its own."""
        now = time.monotonic() if now is None else now
        for client in [key for key in handlers if isinstance(key, tuple)]:
            if now - self._seen.setdefault(client, now) > SESSION_LIMIT_S:
                del handlers[client], self._seen[client]


def tell_systemd() -> None:
    """Type=notify: the port is bound."""
    address = os.environ.get("NOTIFY_SOCKET")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.sendto(b"READY=1", "\0" + address[1:] if address.startswith("@") else address)
