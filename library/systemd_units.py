#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: systemd_units
author: gpu-seats maintainers
version_added: "0.2.0"
short_description: Unit files and what they need, enabled and started without a daemon-reload
description:
  - Writes all files of a service in one run, each whole or not at all, then enables and starts its units.
  - Never reloads systemd. C(systemctl enable) does so by itself, and a reload can take the GPUs from running
    containers; here it is called with C(--no-reload). RV(reload_due) says whether one is needed, for a task that then
    notifies the handler of the role C(systemd_reload); it reloads and looks at the GPUs inside every container.
  - A unit whose file has just changed is not started before that reload; it is named in C(pending).
options:
  files:
    description: Files to write, unit files and others.
    type: list
    elements: dict
    default: []
    suboptions:
      path: {description: Where., type: path, required: true}
      content: {description: Text of the file., type: str}
      content_zlib: {description: "Bytes of a file that is no text, packed by zlib and in base64.", type: str}
      mode: {description: "Permission bits in octal, quoted.", type: str, default: "0644"}
  absent:
    description: Files to remove.
    type: list
    elements: path
    default: []
  units:
    description: Units as they are to stand.
    type: list
    elements: dict
    default: []
    suboptions:
      name: {description: Name with its suffix., type: str, required: true}
      enabled: {description: Whether it starts at boot; left as it is where not given., type: bool}
      started: {description: Whether it runs now; left as it is where not given., type: bool}
      required:
        description: Whether it is an error that the host has no such unit.
        type: bool
        default: true
  tolerate:
    description: Do not fail when a file or a unit can't be brought as wanted; a later task then gives the verdict.
    type: bool
    default: false
attributes:
  check_mode:
    description: Says what would be written, enabled and started, also where nothing is installed yet.
    support: full
  diff_mode:
    description: Shows the files; of one that is no text its size and digest.
    support: full
  platform:
    platforms: posix
    description: Debian 12 and 13, Python 3.9 or newer, systemd 252 or newer.
    support: full
"""

EXAMPLES = r"""
- name: A timer of our own
  systemd_units:
    files:
      - {path: /etc/systemd/system/look.service, content: "{{ lookup('ansible.builtin.file', 'look.service') }}"}
      - {path: /etc/systemd/system/look.timer, content: "{{ lookup('ansible.builtin.file', 'look.timer') }}"}
    units:
      - {name: look.timer, enabled: true, started: true}
  register: units

- name: Tell whether systemd has to read unit files again
  ansible.builtin.debug:
    msg: "{{ 'unit files changed' if units.reload_due else 'no unit file changed' }}"
  changed_when: units.reload_due
  notify: Reload systemd and check the GPUs of containers
"""

RETURN = r"""
written: {description: Files that changed., type: list, elements: str, returned: always}
removed: {description: Files that were removed., type: list, elements: str, returned: always}
switched: {description: "What systemctl was told, as C(enable NAME).", type: list, elements: str, returned: always}
pending: {description: Units that are to be started after the reload., type: list, elements: str, returned: always}
reload_due: {description: Whether systemd has to read unit files again., type: bool, returned: always}
units:
  description: "How each unit stands, by name: load, active, sub, enabled, needs_reload, result."
  type: dict
  returned: always
findings: {description: What could not be brought as wanted., type: list, elements: dict, returned: always}
"""

import base64
import zlib

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_seats.apply.atomic_files import WantedFile, binary_file
from ansible.module_utils.gpu_seats.apply.unit_files import WantedUnit, bring_units
from ansible.module_utils.gpu_seats.observe.command import run

ARGUMENTS = {
    "files": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "path": {"type": "path", "required": True},
            "content": {"type": "str"},
            "content_zlib": {"type": "str"},
            "mode": {"type": "str", "default": "0644"},
        },
        "mutually_exclusive": [["content", "content_zlib"]],
        "required_one_of": [["content", "content_zlib"]],
    },
    "absent": {"type": "list", "elements": "path", "default": []},
    "units": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "name": {"type": "str", "required": True},
            "enabled": {"type": "bool"},
            "started": {"type": "bool"},
            "required": {"type": "bool", "default": True},
        },
    },
    "tolerate": {"type": "bool", "default": False},
}


def wanted_file(data):
    """Raises ValueError for a mode or a packed content that can't be read."""
    path = data["path"]
    try:
        mode = int(data["mode"], 8)
    except ValueError:
        raise ValueError(f"{path}: mode {data['mode']!r} is no octal number; quote it, like '0644'") from None
    if data["content_zlib"] is None:
        return WantedFile(path, data["content"], mode)
    try:
        return binary_file(path, zlib.decompress(base64.b64decode(data["content_zlib"], validate=True)), mode)
    except (ValueError, zlib.error) as error:
        raise ValueError(f"{path}: content_zlib is not base64 of zlib: {error}") from error


def main():
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    try:
        files = [wanted_file(data) for data in module.params["files"]]
        units = [WantedUnit(**data) for data in module.params["units"]]
        done = bring_units(run, files, module.params["absent"], units, module.check_mode)
    except ValueError as error:
        module.fail_json(msg=str(error))
    result = {"changed": done.changed, "diff": done.diff, **done.as_dict()}
    failing = [one.message for one in done.findings if one.fails]
    if failing and not module.params["tolerate"]:
        module.fail_json(msg="; ".join(failing), **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
