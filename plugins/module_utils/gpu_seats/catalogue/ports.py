"""Findings about published ports and listeners."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {
    "port.unpublished": FindingKind(
        "error",
        "The container runs, and its health check may pass, but its port is not published on the host "
        "(moby#51758). A restart does not bring it back.",
        "Remove and recreate: ansible-playbook deploy-seat.yml -e seat=SEAT does that, also when nothing else changed.",
    ),
    "port.declared_twice": FindingKind(
        "error",
        "Two workloads that run on one host declare the same port: the second does not start, or starts without it.",
        "Give one of them another port.",
    ),
    "port.held": FindingKind(
        "error",
        "The port belongs to something on the host that is no stack (held_ports of the host file).",
        "Choose another port, or remove the entry from held_ports if it is stale.",
    ),
    "port.taken": FindingKind(
        "error",
        "Somebody else holds the port on the host, so the container could not publish it.",
        "Stop the holder that the message names, or choose another port.",
    ),
    "port.orphan_proxy": FindingKind(
        "error",
        "A docker-proxy that belongs to no running container holds the port: Docker lost track of it.",
        "Restart Docker when the seats may go down (systemctl restart docker); do not kill the proxy alone.",
    ),
    "port.address_not_up": FindingKind(
        "error",
        "The host address to publish on is on no interface. After a boot Docker often starts before the address is up.",
        "Wait for the address and start again: a retry is right here. Order docker.service after "
        "network-online.target.",
    ),
    "port.privileged": FindingKind(
        "error",
        "The engine may not bind a port below 1024 (rootless Docker).",
        "Choose a port above 1023, or lower net.ipv4.ip_unprivileged_port_start.",
    ),
    "port.none_published": FindingKind(
        "warning",
        "The container publishes nothing on the host. That is right only where nothing is declared.",
        "Compare with the declared port; when one is declared, remove and recreate the container.",
    ),
    "port.listeners_unknown": FindingKind(
        "error",
        "The listening sockets of the host could not be read.",
        "Install iproute2 (ss) and run it as root.",
    ),
    "port.process_hidden": FindingKind(
        "info",
        "Who listens was not shown: the tool ran without root.",
        "Run it as root to see the processes.",
    ),
    "port.moved": FindingKind(
        "error",
        "The container publishes other ports than the declared one: it was made from an older declaration.",
        "Deploy the seat again: ansible-playbook deploy-seat.yml -e seat=SEAT",
    ),
    "port.local_only": FindingKind(
        "error",
        "The port is published on the loopback address only, so nothing outside the host can reach it.",
        "Remove the address from the declaration (or from the container's port), then deploy again.",
    ),
    "port.no_listener": FindingKind(
        "error",
        "Docker says that the port is published, and the docker-proxy that should hold it is gone.",
        "Remove and recreate the container: ansible-playbook deploy-seat.yml -e seat=SEAT",
    ),
    "port.unreachable": FindingKind(
        "error",
        "Docker says that the port is published, and a connection to the host's own address does not get "
        "through: most often a firewall reload wiped Docker's rules.",
        "systemctl restart docker makes the rules anew (seats without live-restore go down); then look "
        "at what reloads the firewall.",
    ),
    "port.nobody_inside": FindingKind(
        "warning",
        "The port is published and nobody listens behind it: the engine is loading, or ended.",
        "Look at the seat itself: ansible-playbook playbooks/status.yml -e seat=SEAT",
    ),
    "port.container_down": FindingKind(
        "error",
        "A declared port serves nothing, because its container does not run.",
        "Deploy the seat: ansible-playbook deploy-seat.yml -e seat=SEAT",
    ),
    "port.not_cured": FindingKind(
        "warning",
        "A port is lost on a container that gpu-seats did not make, so it was not made anew.",
        "Remove and recreate the container by hand, or declare it.",
    ),
    "port.still_held": FindingKind(
        "error",
        "The port of a seat that was taken away still has a listener.",
        "ss -ltnp on the host names the process; a docker-proxy of no container goes with a restart of Docker.",
    ),
}
