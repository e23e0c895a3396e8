#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of an action plugin; the task runs on the controller, from plugins/action."""

from __future__ import annotations

DOCUMENTATION = r"""
module: power_report
author: gpu-seats maintainers
version_added: "0.2.0"
short_description: The watts of a site with the limits that hold, as a tree and a picture, with the verdict
description:
  - Takes the results of other tasks, adds the host's site up with the limits that the cards enforce, writes files on
    the controller, and fails when a finding of severity error or critical is among them.
options:
  results:
    description:
      - Results by the name of their task. Of V(site_power), V(systemd_units), V(gpu_power_limit), V(power_verify) and
        V(bmc_power_info), those that ran.
    type: dict
    required: true
  looks:
    description: Results of M(power_verify) of every host in the run; hosts of one site are added up together.
    type: list
    elements: dict
    default: []
  picture:
    description: Directory for C(<site>.html) and C(<site>.svg). Empty for none.
    type: str
    default: ""
  json:
    description: File for the findings as JSON; C({host}) is replaced by the host's name. Empty for none.
    type: str
    default: ""
  prometheus:
    description: File for the findings as Prometheus text; C({host}) is replaced by the host's name. Empty for none.
    type: str
    default: ""
attributes:
  action:
    description: Runs on the controller and does not ask the host. Files that it writes there are no change of the host.
    support: full
  check_mode:
    description: Judges as a real run does, writes no file.
    support: full
  diff_mode:
    description: Changes nothing on the host.
    support: none
"""

EXAMPLES = r"""
- name: Report
  power_report:
    results:
      power_verify: "{{ verified }}"
      bmc_power_info: "{{ bmc }}"
    picture: build/power
"""

RETURN = r"""
host: {description: The host., type: str, returned: always}
site: {description: Its site., type: str, returned: always}
tree: {description: Devices and loads of the site., type: dict, returned: always}
cards: {description: Cards of the host as M(power_verify) returned them., type: list, elements: dict, returned: always}
bmc: {description: "What the BMC reads: watts, source, reason; null if not asked.", type: dict, returned: always}
worst_watts: {description: Worst case of the host; null where a part is not known., type: float, returned: always}
written: {description: Files on the controller., type: list, elements: str, returned: always}
findings: {description: What is not as declared., type: list, elements: dict, returned: always}
"""

from ansible.module_utils.basic import AnsibleModule


def main():
    AnsibleModule(argument_spec={}, bypass_checks=True).fail_json(
        msg="power_report runs as an action plugin: set action_plugins to plugins/action in ansible.cfg"
    )


if __name__ == "__main__":
    main()
