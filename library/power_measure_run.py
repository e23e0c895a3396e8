#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: power_measure_run
author: gpu-seats maintainers
version_added: "0.2.0"
short_description: Start a measurement of the host's power, and look at it
description:
  - The target's side of M(power_measure), which plans the steps and follows them.
  - The measurement runs as a transient unit of systemd, so it survives a lost connection. It ends by itself when nobody
    has looked for a while, at its time, at its stop threshold, and it ends the load before it does anything else.
  - Samples go to an append-only file, each flushed to the disk with a checksum. A later start with the same plan goes
    on at the first step that was not measured to its end.
options:
  do:
    description:
      - V(facts) reads cards and BMC. V(start) starts what is left of O(plan). V(look) tells how far it is and keeps it
        going. V(finished) names the last complete measurement of O(host), whatever loaded it. V(note) adds a line
        to a file.
      - What ends it is C(systemctl stop gpu-seats-power-measure), which ends the load first.
    type: str
    required: true
    choices: [facts, start, look, finished, note]
  plan:
    description: What is measured, as M(power_measure) makes it.
    type: dict
  uuids:
    description: Cards that V(facts) reads.
    type: list
    elements: str
    default: []
  bmc:
    description: How V(facts) asks the management controller; options of M(bmc_power_info), empty for none.
    type: dict
    default: {}
  folder:
    description: Where the files of samples are kept, for V(facts) and V(finished).
    type: path
  program:
    description: Program of a load command that V(facts) looks up.
    type: str
    default: ""
  ports:
    description: Ports of seats that V(facts) asks whether they answer.
    type: list
    elements: int
    default: []
  host:
    description: Whose measurement V(finished) looks for.
    type: str
  fresh:
    description: Whether V(start) begins anew where a run of the same plan was cut off, or came to its end.
    type: bool
    default: false
  hold:
    description: Whether the last step is held until a look brings the word to go on.
    type: bool
    default: false
  word:
    description:
      - What V(look) tells the run. V(go on) ends the holding of the last step, V(asking) says that a person is asked
        for a reading and no look comes meanwhile.
    type: str
    default: ""
    choices: ["", "asking", "go on"]
  log:
    description: File that V(note) adds to and V(look) returns where no run was started since the boot.
    type: path
  record:
    description: The line that V(note) adds.
    type: dict
  within_s:
    description: How old a run may be that V(finished) names.
    type: float
    default: 86400
  tool:
    description: The host tool, as the role installs it.
    type: path
    default: /usr/local/lib/gpu-seats/gpu-seats-host.pyz
attributes:
  check_mode:
    description: V(start) and V(note) then only say what they would do.
    support: full
  diff_mode:
    description: Changes no file that is shown.
    support: none
  platform:
    platforms: posix
    description: Debian 12 and 13 with systemd, Python 3.9 or newer.
    support: full
"""

EXAMPLES = r"""
- name: Look how far a measurement is
  power_measure_run:
    do: look
  register: seen
"""

RETURN = r"""
answer: {description: What was found or done; its members depend on O(do)., type: dict, returned: always}
findings: {description: What is not as it should be., type: list, elements: dict, returned: always}
"""

import sys

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_seats.apply.power_measure.control import Control, MeasureError
from ansible.module_utils.gpu_seats.apply.power_measure.plan import measure_plan
from ansible.module_utils.gpu_seats.observe.command import run

ARGUMENTS = {
    "do": {
        "type": "str",
        "required": True,
        "choices": ["facts", "start", "look", "finished", "note"],
    },
    "plan": {"type": "dict"},
    "uuids": {"type": "list", "elements": "str", "default": []},
    "bmc": {"type": "dict", "default": {}},
    "folder": {"type": "path"},
    "program": {"type": "str", "default": ""},
    "ports": {"type": "list", "elements": "int", "default": []},
    "host": {"type": "str"},
    "fresh": {"type": "bool", "default": False},
    "hold": {"type": "bool", "default": False},
    "word": {"type": "str", "default": "", "choices": ["", "asking", "go on"]},
    "log": {"type": "path"},
    "record": {"type": "dict"},
    "within_s": {"type": "float", "default": 86400},
    "tool": {"type": "path", "default": "/usr/local/lib/gpu-seats/gpu-seats-host.pyz"},
}
REQUIRED = [
    ("do", "facts", ["folder"]),
    ("do", "start", ["plan"]),
    ("do", "finished", ["folder", "host"]),
    ("do", "note", ["log", "record"]),
]


def answered(control, params, check_mode):
    """(answer, whether something changed)."""
    do = params["do"]
    if do == "facts":
        asked = (params["uuids"], params["bmc"], params["folder"], params["program"], params["ports"])
        return control.facts(*asked), False
    if do == "start":
        plan = measure_plan(params["plan"])
        if check_mode:
            return control.prospect(plan, params["fresh"]), True
        return control.start(plan, params["fresh"], params["hold"]), True
    if do == "finished":
        return {"run": control.finished(params["folder"], params["host"], params["within_s"])}, False
    if do == "note":
        if not check_mode:
            control.note(params["log"], params["record"])
        return {}, True
    if params["log"]:
        return control.read(params["log"]), False
    return control.look(params["word"]), False


def main():
    module = AnsibleModule(argument_spec=ARGUMENTS, required_if=REQUIRED, supports_check_mode=True)
    control = Control(run, [sys.executable or "/usr/bin/python3", module.params["tool"]])
    try:
        answer, changed = answered(control, module.params, module.check_mode)
    except MeasureError as error:
        module.fail_json(msg=str(error), findings=[one.as_dict() for one in error.findings])
    except ValueError as error:
        module.fail_json(msg=str(error), findings=[])
    module.exit_json(changed=changed, answer=answer, findings=[])


if __name__ == "__main__":
    main()
