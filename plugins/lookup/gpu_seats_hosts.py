# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Hosts of the named seats, for a play's host pattern."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_seats_hosts
author: gpu-seats maintainers
version_added: "0.1.0"
short_description: Hosts on which the named seats are declared
description:
  - Reads the declarations of the project the playbook belongs to and returns the hosts of the named seats.
  - A play whose pattern is this lookup never connects to a host that has nothing to do.
  - A name that is not declared, or whose host is not in the inventory, fails before anything is touched.
options:
  _terms:
    description: One term. A seat, a stack, a comma-separated list, a list of them, or C(all).
    required: true
    type: raw
  retired:
    description: Whether retired seats may be named (the verb that takes them away).
    type: bool
    default: false
  idle:
    description: Whether C(all) covers hosts with cards that have no seat yet.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Deploy
  hosts: "{{ lookup('gpu_seats_hosts', seat) }}"
"""

RETURN = r"""
_raw:
  description: Host names, each once, in the order of the selection.
  type: list
  elements: str
"""

from ansible import context
from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase
from ansible.utils.vars import load_extra_vars

from gpu_seats.controller.declared_faults import REFUSALS, refusal_of
from gpu_seats.controller.extra_vars import refuse_misspelt
from gpu_seats.controller.play_hosts import hosts_of_seats


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        self.set_options(var_options=variables, direct=kwargs)
        seat = terms[0] if terms else ""
        if not seat and context.CLIARGS.get("syntax"):
            return ["localhost"]  # a syntax check has no seat to name
        try:
            refuse_misspelt(load_extra_vars(self._loader))
            return hosts_of_seats(variables, seat, self.get_option("retired"), self.get_option("idle"))
        except REFUSALS as error:
            raise AnsibleError(refusal_of(error)) from error
