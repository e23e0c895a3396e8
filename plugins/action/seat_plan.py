# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads the declarations, looks at the host once, plans and renders; changes nothing."""

from __future__ import annotations

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from gpu_seats.controller.declared_faults import REFUSALS, refusal_of
from gpu_seats.controller.module_answer import failure_text
from gpu_seats.controller.play_fleet import fleet_of_play
from gpu_seats.controller.prebuilt import build_meanwhile
from gpu_seats.controller.seat_plan import SeatPlanRequest, seat_plan

_NEXT = ("ansible.legacy.compose_stacks",)
_ARGUMENTS = {
    "seat": {"type": "raw", "required": True},
    "intent": {"type": "str", "default": "deploy", "choices": ["deploy", "status", "retire"]},
    "pull": {"type": "str", "default": "missing", "choices": ["missing", "always", "never"]},
    "rollback": {"type": "bool", "default": False},
}


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = True

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _, arguments = self.validate_argument_spec(argument_spec=_ARGUMENTS)
        request = SeatPlanRequest(
            host=task_vars["inventory_hostname"],
            secrets=self._templar.template(task_vars.get("gpu_seats_secrets") or {}),
            **arguments,
        )
        try:
            plan = seat_plan(fleet_of_play(task_vars), request, lambda asked: self._observed(asked, task_vars))
        except REFUSALS as error:
            raise AnsibleActionFail(refusal_of(error)) from error
        return {**plan.as_result(), "check_mode": bool(self._task.check_mode)}

    def _observed(self, asked, task_vars):
        """The result of host_info. Raises AnsibleActionFail when the module could not run."""
        build_meanwhile(lambda name: self._configure_module(name, {}, task_vars), _NEXT)
        found = self._execute_module(module_name="ansible.legacy.host_info", module_args=asked, task_vars=task_vars)
        if found.get("failed"):
            raise AnsibleActionFail(failure_text("host_info", found), result=found)
        return found
