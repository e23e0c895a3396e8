#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of an action plugin; the task runs on the controller, from plugins/action."""

from __future__ import annotations

DOCUMENTATION = r"""
module: seat_plan
author: gpu-seats maintainers
version_added: "0.1.0"
short_description: Plan seats against what their host shows, and render them
description:
  - Reads the declarations of the project, looks at the host once, plans and renders. Changes nothing.
  - Fails, before anything is touched, with every refusal and its arithmetic (an over-full card, a taken port, a card
    that is not there, a build without a needed feature).
options:
  seat:
    description: A seat, a stack, a comma-separated list or a YAML list of them, or C(all).
    type: raw
    required: true
  intent:
    description:
      - What the plan is for. V(status) never refuses, what it would refuse are findings. V(retire) takes only seats
        that are declared retired.
    type: str
    choices: [deploy, status, retire]
    default: deploy
  pull:
    description: As for M(compose_stacks). With V(never), an image that the host does not have is a refusal.
    type: str
    choices: [missing, always, never]
    default: missing
  rollback:
    description: Told by the deploy role; the files of the last good deploy are applied instead of what is rendered.
    type: bool
    default: false
attributes:
  action:
    description: Runs on the controller and asks the host through M(host_info).
    support: full
  check_mode:
    description: Plans as a real run does.
    support: full
  diff_mode:
    description: Changes nothing.
    support: none
"""

EXAMPLES = r"""
- name: Plan a seat
  seat_plan:
    seat: flash-next
  register: planned

- name: Bring it there
  compose_stacks:
    stacks: "{{ planned.stacks }}"
"""

RETURN = r"""
stacks:
  description: Rendered stacks, for M(compose_stacks). No secret values.
  type: list
  elements: dict
  returned: when nothing is refused
checks:
  description: What is to be verified, for M(seat_ready) and M(published_ports).
  type: list
  elements: dict
  returned: when nothing is refused
seats:
  description: "One entry a selected workload: seat, state, cards, port, stack, container, standing."
  type: list
  elements: dict
  returned: always
plan:
  description: VRAM of each card before and after in MiB, host RAM, device ids, start order, refusals, findings.
  type: dict
  returned: always
findings:
  description: What is not as it should be, refusals first.
  type: list
  elements: dict
  returned: always
passed_over:
  description: Why a workload that the selection covers is left out, by name.
  type: dict
  returned: always
"""

from ansible.module_utils.basic import AnsibleModule


def main():
    AnsibleModule(argument_spec={}, bypass_checks=True).fail_json(
        msg="seat_plan runs as an action plugin: set action_plugins to plugins/action in ansible.cfg"
    )


if __name__ == "__main__":
    main()
