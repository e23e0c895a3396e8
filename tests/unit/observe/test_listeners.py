"""Listening sockets are read from every form of ss, with what it does not show as unknown."""

from __future__ import annotations

import pytest
from captured import capture, code_set, codes, read, record

WITH_HEADER = [
    ("127.0.0.1", 38001, "docker-proxy", 5486, None),
    ("127.0.0.53", 38053, "llama-server", 5487, "lo"),
    ("0.0.0.0", 38000, "docker-proxy", 5484, None),
    ("0.0.0.0", 38004, "odd name", 5488, None),
    ("::1", 38003, "llama-server", 5487, None),
    ("*", 38002, "llama-server", 5487, None),
    ("::", 38000, "docker-proxy", 5485, None),
]


def test_rows_below_a_header_that_glues_its_words() -> None:
    rows = [one.as_dict() for one in capture("ss/with-header.txt").records]
    assert [(r["address"], r["port"], r["process"], r["pid"], r["interface"]) for r in rows] == WITH_HEADER


def test_without_root_the_processes_are_unknown_with_a_reason() -> None:
    seen = capture("ss/unprivileged.txt")
    assert [(one.as_dict()["address"], one.as_dict()["port"]) for one in seen.records] == [
        (address, port) for address, port, *_ in WITH_HEADER
    ]
    assert record(seen, "listener")["process"] is None
    assert "root" in record(seen, "listener")["unknown"]["process"]
    assert codes(seen) == [("port.process_hidden", "tool:ss")]


def test_nothing_printed_means_that_nothing_listens() -> None:
    seen = capture("ss/filter-none.txt")
    assert (seen.records, seen.findings, seen.rc) == ([], [], 0)


def test_a_port_without_listener_is_no_error_where_the_proxy_is_off() -> None:
    seen = capture("ss/userland-proxy-false-nftables.txt")
    assert (seen.records, seen.findings) == ([], [])
    assert any("userland proxy" in note for note in seen.notes)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("LISTEN 0 128 [fe80::1]%eth0:80 [::]:*", ("fe80::1", 80, "tcp", "eth0")),
        ("LISTEN 0 128 [fe80::1%eth0]:80 [::]:*", ("fe80::1", 80, "tcp", "eth0")),
        ("LISTEN 0 128 :::8080 :::*", ("::", 8080, "tcp", None)),
        ("tcp LISTEN 0 128 *:80 *:*", ("*", 80, "tcp", None)),
        ("udp UNCONN 0 0 0.0.0.0:68 0.0.0.0:*", ("0.0.0.0", 68, "udp", None)),
        ("LISTEN 0 128 *:ssh *:*", ("*", 22, "tcp", None)),
    ],
)
def test_addresses_of_every_form_are_taken_apart(line: str, expected: tuple[str, int, str, str | None]) -> None:
    row = record(read("ss", line + "\n", 0), "listener")
    assert (row["address"], row["port"], row["protocol"], row["interface"]) == expected


def test_several_processes_and_odd_names_on_one_socket() -> None:
    line = 'LISTEN 0 4096 0.0.0.0:80 0.0.0.0:* users:(("nginx, \\"main\\"",pid=1,fd=3),("x(y)",pid=22,fd=4))\n'
    row = record(read("ss", line, 0), "listener")
    assert row["processes"] == [{"name": 'nginx, "main"', "pid": 1}, {"name": "x(y)", "pid": 22}]


def test_users_as_old_releases_print_them() -> None:
    row = record(read("ss", 'LISTEN 0 128 *:22 *:* users:(("sshd",1234,3))\n', 0), "listener")
    assert (row["process"], row["pid"]) == ("sshd", 1234)


def test_a_port_by_an_unknown_name_is_unknown() -> None:
    row = record(read("ss", "LISTEN 0 128 *:frobnicate *:*\n", 0), "listener")
    assert row["port"] is None
    assert "frobnicate" in row["unknown"]["port"]


def test_established_connections_are_no_listeners() -> None:
    assert read("ss", "ESTAB 0 0 10.0.0.1:22 10.0.0.2:5000\n", 0).records == []


def test_netstat_is_read_and_said_to_be_netstat() -> None:
    text = (
        "Active Internet connections (only servers)\n"
        "Proto Recv-Q Send-Q Local Address           Foreign Address         State       PID/Program name\n"
        "tcp6       0      0 :::15672                :::*                    LISTEN      10205/docker-proxy\n"
        "tcp        0      0 127.0.0.1:631           0.0.0.0:*               LISTEN      -\n"
    )
    seen = read("ss", text, 0)
    assert [(one.as_dict()["address"], one.as_dict()["port"], one.as_dict()["process"]) for one in seen.records] == [
        ("::", 15672, "docker-proxy"),
        ("127.0.0.1", 631, None),
    ]
    assert code_set(seen) == {"parse.other_tool"}


@pytest.mark.parametrize(
    "text", ["bash: ss: command not found\n", "Cannot open netlink socket: Protocol not supported\n"]
)
def test_a_tool_that_can_not_look_is_no_empty_list(text: str) -> None:
    assert code_set(read("ss", text, 1)) == {"port.listeners_unknown"}


def test_nothing_printed_with_an_error_is_no_empty_list() -> None:
    assert code_set(read("ss", "", 255)) == {"port.listeners_unknown"}
