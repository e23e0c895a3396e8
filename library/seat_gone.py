#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of an action plugin; the task runs on the controller, from plugins/action."""

from __future__ import annotations

DOCUMENTATION = r"""
module: seat_gone
author: gpu-seats maintainers
version_added: "0.1.0"
short_description: See that nothing of retired seats is left
description:
  - Looks at the host again until the containers are gone and their ports free, or the time is up.
options:
  seats:
    description: Entries of RV(ignore:seats) as M(seat_plan) returns them (seat, container, port).
    type: list
    elements: dict
    required: true
  timeout_s:
    description: Seconds to wait for it.
    type: float
    default: 60
  poll_s:
    description: Seconds between two looks.
    type: float
    default: 2
attributes:
  action:
    description: Runs on the controller and asks the host through M(host_info).
    support: full
  check_mode:
    description: Looks, as a real run does.
    support: full
  diff_mode:
    description: Changes nothing.
    support: none
"""

EXAMPLES = r"""
- name: See that it is gone
  seat_gone:
    seats: "{{ planned.seats }}"
"""

RETURN = r"""
seats:
  description: "One entry a seat: seat, ok, verdict."
  type: list
  elements: dict
  returned: always
findings:
  description: What is still there.
  type: list
  elements: dict
  returned: always
"""

from ansible.module_utils.basic import AnsibleModule


def main():
    AnsibleModule(argument_spec={}, bypass_checks=True).fail_json(
        msg="seat_gone runs as an action plugin: set action_plugins to plugins/action in ansible.cfg"
    )


if __name__ == "__main__":
    main()
