# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Adds secret file contents and runs the module compose_stacks, again for seats that waited for their card."""

from __future__ import annotations

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from gpu_seats.controller.deployment import secret_files
from gpu_seats.controller.module_answer import failure_text
from gpu_seats.controller.readiness import wait_until_ready
from gpu_seats.controller.staged_starts import applied_in_stages


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = True

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        arguments = {**self._task.args, "wait_chain": False}
        secrets = self._templar.template((task_vars or {}).get("gpu_seats_secrets") or {})
        stacks = arguments.get("stacks") or []
        try:
            arguments["secret_files"] = secret_files(stacks, secrets)
        except KeyError as error:
            raise AnsibleActionFail(f"gpu_seats_secrets has no value for {error}; add it to the vault") from error

        def apply(some):
            return self._module("compose_stacks", {**arguments, "stacks": some}, task_vars)

        def look(checks, waited_s, passed):
            asked = {"checks": checks, "waited_s": waited_s, "passed": passed}
            return self._module("seat_look", asked, task_vars)["seats"]

        return applied_in_stages(stacks, apply, lambda checks: wait_until_ready(checks, look, Display().display))

    def _module(self, name, arguments, task_vars):
        answer = self._execute_module(module_name=f"ansible.legacy.{name}", module_args=arguments, task_vars=task_vars)
        if answer.get("failed") and not {"stacks", "seats"} & set(answer):
            raise AnsibleActionFail(failure_text(name, answer), result=answer)
        return answer
