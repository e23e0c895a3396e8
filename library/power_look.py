#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: power_look
author: gpu-seats maintainers
version_added: "0.2.0"
short_description: The limits of a host's cards, the units that keep them, and the GPUs inside its containers
description:
  - Asks C(nvidia-smi) for every card, also inside every running container that has GPUs, and systemd for the named
    units, side by side. M(power_verify) compares the answer with what is declared.
  - A card that is lost does not hide the others, and a value that a card does not tell is null with its reason.
options:
  gpu_ids:
    description: Declared UUIDs or bus ids of the cards, for asking one by one where one card ends the query.
    type: list
    elements: str
    default: []
  units:
    description: Units whose state is read.
    type: list
    elements: str
    default: []
  docker_socket:
    description: Socket of the Docker Engine; without Docker on the host there are no containers to look into.
    type: path
    default: /var/run/docker.sock
attributes:
  check_mode:
    description: Reads only, so it does the same in check mode.
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
- name: Read limits and units
  power_look:
    units: [gpu-seats-power-caps.service]
  register: seen
"""

RETURN = r"""
cards:
  description: Every card that answered, with what M(gpu_info) tells of it.
  type: list
  elements: dict
  returned: always
card_count: {description: How many there are; null where one was lost., type: int, returned: always}
units:
  description: "How each unit stands, by name: load, active, sub, enabled, needs_reload, result."
  type: dict
  returned: always
containers:
  description: "Each container with GPUs: container, state (ok, lost, failing, hung, unknown, ended), text, seen."
  type: list
  elements: dict
  returned: always
findings:
  description: What could not be read, and containers that do not see their cards.
  type: list
  elements: dict
  returned: always
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_seats.observe.command import run
from ansible.module_utils.gpu_seats.observe.engine_api import EngineApi
from ansible.module_utils.gpu_seats.verify.power_look import power_look


def main():
    module = AnsibleModule(
        argument_spec={
            "gpu_ids": {"type": "list", "elements": "str", "default": []},
            "units": {"type": "list", "elements": "str", "default": []},
            "docker_socket": {"type": "path", "default": "/var/run/docker.sock"},
        },
        supports_check_mode=True,
    )
    engine = EngineApi(module.params["docker_socket"])
    look = power_look(run, engine, module.params["gpu_ids"], module.params["units"])
    module.exit_json(changed=False, **look)


if __name__ == "__main__":
    main()
