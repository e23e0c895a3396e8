"""The join of declared, published and listening ports with real connections' results: each case has its own advice."""

from __future__ import annotations

import dataclasses
import json
import socket
from pathlib import Path

import pytest
from fake_seat import container, free_port, served

from gpu_seats.apply.docker_state import inspected_container
from gpu_seats.observe.command import CommandResult
from gpu_seats.observe.listeners import Listener
from gpu_seats.verify.connects import Connect, connect, connect_all, is_local, reach_address, speaks
from gpu_seats.verify.port_cure import carry_out, cures
from gpu_seats.verify.port_sight import PortSight, observed_ports, userland_proxy, wanted_ports
from gpu_seats.verify.published_ports import Observed, WantedPort, joined_ports

WANTED = WantedPort("x", "vllm-x", 8022, 8000)
PROXY = Listener("0.0.0.0", 8022, process="docker-proxy", pid=77)


def joined(data, outside="open", inside="open", listeners=(PROXY,), proxy=True, wanted=WANTED):
    containers = [inspected_container(data)] if data else []
    seen = Observed(
        containers,
        list(listeners) if listeners is not None else None,
        {8022: Connect("10.251.50.54", 8022, outside, 0.0)} if outside else {},
        {"vllm-x": Connect("172.18.0.2", 8000, inside, 0.0)} if inside else {},
        proxy,
    )
    rows, findings = joined_ports([wanted], seen)
    return rows[0], [one.code for one in findings]


@pytest.mark.parametrize(
    ("proxy", "listeners"),
    [(True, (PROXY,)), (False, ()), (None, ()), (True, None)],
    ids=["proxy on", "proxy off: no listener and it works", "proxy unknown", "listeners unknown"],
)
def test_a_port_that_answers_is_well_whoever_listens(proxy, listeners):
    row, codes = joined(container(), listeners=listeners, proxy=proxy)
    assert codes == [] and row.ok and row.published == "*:8022->8000"


@pytest.mark.parametrize("networks", [{}, {"x_default": {"IPAddress": ""}}])
@pytest.mark.parametrize("ports", [{}, {"8000/tcp": []}, {"8000/tcp": None}])
def test_healthy_without_ports_is_found_from_state_alone(networks, ports):
    """No log, no connection, no listener is needed (moby#51758; [] after an engine restart)."""
    data = container()
    data["NetworkSettings"] = {"Ports": ports, "Networks": networks}
    row, codes = joined(data, outside=None, inside=None, listeners=None)
    assert codes == ["port.unpublished"] and not row.ok


@pytest.mark.parametrize(
    ("outside", "inside", "listeners", "proxy", "code"),
    [
        ("timeout", "open", (PROXY,), True, "port.unreachable"),
        ("timeout", "open", (), False, "port.unreachable"),
        ("refused", "open", (), False, "port.unreachable"),
        ("unreachable", None, (PROXY,), True, "port.unreachable"),
        ("refused", "open", (), True, "port.no_listener"),
        ("refused", "refused", (), True, "port.no_listener"),
        ("refused", "refused", (PROXY,), True, "port.nobody_inside"),
        ("refused", "refused", (), False, "port.nobody_inside"),
        ("refused", "refused", (), None, "port.nobody_inside"),
    ],
)
def test_published_and_not_reachable_says_who_is_to_blame(outside, inside, listeners, proxy, code):
    """Firewall flushed, proxy gone, and nobody listening inside are three faults with three cures."""
    assert joined(container(), outside, inside, listeners, proxy)[1] == [code]


def test_container_on_the_hosts_network_publishes_nothing():
    data = container(published=False, network="host")
    own = Listener("*", 8022, process="llama-server", pid=5)
    assert joined(data, "open", None, (own,))[1] == []
    assert joined(data, "refused", None, ())[1] == ["port.nobody_inside"]


def test_published_on_loopback_only():
    data = container()
    bound = {"8000/tcp": [{"HostIp": "127.0.0.1", "HostPort": "8022"}]}
    data["HostConfig"]["PortBindings"] = data["NetworkSettings"]["Ports"] = bound
    assert joined(data)[1] == ["port.local_only"]
    assert joined(data, wanted=WantedPort("x", "vllm-x", 8022, 8000, on_address="127.0.0.1"))[1] == []


def test_moved_to_another_host_port_or_container_port():
    assert joined(container(8021), listeners=())[1] == ["port.moved"]
    assert joined(container(), wanted=WantedPort("x", "vllm-x", 8022, 9000))[1] == ["port.moved"]


@pytest.mark.parametrize("data", [None, container(status="exited")])
def test_container_that_does_not_run(data):
    assert joined(data, "refused", None, ())[1] == ["port.container_down"]
    thief = Listener("0.0.0.0", 8022, process="nginx", pid=9)
    row, codes = joined(data, "open", None, (thief,))
    assert codes == ["port.taken"] and row.listener == "nginx"


def test_proxy_of_no_container():
    """A listener without a container: named with its pid, and not blamed on the seat that has no such port."""
    stale = Listener("0.0.0.0", 3128, process="docker-proxy", pid=5486)
    _row, codes = joined(container(), listeners=(PROXY, stale))
    assert codes == ["port.orphan_proxy"]
    _row, codes = joined(container(status="exited"), "open", None, (PROXY,))
    assert codes == ["port.container_down", "port.orphan_proxy"]


class TestConnects:
    def test_real_outcomes(self):
        with served({}) as server:
            closed = free_port()
            made = connect_all([("127.0.0.1", server.server_port), ("127.0.0.1", closed)])
        assert [one.outcome for one in made.values()] == ["open", "refused"]

    def test_a_port_that_swallows_is_a_timeout(self):
        """A full backlog drops the handshake, as a firewall does."""
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            port = listener.getsockname()[1]
            held = []
            for _ in range(4):
                one = socket.socket()
                one.setblocking(False)
                one.connect_ex(("127.0.0.1", port))
                held.append(one)
            made = connect("127.0.0.1", port, limit_s=0.3)
            for one in held:
                one.close()
        assert made.outcome == "timeout" and 0.2 < made.elapsed_s < 2

    def test_addresses(self):
        assert is_local("127.0.0.1") and not is_local("192.0.2.77") and not is_local("nonsense")
        assert reach_address("127.0.0.1") == "127.0.0.1"
        assert is_local(reach_address("192.0.2.77"))


@pytest.mark.parametrize(
    ("text", "on"),
    [
        (None, True),
        ("", True),
        ("{}", True),
        ('{"userland-proxy": false}', False),
        ('{"userland-proxy": true}', True),
        ("{broken", None),
        ("[]", None),
        ('{"userland-proxy": "no"}', None),
    ],
)
def test_userland_proxy_of_the_engines_configuration(text, on):
    assert userland_proxy(text) is on


class Engine:
    def __init__(self, *found):
        self.found = {one["Id"]: one for one in found}

    def containers(self):
        return [{"Id": i, "Names": [one["Name"]], "State": one["State"]["Status"]} for i, one in self.found.items()]

    def inspect(self, container):
        return self.found[container]


def sight_of(engine, ss="", rc=0, **more):
    ended = CommandResult(("ss",), rc, ss, "", **more)
    return PortSight(
        engine,
        run=lambda argv, limit_s: ended,
        reach=lambda _address: "127.0.0.1",
        daemon_config="/nonexistent/daemon.json",
        connect_limit_s=0.5,
    )


def test_one_look_asks_outside_and_inside():
    with served({}) as server:
        port = server.server_port
        data = container(port)
        data["HostConfig"]["PortBindings"] = data["NetworkSettings"]["Ports"] = {
            f"{port}/tcp": [{"HostIp": "", "HostPort": str(port)}]
        }
        wanted = wanted_ports(
            [{"seat": "x", "container": "vllm-x", "port": port, "container_port": port}, {"port": None}]
        )
        ss = f'LISTEN 0 4096 0.0.0.0:{port} 0.0.0.0:* users:(("docker-proxy",pid=7,fd=3))\n'
        seen, findings = observed_ports(wanted, sight_of(Engine(data), ss))
    assert findings == [] and seen.userland_proxy is True
    assert seen.outside[port].outcome == "open" and seen.inside["vllm-x"].outcome == "open"
    rows, found = joined_ports(wanted, seen)
    assert found == [] and rows[0].listener == "docker-proxy"


@pytest.mark.parametrize(
    ("outside", "inside", "code"),
    [(False, True, ["port.unreachable"]), (True, True, []), (False, False, [])],
    ids=["rules flushed", "works", "speaks no HTTP: nothing is known"],
)
def test_port_that_the_engine_itself_holds_must_speak(outside, inside, code):
    """With the userland proxy off dockerd keeps the port with a socket that it never reads (seen with 26.1)."""
    with served({}) as server:
        port = server.server_port
        data = container(port)
        data["NetworkSettings"]["Networks"] = {"x_default": {"IPAddress": "127.0.0.2"}}
        ss = f'LISTEN 0 4096 0.0.0.0:{port} 0.0.0.0:* users:(("dockerd",pid=7,fd=3))\n'
        sight = sight_of(Engine(data), ss)
        sight = dataclasses.replace(
            sight, speaks=lambda address, _port, _limit: inside if address == "127.0.0.2" else outside
        )
        wanted = [WantedPort("x", "vllm-x", port, 8000)]
        seen, _findings = observed_ports(wanted, sight)
        seen = dataclasses.replace(
            seen, inside={"vllm-x": Connect("127.0.0.2", 8000, "open", 0.0)}, userland_proxy=False
        )
    assert [one.code for one in joined_ports(wanted, seen)[1]] == code


def test_speaks_tells_a_server_from_a_socket_that_nobody_reads():
    with served({}) as server, socket.socket() as unread:
        unread.bind(("127.0.0.1", 0))
        unread.listen(5)
        assert speaks("127.0.0.1", server.server_port, 1.0)
        assert not speaks("127.0.0.1", unread.getsockname()[1], 0.2)
        assert not speaks("127.0.0.1", free_port(), 0.2)


@pytest.mark.parametrize("more", [{"missing": True}, {"timed_out": True}])
def test_listeners_that_cannot_be_read_are_unknown_and_a_finding(more):
    seen, findings = observed_ports([WANTED], sight_of(Engine(container(free_port())), rc=None, **more))
    assert seen.listeners is None and [one.code for one in findings] == ["port.listeners_unknown"]


class TestCure:
    def lost(self, **labels):
        own = {
            "com.docker.compose.project": "gen",
            "com.docker.compose.service": "x",
            "com.docker.compose.project.working_dir": "/opt/docker/compose/gen",
            "com.docker.compose.project.config_files": "/opt/docker/compose/gen/compose.yaml",
        }
        return container(published=False, labels={**own, **labels})

    def found(self, data):
        seen = Observed([inspected_container(data)], [], {}, {}, True)
        return joined_ports([WANTED], seen)[1], seen.containers

    def test_own_container_is_made_anew_through_its_compose_file(self):
        (cure,), refused = cures(*self.found(self.lost()))
        assert refused == []
        calls = []
        actions, findings = carry_out(
            [cure], lambda argv, limit: calls.append(argv) or CommandResult(("d",), 0, "", ""), 9
        )
        assert findings == [] and [one["action"] for one in actions] == ["recreate"]
        command = " ".join(calls[0])
        assert "--project-name gen" in command and "--file /opt/docker/compose/gen/compose.yaml" in command
        assert "--force-recreate x" in command and "--no-deps" in command

    def test_failed_call_is_no_action(self):
        (cure,), _refused = cures(*self.found(self.lost()))
        failed = CommandResult(("docker", "compose"), 1, "", "Bind for 0.0.0.0:8022 failed: port is already allocated")
        actions, findings = carry_out([cure], lambda argv, limit: failed, 9)
        assert actions == [] and [one.code for one in findings] == ["port.taken"]

    def test_containers_of_others_are_left_alone(self):
        data = self.lost()
        del data["Config"]["Labels"]["gpu-seats.digest"]
        wanted, refused = cures(*self.found(data))
        assert wanted == [] and [one.code for one in refused] == ["port.not_cured"]

    def test_only_what_a_recreate_cures(self):
        findings, containers = self.found(container(8021))
        assert [one.code for one in findings] == ["port.moved"]
        assert cures(findings, containers) == ([], [])


def test_inspect_with_an_empty_list_of_ports_of_a_real_engine():
    data = json.loads((Path(__file__).parent / "data" / "inspect-ports-empty-list.json").read_text())[0]
    one = inspected_container(data)
    assert one.lost_ports == ("8000->8000/tcp",) and one.health == "healthy"
