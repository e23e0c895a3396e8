# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Writes what other tasks found as JSON and Prometheus text on the controller; fails where something failed."""

from __future__ import annotations

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from gpu_seats.apply.atomic_files import FileError
from gpu_seats.controller.declared_faults import unwritten_of
from gpu_seats.controller.host_report import host_report, written_reports

_ARGUMENTS = {
    "results": {"type": "dict", "required": True},
    "json": {"type": "str", "default": ""},
    "prometheus": {"type": "str", "default": ""},
}


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _, arguments = self.validate_argument_spec(argument_spec=_ARGUMENTS)
        report = host_report(task_vars["inventory_hostname"], arguments["results"])
        targets = {"json": arguments["json"], "prometheus": arguments["prometheus"]}
        try:
            changed = [] if self._task.check_mode else written_reports(report, targets)
        except FileError as error:
            raise AnsibleActionFail(f"{unwritten_of(error)}\n{report.summary}") from error
        return {"changed": bool(changed), "written": changed, "failed": not report.ok, "msg": report.summary}
