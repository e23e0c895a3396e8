#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of an action plugin; the task runs on the controller, from plugins/action."""

from __future__ import annotations

DOCUMENTATION = r"""
module: seat_report
author: gpu-seats maintainers
version_added: "0.1.0"
short_description: Write findings as JSON and Prometheus text, fail where something failed
description:
  - Takes the results of other tasks, writes them to files on the controller, and fails with the counts of findings when
    one of severity error or critical is among them.
options:
  results:
    description: Results by the name of their task, at least C(seat_plan); C(seat_ready) and C(published_ports) too.
    type: dict
    required: true
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
    description: Runs on the controller and does not ask the host.
    support: full
  check_mode:
    description: Judges as a real run does, writes no file.
    support: full
  diff_mode:
    description: Findings are no diff.
    support: none
"""

EXAMPLES = r"""
- name: Report
  seat_report:
    results:
      seat_plan: "{{ planned }}"
      seat_ready: "{{ answers }}"
    prometheus: /var/lib/prometheus/node-exporter/gpu-seats-{host}.prom
"""

RETURN = r"""
written:
  description: Files that changed.
  type: list
  elements: str
  returned: always
"""

from ansible.module_utils.basic import AnsibleModule


def main():
    AnsibleModule(argument_spec={}, bypass_checks=True).fail_json(
        msg="seat_report runs as an action plugin: set action_plugins to plugins/action in ansible.cfg"
    )


if __name__ == "__main__":
    main()
