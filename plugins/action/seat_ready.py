# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Looks at seats through the module seat_look until they answer, and shows who is awaited meanwhile."""

from __future__ import annotations

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from gpu_seats.controller.module_answer import failure_text
from gpu_seats.controller.outside_check import outside_findings
from gpu_seats.controller.readiness import Waits, started_containers, verdicts, wait_until_ready

_ARGUMENTS = {
    "checks": {"type": "list", "elements": "dict", "required": True},
    "cards": {"type": "list", "elements": "dict", "default": []},
    "applied": {"type": "list", "elements": "dict", "default": []},
    "looks": {"type": "list", "elements": "dict", "default": []},
    "wait": {"type": "bool", "default": True},
    "tolerate": {"type": "bool", "default": False},
    "poll_s": {"type": "float", "default": 2.0},
    "progress_s": {"type": "float", "default": 5.0},
    "outside": {"type": "bool", "default": True},
    "outside_address": {"type": "str"},
}


_LONG_S = 1e9
"""Told to a look that awaits nothing: a container that is not there now counts as missing."""


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = True
    _supports_check_mode = True

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _, arguments = self.validate_argument_spec(argument_spec=_ARGUMENTS)

        def look(checks, waited_s, passed):
            asked = {"checks": checks, "waited_s": waited_s if arguments["wait"] else _LONG_S, "passed": passed}
            seen = self._execute_module(module_name="ansible.legacy.seat_look", module_args=asked, task_vars=task_vars)
            if seen.get("failed") and "seats" not in seen:
                raise AnsibleActionFail(failure_text("seat_look", seen), result=seen)
            return seen["seats"]

        def outside(check):
            address = arguments["outside_address"] or check.get("address")
            return outside_findings(check, address) if arguments["outside"] else []

        waits = Waits(arguments["poll_s"], arguments["progress_s"], once=not arguments["wait"])
        checks = arguments["checks"]
        readiness = wait_until_ready(checks, look, Display().display, waits, first=arguments["looks"])
        started = started_containers(arguments["applied"])
        rows, findings = verdicts(readiness, checks, arguments["cards"], outside, started)
        failing = [f"{one['seat']}: {one['verdict']}" for one in rows if not one["ok"]]
        return {
            "changed": False,
            "failed": bool(failing) and not arguments["tolerate"],
            "msg": "; ".join(failing) or "every seat answers",
            "seats": rows,
            "findings": [one.as_dict() for one in findings],
        }
