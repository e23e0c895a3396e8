# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Hosts that declare cards, for a play's host pattern."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_seats_card_hosts
author: gpu-seats maintainers
version_added: "0.2.0"
short_description: Hosts that declare cards, of a site or by name
description:
  - Reads the declarations of the project the playbook belongs to and returns the hosts with cards that the inventory
    runs.
  - A name that is not declared, has no cards or is not in the inventory fails before anything is touched.
options:
  _terms:
    description: Names of hosts, each a text or a comma-separated list; none, or empty ones, for all.
    type: list
    elements: raw
  site:
    description: Only hosts of this site; a comma-separated list for more than one. Empty for all.
    type: raw
    default: ""
"""

EXAMPLES = r"""
- name: Cap the cards
  hosts: "{{ lookup('gpu_seats_card_hosts', host | default(''), site=site | default('')) }}"
"""

RETURN = r"""
_raw:
  description: Host names, each once.
  type: list
  elements: str
"""

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase
from ansible.utils.vars import load_extra_vars

from gpu_seats.controller.declared_faults import REFUSALS, refusal_of
from gpu_seats.controller.extra_vars import refuse_misspelt
from gpu_seats.controller.play_hosts import hosts_with_cards


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        self.set_options(var_options=variables, direct=kwargs)
        try:
            refuse_misspelt(load_extra_vars(self._loader))
            return hosts_with_cards(variables, terms[0] if terms else "", self.get_option("site"))
        except REFUSALS as error:
            raise AnsibleError(refusal_of(error)) from error
