"""Listening sockets of the host as ``ss -ltnp`` prints them (and ``netstat`` where it was used instead)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..findings import Finding, finding
from .records import Parsed, Record, first_line, unrecognised, with_reasons

_STATES = ("LISTEN", "UNCONN")
_OTHER_STATES = (
    "ESTAB",
    "TIME-WAIT",
    "CLOSE-WAIT",
    "SYN-SENT",
    "SYN-RECV",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "LAST-ACK",
    "CLOSED",
    "CLOSING",
)
_PROTOCOLS = ("tcp", "udp", "tcp6", "udp6", "raw", "sctp", "mptcp", "dccp")
_NO_NETWORK = ("u_str", "u_dgr", "u_seq", "nl", "p_raw", "p_dgr", "v_str", "v_dgr", "xdp", "tipc")
"""Netid of sockets that are no network listeners (ss without -t)."""
_HEADER = re.compile(r"^(?:Netid\s+)?State\s+Recv-Q\s+Send-Q\b")
_USER = re.compile(r"\(\"(?P<name>(?:[^\"\\]|\\.)*)\",(?:pid=)?(?P<pid>\d{1,11}),(?:fd=)?\d+\)")
_NETSTAT_HEADER = re.compile(r"^(?:Active Internet connections|Proto\s+Recv-Q)")
_NETSTAT = re.compile(
    r"^(?P<protocol>tcp6?"
    r"|udp6?)\s+\d+\s+\d+\s+(?P<local>\S+)\s+(?P<peer>\S+)(?:\s+(?P<state>[A-Z_0-9]+))?(?:\s+(?P<who>.*?))?\s*$"
)
_WHO = re.compile(r"^(?P<pid>\d{1,11})/(?P<name>.*)$")
_FAILURE = re.compile(
    r"\bnot found\b|No such file or directory|Cannot open netlink|Operation not permitted"
    r"|Permission denied|RTNETLINK|Protocol not supported|invalid option|Error: ",
    re.IGNORECASE,
)
_SERVICES = {
    "ssh": 22,
    "http": 80,
    "https": 443,
    "domain": 53,
    "ntp": 123,
    "sunrpc": 111,
    "http-alt": 8080,
    "mysql": 3306,
    "postgresql": 5432,
}


@dataclass(frozen=True)
class Listener(Record):
    """One listening socket. address ``*`` listens on all of both families; interface where ss prints ``%eth0``.

    process None: not shown (ss without root), or a kernel socket. processes: every (name, pid) that holds it.
    """

    kind: ClassVar[str] = "listener"
    address: str
    port: int | None
    protocol: str = "tcp"
    interface: str | None = None
    process: str | None = None
    pid: int | None = None
    processes: list[dict[str, Any]] = field(default_factory=list)
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def is_wildcard(self) -> bool:
        return self.address in ("*", "0.0.0.0", "::")


def parse_ss(text: str, rc: int | None = None, command: str | None = None) -> Parsed:
    """Listeners of the output; nothing printed means that nothing listens (on what was asked for)."""
    parsed, rest = Parsed(), list[str]()
    if any(_NETSTAT_HEADER.match(line) for line in text.splitlines()):
        return _from_netstat(text)
    for line in text.splitlines():
        words = line.split()
        if not words or _HEADER.match(line.strip()):
            continue
        listener = _row(line, words)
        if listener is not None:
            parsed.records.append(listener)
        elif line[0].isspace() and parsed.records:
            continue  # details of the socket above (ss -i, -m, -e over two lines)
        elif not any(word in _OTHER_STATES for word in words[:2]) and not words[0].startswith(_NO_NETWORK):
            rest.append(line)
    parsed.findings.extend(_leftover_findings(rest, rc, bool(parsed.records)))
    parsed.findings.extend(_hidden(parsed.of(Listener)))
    if not parsed.records and not parsed.findings:
        parsed.notes.append(
            "nothing listens; with the userland proxy off a published port has no listener: connect to it"
        )
    return parsed


def _leftover_findings(rest: list[str], rc: int | None, has_rows: bool) -> list[Finding]:
    if not rest:
        failed = rc not in (None, 0) and not has_rows
        message = f"ss ended with {rc} and printed nothing"
        return [finding("port.listeners_unknown", "tool:ss", message, {"rc": rc})] if failed else []
    text = "\n".join(rest)
    if _FAILURE.search(text):
        message = f"the listening sockets could not be read: {first_line(text, 100)}"
        return [finding("port.listeners_unknown", "tool:ss", message, {"text": first_line(text), "rc": rc})]
    if not has_rows:
        return [unrecognised("ss", text, rc)]
    message = f"{len(rest)} line(s) are no row of ss: {first_line(text, 100)!r}"
    return [finding("parse.row_malformed", "tool:ss", message, {"row": first_line(text)})]


def _hidden(listeners: list[Listener]) -> list[Finding]:
    if not listeners or any(one.process for one in listeners):
        return []
    message = f"none of {len(listeners)} listeners shows its process"
    return [finding("port.process_hidden", "tool:ss", message, {"listeners": len(listeners)})]


def _row(line: str, words: list[str]) -> Listener | None:
    """``[Netid] State Recv-Q Send-Q Local Peer [Process]``."""
    protocol = "tcp"
    if words[0].lower() in _PROTOCOLS:
        protocol, words = words[0].lower().rstrip("6"), words[1:]
    if not words or words[0] not in _STATES or len(words) < 5:
        return None
    protocol = "udp" if words[0] == "UNCONN" and protocol == "tcp" else protocol
    place = _place(words[3])
    if place is None:
        return None
    address, interface, port = place
    users = [{"name": _unescaped(one.group("name")), "pid": int(one.group("pid"))} for one in _USER.finditer(line)]
    return _listener(
        address, interface, port, protocol, users, "not shown: ss did not run as root, or the kernel holds it"
    )


def _unescaped(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


def _listener(
    address: str, interface: str | None, port: str, protocol: str, users: list[dict[str, Any]], hidden: str
) -> Listener:
    number = int(port) if port.isdigit() else _SERVICES.get(port)
    first = users[0] if users else {}
    listener = Listener(address, number, protocol, interface, first.get("name"), first.get("pid"), users)
    reasons = {
        "port": f"printed as the name {port!r}",
        "interface": "bound to no interface",
        "process": hidden,
        "pid": hidden,
    }
    return with_reasons(listener, reasons)


def _place(local: str) -> tuple[str, str | None, str] | None:
    """(address, interface, port) of ``127.0.0.53%lo:53``, ``[fe80::1]%eth0:80``, ``[::]:80``, ``*:80``, ``:::80``."""
    host, colon, port = local.rpartition(":")
    if not colon or not port:
        return None
    host, _, interface = host.partition("%")
    if interface.endswith("]"):
        interface, host = interface[:-1], host + "]"
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    return (host or "*"), (interface or None), port


def _from_netstat(text: str) -> Parsed:
    message = "this was printed by netstat; it is read, but ss shows more"
    parsed = Parsed([], [finding("parse.other_tool", "tool:ss", message, {"first_line": first_line(text)})])
    for line in text.splitlines():
        match = _NETSTAT.match(line.strip())
        place = _place(match.group("local")) if match else None
        udp = match is not None and match.group("protocol").startswith("udp")
        if match is None or place is None or not (udp or match.group("state") == "LISTEN"):
            continue
        who = _WHO.match((match.group("who") or "").strip())
        users = [{"name": who.group("name").strip(), "pid": int(who.group("pid"))}] if who else []
        hidden = "not shown: netstat did not run as root"
        parsed.records.append(_listener(place[0], place[1], place[2], "udp" if udp else "tcp", users, hidden))
    parsed.findings.extend(_hidden(parsed.of(Listener)))
    return parsed
