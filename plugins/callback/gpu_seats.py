# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Ansible's default output, quiet about large results, with the table that every verb ends with."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_seats
type: stdout
author: gpu-seats maintainers
version_added: "0.1.0"
short_description: Default output and the closing table of every verb
description:
  - Shows plays and tasks as the default callback does. Of plans, checks and findings only the message is shown by the
    task itself, all of it with C(-v).
  - Gathers the results of seat_plan, compose_stacks, seat_ready, published_ports and seat_gone over all hosts.
  - Prints one table at the end of the run, also when a task failed or a host could not be reached.
extends_documentation_fragment:
  - default_callback
  - result_format_callback
requirements:
  - set as stdout_callback in ansible.cfg
"""

import os
import sys

from ansible.plugins.callback.default import CallbackModule as Default

from gpu_seats.controller.closing_table import GATHERED, ClosingTable
from gpu_seats.controller.module_answer import told_text
from gpu_seats.report.terminal import terminal_of

QUIET = (*GATHERED, "seat_report", "power_measure")


class CallbackModule(Default):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "gpu_seats"

    def __init__(self):
        super().__init__()
        self._table = ClosingTable()

    def v2_runner_on_ok(self, result):
        self._take(result, failed=False)
        super().v2_runner_on_ok(result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        if self._take(result, failed=True) and not self._display.verbosity:
            self._print_task_banner_once(result.task)
            said = told_text(result.result)
            if result.result.get("findings"):
                said = said.splitlines()[0]  # the findings stand below the table
            self._display.display(f"fatal: [{result.host.get_name()}]: FAILED! {said}", color="red", stderr=True)
            return
        super().v2_runner_on_failed(result, ignore_errors)

    def v2_runner_on_unreachable(self, result):
        self._table.host_unreachable(result.host.get_name(), str(result.result.get("msg", "no reason given")))
        super().v2_runner_on_unreachable(result)

    def v2_playbook_on_stats(self, stats):
        super().v2_playbook_on_stats(stats)
        text = self._table.text(terminal_of(sys.stdout, os.environ))
        if text:
            self._display.display(text.rstrip("\n") + "\n")

    def _print_task_banner_once(self, task):
        if self._last_task_banner != task._uuid:
            self._print_task_banner(task)

    def _take(self, result, failed):
        """Notes the result for the table; whether its message is all that is shown of it."""
        action = result.task.action.removeprefix("ansible.legacy.")
        if action in GATHERED:
            self._table.task_result(result.host.get_name(), action, {**result.result, "failed": failed})
        return action in QUIET
