# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Adds secret file contents to the stacks and runs the module compose_stacks, once a host."""

from __future__ import annotations

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from gpu_seats.controller.deployment import with_secrets


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = True

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        arguments = dict(self._task.args)
        secrets = self._templar.template((task_vars or {}).get("gpu_seats_secrets") or {})
        try:
            arguments["stacks"] = [with_secrets(stack, secrets) for stack in arguments.get("stacks") or []]
        except KeyError as error:
            raise AnsibleActionFail(f"gpu_seats_secrets has no value for {error}; add it to the vault") from error
        return self._execute_module(
            module_name="ansible.legacy.compose_stacks", module_args=arguments, task_vars=task_vars
        )
