#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: host_info
author: gpu-seats maintainers
version_added: "0.1.0"
short_description: What a GPU host shows of itself
description:
  - Asks C(nvidia-smi), Docker Engine, Compose, C(ss), C(ip) and the kernel at the same time, each with a time limit.
  - A tool that is missing, hangs or fails is a finding, never a failure of the module and never a zero.
  - One card that is lost does not hide the others; these are then asked one by one.
options:
  images:
    description: Image names whose presence on the host is looked up.
    type: list
    elements: str
    default: []
  paths:
    description: Paths whose file system's free room is looked up.
    type: list
    elements: path
    default: []
  gpu_ids:
    description: Declared UUIDs or bus ids of the cards, for asking one by one.
    type: list
    elements: str
    default: []
  gpus:
    description: Whether the host has cards at all; false leaves C(nvidia-smi) alone.
    type: bool
    default: true
  mount_sources:
    description: Paths that containers are to mount, looked up for whether they exist.
    type: list
    elements: path
    default: []
attributes:
  check_mode:
    support: full
    description: Changes nothing, so it does the same in check mode.
  diff_mode:
    support: none
    description: Changes nothing.
"""

EXAMPLES = r"""
- name: Look at the host
  host_info:
    images: ["vllm/vllm-openai:v0.30.0"]
    paths: [/opt/docker/compose]
  register: seen
"""

RETURN = r"""
kernel:
  description: Release of the running kernel.
  type: str
  returned: always
gpus:
  description: RV(gpus.cards), one entry a card with UUID, bus id, memory in MiB and power in watts; what a card did not
    tell is null with its reason in C(unknown); null if no card could be asked. RV(gpus.card_count), null after a lost
    card. RV(gpus.processes), what holds their memory. RV(gpus.module), the loaded kernel module.
  type: dict
  returned: always
docker:
  description: Whether Docker Engine answers, its version and Compose's, every container as inspected (no environment
    values), and the ids of O(images), null for those the host does not have.
  type: dict
  returned: always
listeners:
  description: Listening sockets with their process; null if they could not be read.
  type: list
  elements: dict
  returned: always
memory:
  description: Total and available memory in MiB.
  type: dict
  returned: always
disks:
  description: Free and total room in MiB by path.
  type: dict
  returned: always
present:
  description: Whether each of O(mount_sources) exists, by path.
  type: dict
  returned: always
addresses:
  description: Addresses that the host's interfaces hold; null if they could not be read.
  type: list
  elements: str
  returned: always
findings:
  description: What is not as it should be.
  type: list
  elements: dict
  returned: always
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_seats.observe.host.gather import HostQuestion, observed_host


def main():
    module = AnsibleModule(
        argument_spec={
            "images": {"type": "list", "elements": "str", "default": []},
            "paths": {"type": "list", "elements": "path", "default": []},
            "gpu_ids": {"type": "list", "elements": "str", "default": []},
            "gpus": {"type": "bool", "default": True},
            "mount_sources": {"type": "list", "elements": "path", "default": []},
        },
        supports_check_mode=True,
    )
    module.exit_json(changed=False, **observed_host(HostQuestion(**module.params)))


if __name__ == "__main__":
    main()
