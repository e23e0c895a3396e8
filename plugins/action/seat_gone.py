# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Looks at the host again until retired seats have left nothing behind, or the time is up."""

from __future__ import annotations

import time

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from gpu_seats.controller.departure import departures
from gpu_seats.controller.module_answer import failure_text

_ARGUMENTS = {
    "seats": {"type": "list", "elements": "dict", "required": True},
    "timeout_s": {"type": "float", "default": 60.0},
    "poll_s": {"type": "float", "default": 2.0},
}


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = True

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _, arguments = self.validate_argument_spec(argument_spec=_ARGUMENTS)
        deadline = time.monotonic() + arguments["timeout_s"]
        while True:
            seen = self._execute_module(module_name="ansible.legacy.host_info", module_args={}, task_vars=task_vars)
            if seen.get("failed"):
                raise AnsibleActionFail(failure_text("host_info", seen), result=seen)
            rows, findings = departures(arguments["seats"], seen)
            if not findings or time.monotonic() >= deadline:
                break
            time.sleep(arguments["poll_s"])
        failing = [f"{one['seat']}: {one['verdict']}" for one in rows if not one["ok"]]
        return {
            "changed": False,
            "failed": bool(failing),
            "msg": "; ".join(failing) or "everything of it is gone",
            "seats": rows,
            "findings": [one.as_dict() for one in findings],
        }
