#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
from __future__ import annotations

DOCUMENTATION = r"""
module: published_ports
author: gpu-seats maintainers
version_added: "0.1.0"
short_description: Compare declared ports with what Docker publishes, who listens and who answers
description:
  - Joins the declared ports with C(NetworkSettings.Ports) of their containers, the host's listening sockets, and a real
    connection to the host's own address.
  - A container can be running and healthy without its published port. That is found from its state alone.
  - With the userland proxy off there is no listener although a port works, and after a firewall reload there may be one
    although it does not, so a connection decides.
  - With O(cure) a container that lost its port is removed and made anew through Compose, since a restart does not help.
options:
  checks:
    description:
      - What is declared, as the task C(seat_plan) returns it. Of each entry C(seat), C(container), C(port) and
        C(container_port) are used; entries without a port are passed over.
    type: list
    elements: dict
    required: true
  address:
    description: The host's declared address. The address of the default route where no interface holds it.
    type: str
    default: ""
  cure:
    description: Recreate containers of gpu-seats that lost a port. Otherwise the module only reads.
    type: bool
    default: false
  connect_limit_s:
    description: Seconds that one connection may take.
    type: float
    default: 3
  timeout_s:
    description: Seconds that one Compose call may take.
    type: float
    default: 300
  docker_socket:
    description: Socket of the Docker Engine.
    type: path
    default: /var/run/docker.sock
attributes:
  check_mode:
    description: Says what O(cure) would recreate and recreates nothing.
    support: full
  diff_mode:
    description: Shows which containers are recreated and why.
    support: full
  platform:
    platforms: posix
    description: Debian 12 and 13, Python 3.9 or newer.
    support: full
"""

EXAMPLES = r"""
- name: Look at the ports of every seat
  published_ports:
    checks: "{{ plan.checks }}"
    address: 10.251.50.54

- name: Bring lost ports back
  published_ports:
    checks: "{{ plan.checks }}"
    cure: true
"""

RETURN = r"""
ports:
  description: One row a declared port.
  returned: always
  type: list
  elements: dict
  contains:
    seat: {description: The seat or service., type: str, returned: always}
    container: {description: Its container., type: str, returned: always}
    port: {description: Port of the host., type: int, returned: always}
    published: {description: "What Docker publishes, as C(address:port->port).", type: str, returned: always}
    listener: {description: "Who listens; empty for nobody, null if that is not known.", type: str, returned: always}
    connect: {description: "How a connection ended, V(open) if it was made.", type: str, returned: always}
    ok: {description: Whether nothing is wrong with it., type: bool, returned: always}
actions:
  description: Containers that were (would be) recreated, each with service, container, action and why.
  returned: always
  type: list
  elements: dict
userland_proxy:
  description: Whether the engine runs a proxy for each published port, null if that could not be read.
  returned: when the engine answers
  type: bool
findings:
  description: What is not as it should be, after a cure where one was made.
  returned: always
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_seats.apply.compose_cli import ENVIRONMENT
from ansible.module_utils.gpu_seats.apply.host_lock import HostLock, LockHeldError
from ansible.module_utils.gpu_seats.findings import by_severity, finding
from ansible.module_utils.gpu_seats.observe.command import run
from ansible.module_utils.gpu_seats.observe.engine_api import EngineApi, EngineRefusedError, EngineUnreachableError
from ansible.module_utils.gpu_seats.verify.port_cure import action_of, carry_out, cures
from ansible.module_utils.gpu_seats.verify.port_sight import PortSight, observed_ports, wanted_ports
from ansible.module_utils.gpu_seats.verify.published_ports import joined_ports

ARGUMENTS = {
    "checks": {"type": "list", "elements": "dict", "required": True},
    "address": {"type": "str", "default": ""},
    "cure": {"type": "bool", "default": False},
    "connect_limit_s": {"type": "float", "default": 3},
    "timeout_s": {"type": "float", "default": 300},
    "docker_socket": {"type": "path", "default": "/var/run/docker.sock"},
}


def cured(module, wanted, sight):
    """Actions and findings of a cure; findings of the look that led to it go with what they said."""
    with HostLock("published_ports with cure") as lock:
        seen, _unread = observed_ports(wanted, sight)
        _rows, findings = joined_ports(wanted, seen)
        to_cure, refused = cures(findings, seen.containers)
        if module.check_mode:
            return [action_of(cure) for cure in to_cure], refused
        actions, failed = carry_out(
            to_cure,
            lambda argv, limit_s: run(argv, limit_s, ENVIRONMENT, (lock.descriptor,)),
            module.params["timeout_s"],
        )
        return actions, [*refused, *failed]


def main():
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    try:
        wanted = wanted_ports(module.params["checks"])
    except (KeyError, TypeError, ValueError) as error:
        module.fail_json(msg=f"checks: every entry needs seat, container and a port that is a number ({error!r})")
    engine = EngineApi(module.params["docker_socket"])
    sight = PortSight(engine, module.params["address"], connect_limit_s=module.params["connect_limit_s"])
    actions, findings, report = [], [], {"ports": []}
    try:
        if module.params["cure"]:
            actions, findings = cured(module, wanted, sight)
        seen, unread = observed_ports(wanted, sight)
        rows, found = joined_ports(wanted, seen)
        findings = [*findings, *unread, *found]
        report = {"ports": [row.as_dict() for row in rows], "userland_proxy": seen.userland_proxy}
    except (EngineUnreachableError, EngineRefusedError) as problem:
        findings.append(finding("compose.engine_unreachable", "engine:docker", str(problem)))
    except LockHeldError as held:
        findings.append(finding("compose.locked", "engine:docker", str(held)))
    lines = [f"{one['action']} {one['container']}: {one['why']}\n" for one in actions]
    module.exit_json(
        changed=bool(actions),
        actions=actions,
        findings=[one.as_dict() for one in by_severity(findings)],
        diff=[{"prepared": "".join(lines)}] if lines else [],
        **report,
    )


if __name__ == "__main__":
    main()
