# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads limits and units anew through the module power_look and compares them with what is declared."""

from __future__ import annotations

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from gpu_seats.controller.declared_faults import REFUSALS, refusal_of
from gpu_seats.controller.module_answer import failure_text
from gpu_seats.controller.play_fleet import fleet_of_play
from gpu_seats.controller.power_verify import bmc_reading, planned_caps, verified_caps

_ARGUMENTS = {
    "applied": {"type": "dict", "required": True},
    "units": {"type": "list", "elements": "dict", "default": []},
    "bmc": {"type": "dict", "default": {}},
    "tolerate": {"type": "bool", "default": False},
}


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = True
    _supports_check_mode = True

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _, arguments = self.validate_argument_spec(argument_spec=_ARGUMENTS)
        try:
            host = fleet_of_play(task_vars).hosts[task_vars["inventory_hostname"]]
        except REFUSALS as error:
            raise AnsibleActionFail(refusal_of(error)) from error
        applied = arguments["applied"]
        if self._task.check_mode:
            verified = planned_caps(host, applied)
        else:
            look = self._look(host, arguments["units"], task_vars)
            verified = verified_caps(host, applied, look, arguments["units"])
        return {
            "changed": False,
            "failed": not verified.ok and not arguments["tolerate"],
            **verified.as_result(),
            "bmc": bmc_reading(arguments["bmc"]),
        }

    def _look(self, host, units, task_vars):
        asked = {
            "gpu_ids": [gpu.uuid or gpu.bus_id for gpu in host.gpus.values() if gpu.uuid or gpu.bus_id],
            "units": [unit["name"] for unit in units],
        }
        seen = self._execute_module(module_name="ansible.legacy.power_look", module_args=asked, task_vars=task_vars)
        if seen.get("failed"):
            raise AnsibleActionFail(failure_text("power_look", seen), result=seen)
        return seen
