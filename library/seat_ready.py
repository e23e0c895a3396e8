#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of an action plugin; the task runs on the controller, from plugins/action."""

from __future__ import annotations

DOCUMENTATION = r"""
module: seat_ready
author: gpu-seats maintainers
version_added: "0.1.0"
short_description: Wait until seats answer, and show who is awaited
description:
  - Looks at every seat through M(seat_look) again and again until each is ready or failed. Each step has its own time
    limit, which the seat declares.
  - Prints a line every few seconds about each seat that is still loading, with the time and what is awaited.
  - Asks every ready seat from the controller too.
  - Fails with one verdict for each seat that is not ready.
options:
  checks:
    description: What is verified, as M(seat_plan) or M(compose_stacks) return it.
    type: list
    elements: dict
    required: true
  cards:
    description: RV(ignore:plan.cards) of M(seat_plan), for the claim in the verdict.
    type: list
    elements: dict
    default: []
  applied:
    description: RV(ignore:stacks) of M(compose_stacks), which tell what this run has started and what was up before.
    type: list
    elements: dict
    default: []
  looks:
    description: RV(ignore:looks) of M(compose_stacks), looks made just now. What they found ready is not asked again.
    type: list
    elements: dict
    default: []
  wait:
    description: Whether a loading seat is looked at again; false looks once.
    type: bool
    default: true
  tolerate:
    description: Whether the task goes on with seats that are not ready; the verdicts tell.
    type: bool
    default: false
  poll_s:
    description: Seconds between two looks.
    type: float
    default: 2
  progress_s:
    description: Seconds between two lines about one seat.
    type: float
    default: 5
  outside:
    description: Whether ready seats are asked from the controller too.
    type: bool
    default: true
  outside_address:
    description: Where the controller reaches the host's published ports; the host's declared address without it.
    type: str
attributes:
  action:
    description: Runs on the controller and asks the host through M(seat_look).
    support: full
  check_mode:
    description: Looks as a real run does, one real request a seat.
    support: full
  diff_mode:
    description: Changes nothing.
    support: none
"""

EXAMPLES = r"""
- name: Wait until every seat answers
  seat_ready:
    checks: "{{ planned.checks }}"
"""

RETURN = r"""
seats:
  description: "One entry a check: seat, ok, verdict, state, steps."
  type: list
  elements: dict
  returned: always
findings:
  description: What is not as it should be.
  type: list
  elements: dict
  returned: always
"""

from ansible.module_utils.basic import AnsibleModule


def main():
    AnsibleModule(argument_spec={}, bypass_checks=True).fail_json(
        msg="seat_ready runs as an action plugin: set action_plugins to plugins/action in ansible.cfg"
    )


if __name__ == "__main__":
    main()
