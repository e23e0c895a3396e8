#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_info
author: gpu-seats maintainers
version_added: "0.1.0"
short_description: The cards of a host by UUID, with their power limits
description:
  - Asks C(nvidia-smi) once, with a time limit. Cards are keyed by UUID, because their index is not promised over boots.
  - A value that a card does not tell is null with its reason in C(unknown), never 0. A driver that can't be asked is a
    finding, never a host without cards.
  - One card that is lost ends C(nvidia-smi)'s query; the others are then asked one by one.
options:
  ids:
    description:
      - UUIDs or bus ids of the declared cards, for asking one by one. Without them the driver's own list is used.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    description: Changes nothing, so it does the same in check mode.
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
- name: Read the power limits
  gpu_info:
  register: seen

- name: Show what each card may draw
  ansible.builtin.debug:
    msg: "{{ item.key }} {{ item.value.enforced_power_limit_watts }} W"
  loop: "{{ seen.cards | dict2items }}"
"""

RETURN = r"""
cards:
  description:
    - One entry a card that answered, by UUID; with C(bus_id), C(name), C(power_draw_watts), C(power_limit_watts) (asked
      for), C(enforced_power_limit_watts) (what holds), C(default_power_limit_watts), C(min_power_limit_watts),
      C(max_power_limit_watts), C(persistence_mode), C(mig_mode), and C(unknown), the reason of each null.
  returned: always
  type: dict
card_count:
  description: How many cards the driver has; null after a lost card, or when the driver could not be asked.
  returned: always
  type: int
persistence_daemon:
  description: State of C(nvidia-persistenced), V(absent) without such a unit, V(unknown) without systemd.
  returned: always
  type: str
findings:
  description: What is not as it should be.
  returned: always
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_seats.apply.gpu_limits.card_reading import read_cards
from ansible.module_utils.gpu_seats.apply.gpu_limits.persistence import daemon_state
from ansible.module_utils.gpu_seats.observe.command import run


def main():
    module = AnsibleModule(
        argument_spec={"ids": {"type": "list", "elements": "str", "default": []}},
        supports_check_mode=True,
    )
    read = read_cards(run, module.params["ids"])
    module.exit_json(changed=False, persistence_daemon=daemon_state(run), **read.as_dict())


if __name__ == "__main__":
    main()
