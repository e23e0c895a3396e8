"""Ports: one declared holder, and nobody else on the host."""

from __future__ import annotations

import pytest
from plan_cases import codes, fleet, host, seat, service, stack

from gpu_seats.declare.selection import select
from gpu_seats.plan.deployment import plan_deployment
from gpu_seats.plan.fleet_plan import plan_fleet

OWN = {"gpu-seats.stack": "s", "gpu-seats.seat": "x"}


def container(name, port, labels=None, running=True, **over):
    row = {"host_port": port, "container_port": 8000, "protocol": "tcp", "host_ip": "0.0.0.0"}
    return {"id": name * 3, "name": name, "running": running, "labels": labels or {}, "published_ports": [row], **over}


def refused_with(containers=(), listeners=(), workload=None):
    one = fleet(stack("s", {"x": workload or seat(gpus=[], claim={}, port=8022)}))
    seen = {"docker": {"available": True, "compose_version": "2.26.1", "containers": list(containers)}}
    plan = plan_deployment(one, "fv-ml1", select(one, "x"), {**seen, "listeners": list(listeners)})
    return plan.refusals


def test_port_declared_twice_names_both_and_stops_either():
    both = fleet(stack("a", {"x": seat(gpus=[], claim={})}), stack("b", {"y": seat(gpus=[], claim={})}))
    for asked in ("x", "y"):
        refusals = plan_deployment(both, "fv-ml1", select(both, asked)).refusals
        assert codes(refusals) == ["port.declared_twice"]
        assert refusals[0].message == "port 8000 of fv-ml1 is declared by x (a) and y"


def test_the_port_of_sshd_is_held():
    """A seat on the port of sshd would be refused on the host only, or lock the operator out."""
    refused = plan_fleet(fleet(stack("a", {"x": seat(gpus=[], claim={}, port=22)})))
    assert codes(refused) == ["port.held"]
    assert "sshd (ssh_port)" in refused[0].message


def test_dormant_seat_may_keep_the_port_of_the_one_that_serves():
    both = fleet(stack("a", {"x": seat()}), stack("b", {"y": seat(state="dormant")}))
    assert codes(plan_fleet(both)) == []


def test_same_port_on_two_addresses_or_protocols_is_no_collision():
    def on(address, protocol="tcp", state="serving"):
        return service(state=state, ports=[{"host": 53, "container": 53, "protocol": protocol, "address": address}])

    apart = fleet(stack("a", services={"x": on("10.0.0.1"), "y": on("10.0.0.2"), "z": on(None, "udp")}))
    assert codes(plan_fleet(apart)) == []
    overlapping = fleet(stack("a", services={"x": on("10.0.0.1"), "y": on(None)}))
    assert codes(plan_fleet(overlapping)) == ["port.declared_twice"]


def test_held_port_is_refused_naming_the_holder():
    one = fleet(stack("a", {"x": seat(port=9090)}), hosts=[host(held_ports={"cockpit": 9090})])
    found = plan_fleet(one)
    assert codes(found) == ["port.held"] and "held by cockpit" in found[0].message


def test_container_of_a_stranger_on_the_port_is_refused_by_name():
    labels = {"com.docker.compose.project": "old", "com.docker.compose.service": "web"}
    refusals = refused_with([container("old-web-1", 8022, labels)])
    assert codes(refusals) == ["port.taken"]
    assert "container old-web-1 of Compose project old" in refusals[0].message


@pytest.mark.parametrize(
    "labels",
    [
        OWN,
        {"com.docker.compose.project": "s", "com.docker.compose.service": "x"},
    ],
    ids=["our labels", "made by hand before"],
)
def test_own_container_on_the_port_is_no_fault(labels):
    proxy = {"port": 8022, "protocol": "tcp", "address": "0.0.0.0", "process": "docker-proxy", "pid": 7}
    assert refused_with([container("x", 8022, labels)], [proxy]) == []


def test_container_of_another_workload_with_the_same_service_name_is_a_stranger():
    labels = {"gpu-seats.stack": "other", "gpu-seats.seat": "x"}
    assert codes(refused_with([container("y", 8022, labels)])) == ["port.taken"]


def test_stopped_container_holds_no_port():
    assert refused_with([container("old", 8022, running=False)]) == []


def test_process_of_the_host_on_the_port_is_refused_by_name_and_pid():
    listener = {"port": 8022, "protocol": "tcp", "address": "0.0.0.0", "process": "nginx", "pid": 812}
    refusals = refused_with(listeners=[listener])
    assert codes(refusals) == ["port.taken"] and "nginx (pid 812) listens" in refusals[0].message
    assert refused_with(listeners=[{**listener, "port": 8023}]) == []
    unnamed = refused_with(listeners=[{**listener, "process": None, "pid": None}])
    assert "a process that ss does not name" in unnamed[0].message


def test_docker_proxy_without_a_container_is_told_apart():
    proxy = {"port": 8022, "protocol": "tcp", "address": "0.0.0.0", "process": "docker-proxy", "pid": 7}
    refusals = refused_with(listeners=[proxy])
    assert codes(refusals) == ["port.orphan_proxy"]
    assert "held by a docker-proxy that belongs to no running container" in refusals[0].message


def test_published_range_and_ipv6_listener_hold_their_ports():
    ranged = container("old", 8020)
    ranged["published_ports"][0]["host_port_end"] = 8024
    assert codes(refused_with([ranged])) == ["port.taken"]
    listener = {"port": 8022, "protocol": "tcp6", "address": "::", "process": "nginx", "pid": 812}
    assert codes(refused_with(listeners=[listener, {**listener, "port": None}])) == ["port.taken"]
