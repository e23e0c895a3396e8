# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the power sampler of a host is told, from its declaration."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_seats_power_sampler
author: gpu-seats maintainers
version_added: "0.2.0"
short_description: Configuration and folder of the power sampler of the play's host
description:
  - Reads the host's declaration and returns the text of the sampler's configuration, and the folder of its files.
options:
  _terms:
    description: Takes none.
    type: list
    elements: str
  bmc:
    description: How the host asks its management controller; options of the module bmc_power_info.
    type: dict
    default: {}
  folder:
    description: Folder of the files; empty for the default on the host's pool.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Show where samples go
  ansible.builtin.debug:
    msg: "{{ lookup('gpu_seats_power_sampler').folder }}"
"""

RETURN = r"""
_raw:
  description: One dictionary with C(config) (text) and C(folder).
  type: list
  elements: dict
"""

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase

from gpu_seats.controller.declared_faults import REFUSALS, refusal_of
from gpu_seats.controller.play_fleet import fleet_of_play
from gpu_seats.controller.power_sampler_config import sampler_config, sampler_folder


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        self.set_options(var_options=variables, direct=kwargs)
        try:
            host = fleet_of_play(variables).hosts[variables["inventory_hostname"]]
        except REFUSALS as error:
            raise AnsibleError(refusal_of(error)) from error
        config = sampler_config(host, self.get_option("bmc"))
        return [{"config": config, "folder": sampler_folder(host, self.get_option("folder"))}]
