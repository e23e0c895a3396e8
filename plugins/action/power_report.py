# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Adds the site up with the limits that hold, writes picture and findings on the controller, gives the verdict."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from gpu_seats.apply.atomic_files import FileError
from gpu_seats.controller.declared_faults import REFUSALS, refusal_of, unwritten_of
from gpu_seats.controller.host_report import HostReport, written_reports
from gpu_seats.controller.play_fleet import fleet_of_play
from gpu_seats.controller.power_report import PowerReport, power_report, written_pictures

_ARGUMENTS = {
    "results": {"type": "dict", "required": True},
    "looks": {"type": "list", "elements": "dict", "default": []},
    "picture": {"type": "str", "default": ""},
    "json": {"type": "str", "default": ""},
    "prometheus": {"type": "str", "default": ""},
}


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _, arguments = self.validate_argument_spec(argument_spec=_ARGUMENTS)
        host = task_vars["inventory_hostname"]
        try:
            report = power_report(fleet_of_play(task_vars), host, arguments["results"], arguments["looks"])
        except REFUSALS as error:
            raise AnsibleActionFail(refusal_of(error)) from error
        try:
            written = [] if self._task.check_mode else _written(report, host, arguments)
        except FileError as error:
            raise AnsibleActionFail(unwritten_of(error)) from error
        return {"changed": False, "failed": not report.ok, "written": written, **report.as_result()}


def _written(report: PowerReport, host: str, arguments: dict[str, Any]) -> list[str]:
    pictures = written_pictures(report, arguments["picture"]) if arguments["picture"] else []
    targets = {"json": arguments["json"], "prometheus": arguments["prometheus"]}
    return [*pictures, *written_reports(HostReport(host, [], report.findings), targets)]
