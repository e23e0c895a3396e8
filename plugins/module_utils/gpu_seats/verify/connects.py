"""Connects to ports from the host itself: the only proof that a published port works.

A listener proves nothing (a firewall flush leaves it), and none disproves nothing (with the userland proxy off the
port works by address translation alone). With the proxy off the engine itself may hold the port with a socket that it
never reads: after a flush a connection then opens and stays silent, so it takes an answer to prove the port.
"""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

LIMIT_S = 3.0
_AT_A_TIME = 16
_UNREACHABLE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN)
_NOWHERE = "192.0.2.1"
"""A documentation address (RFC 5737): asking for the route to it sends nothing."""


@dataclass(frozen=True)
class Connect:
    """outcome: open, refused, timeout, unreachable, error, or silent (open, and nothing came back where it should).

    elapsed_s: until then. detail: the system's words.
    """

    address: str
    port: int
    outcome: str
    elapsed_s: float
    detail: str = ""


def connect(address: str, port: int, limit_s: float = LIMIT_S) -> Connect:
    """One TCP connection, closed at once."""
    began = time.monotonic()
    outcome, detail = "open", ""
    try:
        socket.create_connection((address, port), timeout=limit_s).close()
    except ConnectionRefusedError as error:
        outcome, detail = "refused", error.strerror or "refused"
    except socket.timeout:
        outcome, detail = "timeout", f"no answer within {limit_s:g} s"
    except OSError as error:
        outcome = "unreachable" if error.errno in _UNREACHABLE else "error"
        detail = error.strerror or str(error)
    return Connect(address, port, outcome, time.monotonic() - began, detail)


def connect_all(targets: Iterable[tuple[str, int]], limit_s: float = LIMIT_S) -> dict[tuple[str, int], Connect]:
    """Every target once, many at a time."""
    wanted = list(dict.fromkeys(targets))
    if not wanted:
        return {}
    with ThreadPoolExecutor(max_workers=min(_AT_A_TIME, len(wanted))) as pool:
        return {(one.address, one.port): one for one in pool.map(lambda to: connect(to[0], to[1], limit_s), wanted)}


def speaks(address: str, port: int, limit_s: float = LIMIT_S) -> bool:
    """Whether the other side reacts to an HTTP request at all: any byte, or an end of the connection."""
    try:
        with socket.create_connection((address, port), timeout=limit_s) as made:
            made.sendall(b"GET / HTTP/1.0\r\n\r\n")
            made.recv(1)
    except ConnectionResetError:
        return True
    except OSError:
        return False
    return True


def is_local(address: str) -> bool:
    """Whether an interface of this machine holds `address`."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


def reach_address(declared: str | None) -> str:
    """Where to knock: the declared address if this host holds it, else the one of its default route, else loopback."""
    if declared and is_local(declared):
        return declared
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((_NOWHERE, 9))
            return str(probe.getsockname()[0])
    except OSError:
        return "127.0.0.1"


__all__ = ["LIMIT_S", "Connect", "connect", "connect_all", "is_local", "reach_address", "speaks"]
