# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Adds up the watts of the host's site and hands out the host's caps; asks no host."""

from __future__ import annotations

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from gpu_seats.controller.declared_faults import REFUSALS, refusal_of
from gpu_seats.controller.play_fleet import fleet_of_play
from gpu_seats.controller.prebuilt import build_meanwhile
from gpu_seats.controller.site_power import host_power

_NEXT = tuple(f"ansible.legacy.{name}" for name in ("systemd_units", "gpu_power_limit", "bmc_power_info", "power_look"))
_ARGUMENTS = {"persistence": {"type": "str", "default": "auto", "choices": ["auto", "daemon", "legacy", "leave"]}}


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _, arguments = self.validate_argument_spec(argument_spec=_ARGUMENTS)
        build_meanwhile(lambda name: self._configure_module(name, {}, task_vars), _NEXT)
        try:
            fleet, host = fleet_of_play(task_vars), task_vars["inventory_hostname"]
            return {"changed": False, **host_power(fleet, host, arguments["persistence"])}
        except REFUSALS as error:
            raise AnsibleActionFail(refusal_of(error)) from error
