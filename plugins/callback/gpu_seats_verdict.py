# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Prints what every verb ends with: seat, state, card, port, verdict, findings with remedies."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_seats_verdict
type: aggregate
author: gpu-seats maintainers
version_added: "0.1.0"
short_description: The closing table of every verb
description:
  - Gathers the results of seat_plan, compose_stacks, seat_ready, published_ports and seat_gone over all hosts.
  - Prints one table at the end of the run, also when a task failed or a host could not be reached.
requirements:
  - enabled in ansible.cfg (callbacks_enabled)
"""

import os
import sys

from ansible.plugins.callback import CallbackBase

from gpu_seats.controller.closing_table import ClosingTable
from gpu_seats.report.terminal import terminal_of


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "gpu_seats_verdict"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._table = ClosingTable()

    def v2_runner_on_ok(self, result):
        self._take(result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._take(result)

    def v2_runner_on_unreachable(self, result):
        host = result.host.get_name()
        self._table.host_unreachable(host, str(result.result.get("msg", "no reason given")))

    def v2_playbook_on_stats(self, stats):
        text = self._table.text(terminal_of(sys.stdout, os.environ))
        if text:
            self._display.display("\n" + text.rstrip("\n") + "\n")

    def _take(self, result):
        action = result.task.action.removeprefix("ansible.legacy.")
        self._table.task_result(result.host.get_name(), action, result.result)
