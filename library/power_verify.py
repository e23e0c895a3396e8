#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of an action plugin; the task runs on the controller, from plugins/action."""

from __future__ import annotations

DOCUMENTATION = r"""
module: power_verify
author: gpu-seats maintainers
version_added: "0.2.0"
short_description: See that the declared caps of a host hold, by a look that is made anew
description:
  - Reads limits and units through M(power_look) and compares them with the host's declaration, whatever the task that
    set them says. A cap that does not hold fails, and so does a unit that would not bring it back at boot.
options:
  applied:
    description: The result of M(gpu_power_limit).
    type: dict
    required: true
  units:
    description: Units as they are to stand, as for M(systemd_units).
    type: list
    elements: dict
    default: []
  bmc:
    description: The result of M(bmc_power_info), handed on so that what is measured of a host stands in one place.
    type: dict
    default: {}
  tolerate:
    description: Do not fail, leave that to M(power_report).
    type: bool
    default: false
attributes:
  action:
    description: Runs on the controller and asks the host through M(power_look).
    support: full
  check_mode:
    description: Nothing was set, so it judges what O(applied) says it would set and does not ask the host.
    support: full
  diff_mode:
    description: Changes nothing.
    support: none
"""

EXAMPLES = r"""
- name: See with other eyes that the caps hold
  power_verify:
    applied: "{{ set }}"
    units:
      - {name: gpu-seats-power-caps.service, enabled: true}
"""

RETURN = r"""
host: {description: The host., type: str, returned: always}
cards:
  description: "One entry a card with a cap: card, uuid, cap_watts, limit_watts, draw_watts, verdict, ok."
  type: list
  elements: dict
  returned: always
limits: {description: The limit that holds now by card., type: dict, returned: always}
bmc: {description: "Of O(bmc): watts, source, reason; null if it was not asked.", type: dict, returned: always}
findings: {description: What is not as declared., type: list, elements: dict, returned: always}
"""

from ansible.module_utils.basic import AnsibleModule


def main():
    AnsibleModule(argument_spec={}, bypass_checks=True).fail_json(
        msg="power_verify runs as an action plugin: set action_plugins to plugins/action in ansible.cfg"
    )


if __name__ == "__main__":
    main()
