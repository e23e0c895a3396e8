#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of an action plugin; the task runs on the controller, from plugins/action."""

from __future__ import annotations

DOCUMENTATION = r"""
module: power_measure
author: gpu-seats maintainers
version_added: "0.2.0"
short_description: Measure what a host draws with its cards at their caps, step by step and under a watch
description:
  - Plans the steps, one card more at each, and leaves out every step that would put more on a device of the site than
    it may carry for hours. Then starts the measurement on the host through M(power_measure_run) and shows a line every
    few seconds.
  - Load is ended, before anything else happens, when the host draws more than the stop threshold, when a card is lost
    or over its cap, when the file takes no line, when nobody looks any more, and when its watcher dies.
  - A run that was cut off is resumed at the first step that was not measured to its end.
  - Writes samples, a plot and a unified diff of the host file to O(out). The diff is never applied.
options:
  load_command:
    description:
      - Command that loads one card until it is ended. It is run on the host once a card, without a shell; it must stay
        in the foreground. Placeholders are C({uuid}), C({index}), C({card}), C({watts}) and C({seconds}).
      - Without it the cards are loaded by requests to the serving seats that run on them.
    type: str
    default: ""
  requests:
    description: Requests at once to each seat, without O(load_command).
    type: int
    default: 16
  cards:
    description: Cards that are loaded, by their number in the host file; all of them without it. All are watched.
    type: list
    elements: str
    default: []
  stop_at_watts:
    description:
      - Watts of the host at which the load is ended. By default what the smallest device above the host may carry for
        hours, less the most that its other loads may take; a lower value is taken, a higher one refused.
    type: float
  folder:
    description: Where the host keeps the samples; by default C(gpu-seats/power) on its first pool that is not the root.
    type: path
    default: ""
  bmc:
    description: How the host asks its management controller; options of M(bmc_power_info), empty for not at all.
    type: dict
    default: {}
  every_s:
    description: Seconds between two samples.
    type: float
    default: 3
  settle_s:
    description: Seconds after the last card of a step is loaded before the step is measured.
    type: float
    default: 30
  hold_s:
    description: Seconds that each step is measured.
    type: float
    default: 60
  lease_s:
    description: Seconds without a look from the controller after which the host ends the load by itself.
    type: float
    default: 45
  fresh:
    description: Whether to begin anew where a run was cut off, or where a finished one could take the clamp's reading.
    type: bool
    default: false
  clamp:
    description: V(ask) holds the last step and asks at the terminal for the reading of a clamp meter.
    type: str
    default: none
    choices: [none, ask]
  clamp_watts:
    description:
      - Reading of a clamp meter at the last step. With a run of the same plan that ended within a day nothing is loaded
        anew.
    type: float
  clamp_at:
    description: What the clamp was around, V(host) for its cords, or a device of the site; empty when it is not told.
    type: str
    default: ""
  clamp_wait_s:
    description: How much longer the last step is held for an answer.
    type: float
    default: 180
  poll_s:
    description: Seconds between two looks at the host.
    type: float
    default: 5
  progress_s:
    description: Seconds between two lines of progress.
    type: float
    default: 10
  out:
    description: Directory on the controller for samples, plot and diff.
    type: path
    required: true
  tool:
    description: The host tool, as the role power_measure installs it.
    type: path
    default: /usr/local/lib/gpu-seats/gpu-seats-host.pyz
attributes:
  action:
    description: Runs on the controller and reaches the host through M(power_measure_run).
    support: full
  check_mode:
    description: Reads cards and BMC, shows every step at its worst and where a run would begin; loads nothing.
    support: full
  diff_mode:
    description: The proposed change of the host file is part of the result, in C(measured_diff).
    support: none
"""

EXAMPLES = r"""
- name: Measure with a burner on each card
  power_measure:
    load_command: gpu-burn -i {index} {seconds}
    bmc: {interface: open}
    out: build/power-measure
"""

RETURN = r"""
log: {description: File of samples on the host., type: str, returned: when something ran}
steps: {description: Each measured step with its average watts., type: list, elements: dict, returned: when measured}
measured_diff: {description: Proposed change of the host file., type: str, returned: when measured}
written: {description: Files on the controller., type: list, elements: str, returned: when measured}
findings: {description: What is not as it should be., type: list, elements: dict, returned: always}
"""

from ansible.module_utils.basic import AnsibleModule


def main():
    AnsibleModule(argument_spec={}, bypass_checks=True).fail_json(
        msg="power_measure runs as an action plugin: set action_plugins to plugins/action in ansible.cfg"
    )


if __name__ == "__main__":
    main()
