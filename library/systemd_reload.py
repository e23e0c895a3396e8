#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: systemd_reload
author: gpu-seats maintainers
version_added: "0.2.0"
short_description: Reload systemd, then check the GPUs inside every running container
description:
  - C(systemctl daemon-reload), and after it C(nvidia-smi -L) inside every running container that has GPUs. A reload can
    take the cards from running containers, and their health checks may stay green.
  - A container that lost its GPUs is restarted and looked at again, one after another; nothing is restarted while
    C(nvidia-smi) of the host itself fails. Fails if a container is left without its GPUs, unless O(tolerate).
  - Always reloads, so it is called as a handler; the role C(systemd_reload) has it, and every role that writes unit
    files notifies that one.
options:
  repair:
    description: Whether containers that lost their GPUs are restarted; otherwise they are only reported.
    type: bool
    default: true
  tolerate:
    description: Return failing findings instead of failing, for a role that goes on and gives the verdict at its end.
    type: bool
    default: false
  settle_s:
    description: Seconds between the reload and the look; device rules are applied shortly after it has returned.
    type: float
    default: 1
  docker_socket:
    description: Socket of the Docker Engine; without Docker on the host there is nothing to look at.
    type: path
    default: /var/run/docker.sock
attributes:
  check_mode:
    description: Says that systemd would be reloaded. Whether a container would lose its GPUs by that can't be foretold.
    support: full
  diff_mode:
    description: Changes no file.
    support: none
  platform:
    platforms: posix
    description: Debian 12 and 13, Python 3.9 or newer.
    support: full
"""

EXAMPLES = r"""
- name: Reload systemd and check the GPUs of containers
  systemd_reload:
"""

RETURN = r"""
reloaded: {description: Whether systemd was reloaded., type: bool, returned: always}
containers:
  description:
    - "Each container with GPUs: container, state (ok, lost, failing, hung, unknown, ended), text, seen, restarted."
  type: list
  elements: dict
  returned: always
restarted: {description: Containers that were restarted., type: list, elements: str, returned: always}
findings: {description: What is not as it should be., type: list, elements: dict, returned: always}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_seats.apply.daemon_reload import reload_findings
from ansible.module_utils.gpu_seats.observe.command import run
from ansible.module_utils.gpu_seats.observe.engine_api import EngineApi
from ansible.module_utils.gpu_seats.verify.container_gpus import check_containers


def main():
    module = AnsibleModule(
        argument_spec={
            "repair": {"type": "bool", "default": True},
            "tolerate": {"type": "bool", "default": False},
            "settle_s": {"type": "float", "default": 1},
            "docker_socket": {"type": "path", "default": "/var/run/docker.sock"},
        },
        supports_check_mode=True,
    )
    if module.check_mode:
        module.exit_json(changed=True, reloaded=False, containers=[], restarted=[], findings=[])
    failed = reload_findings(run)
    # a reload that failed halfway may have applied device rules all the same
    engine = EngineApi(module.params["docker_socket"])
    checked = check_containers(engine, run, module.params["repair"], module.params["settle_s"])
    findings = [*failed, *checked.findings]
    result = {
        "changed": True,
        "reloaded": not failed,
        "containers": [look.as_dict() for look in checked.looks],
        "restarted": [look.container for look in checked.looks if look.restarted],
        "findings": [one.as_dict() for one in findings],
    }
    failing = [one.message for one in findings if one.fails]
    if failing and not module.params["tolerate"]:
        module.fail_json(msg="; ".join(failing), **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
