#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of an action plugin; the task runs on the controller, from plugins/action."""

from __future__ import annotations

DOCUMENTATION = r"""
module: site_power
author: gpu-seats maintainers
version_added: "0.2.0"
short_description: The declared caps of a host, and the watts of its site
description:
  - Reads the declarations of the project and adds up, for every protective device of the host's site, what it carries
    when every card draws its declared limit. Asks no host and changes nothing.
  - A device that this overloads is among the findings and does not fail the task; M(power_report) judges by what the
    cards enforce.
options:
  persistence:
    description: How the host's tool keeps settings of cards, as for M(gpu_power_limit); it stands in C(caps_file).
    type: str
    choices: [auto, daemon, legacy, leave]
    default: auto
attributes:
  action:
    description: Runs on the controller and does not ask the host.
    support: full
  check_mode:
    description: Changes nothing, so it does the same in check mode.
    support: full
  diff_mode:
    description: Changes nothing.
    support: none
"""

EXAMPLES = r"""
- name: Plan the watts of the host and its site
  site_power:
  register: planned

- name: Set the caps
  gpu_power_limit:
    caps: "{{ planned.caps }}"
"""

RETURN = r"""
host: {description: The host., type: str, returned: always}
site: {description: Its site., type: str, returned: always}
caps:
  description: "One entry a card, for M(gpu_power_limit): card, uuid, bus_id, limit_watts, reason and more."
  type: list
  elements: dict
  returned: always
caps_file: {description: The same as the text of the file that the host's own tool reads., type: str, returned: always}
bmc_address: {description: Address of the management controller; null for none., type: str, returned: always}
tree:
  description: "Devices and loads of the site with their worst case, as C(gpu-seats power --json) prints them."
  type: dict
  returned: always
findings: {description: What is wrong with the site's watts., type: list, elements: dict, returned: always}
"""

from ansible.module_utils.basic import AnsibleModule


def main():
    AnsibleModule(argument_spec={}, bypass_checks=True).fail_json(
        msg="site_power runs as an action plugin: set action_plugins to plugins/action in ansible.cfg"
    )


if __name__ == "__main__":
    main()
