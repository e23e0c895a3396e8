#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
from __future__ import annotations

DOCUMENTATION = r"""
module: seat_look
author: gpu-seats maintainers
version_added: "0.1.0"
short_description: One look from the host at seats, from their container to a real answer
description:
  - Looks once at every seat, side by side, and ends. A seat that is still loading is no failure; M(seat_ready) looks
    again until every seat is ready or failed, and shows what is awaited.
  - Steps are C(container), C(gpus) (the cards that are visible inside it), C(port), C(health), C(model) (the served
    name) and C(completion) (one real request of the seat's task). Each try has its own limit, taken from the check.
  - A container that has ended or restarts again and again fails at once, with the root cause out of the engine's log.
options:
  checks:
    description: What is verified, as the task C(seat_plan) returns it.
    type: list
    elements: dict
    required: true
  waited_s:
    description:
      - Seconds that the caller has waited already. A container that is not there yet is awaited until its limit, and a
        look with a large value awaits nothing.
    type: float
    default: 0
  passed:
    description: Steps by seat that an earlier look has seen well and that need not be asked again (C(gpus) only).
    type: dict
    default: {}
  docker_socket:
    description: Socket of the Docker Engine.
    type: path
    default: /var/run/docker.sock
attributes:
  check_mode:
    description: Reads only, and asks each seat one real request.
    support: full
  diff_mode:
    description: Changes nothing.
    support: none
  platform:
    platforms: posix
    description: Debian 12 and 13, Python 3.9 or newer.
    support: full
"""

EXAMPLES = r"""
- name: Look at every seat once, without waiting for any
  seat_look:
    checks: "{{ plan.checks }}"
    waited_s: 1000000
"""

RETURN = r"""
seats:
  description: One entry a check, in the order given.
  returned: always
  type: list
  elements: dict
  contains:
    seat: {description: The seat or service., type: str, returned: always}
    stack: {description: Its stack., type: str, returned: always}
    container: {description: Its container., type: str, returned: always}
    served_name: {description: Name it serves its model under., type: str, returned: always}
    state: {description: "V(ready), V(loading) or V(failed).", type: str, returned: always}
    awaited: {description: What is awaited or what failed; empty when ready., type: str, returned: always}
    source: {description: "Step, or V(engine log), that C(awaited) was read from.", type: str, returned: always}
    elapsed_s: {description: Seconds since the container started., type: float, returned: always}
    steps:
      description: "Steps that were looked at: step, status (ok, waiting, failed, skipped), text, seconds."
      type: list
      elements: dict
      returned: always
    findings: {description: What is not as it should be., type: list, elements: dict, returned: always}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_seats.observe.engine_api import EngineApi
from ansible.module_utils.gpu_seats.verify.seat_probe import Outside, look_at_all
from ansible.module_utils.gpu_seats.verify.seat_steps import seat_check

ARGUMENTS = {
    "checks": {"type": "list", "elements": "dict", "required": True},
    "waited_s": {"type": "float", "default": 0},
    "passed": {"type": "dict", "default": {}},
    "docker_socket": {"type": "path", "default": "/var/run/docker.sock"},
}


def main():
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    try:
        checks = [seat_check(data) for data in module.params["checks"]]
    except (TypeError, ValueError) as error:
        module.fail_json(msg=str(error))
    outside = Outside(EngineApi(module.params["docker_socket"]))
    looks = look_at_all(checks, outside, module.params["waited_s"], module.params["passed"])
    module.exit_json(changed=False, seats=[one.as_dict() for one in looks])


if __name__ == "__main__":
    main()
