#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: bmc_power_info
author: gpu-seats maintainers
version_added: "0.1.0"
short_description: What a host's management controller says of its power
description:
  - Reads the watts of the whole machine with C(ipmitool), by the host's own device or over the network. DCMI is asked
    first; a board without it is asked once for that, and its sensors in watts are read instead.
  - Also tells the chassis status and the power events of the BMC's log, such as a lost input or a failed supply.
  - An unreachable, busy or refusing BMC, a measurement that is switched off, and a reading of 0 W are values with their
    reason. RV(watts) is null then, never 0, and the task does not fail. It fails for options that lead to no BMC.
  - The password never stands on a command line. C(ipmitool) gets it by O(password_file) or in its environment.
options:
  interface:
    description:
      - V(auto) asks over the network (C(lanplus)) where O(address) and a login are given, and else the device of the
        machine that the module runs on.
      - V(lan) is IPMI 1.5, which sends almost nothing encrypted; it is never chosen by itself.
    type: str
    choices: [auto, open, lanplus, lan]
    default: auto
  address:
    description: Name or address of the BMC.
    type: str
    default: ""
  port:
    description: UDP port of the BMC.
    type: int
    default: 623
  username:
    description: User of the BMC.
    type: str
    default: ""
  password:
    description:
      - Password of O(username). It is not logged, and reaches C(ipmitool) in its environment.
      - IPMI takes 20 bytes of a password (16 with V(lan)) and C(ipmitool) refuses a longer one. That is a finding.
    type: str
  password_file:
    description: File on the host whose first line is the password; only its user should be able to read it.
    type: path
  password_env:
    description: Name of the variable that holds the password in the environment of the task.
    type: str
  privilege:
    description: Privilege that the session asks for. Reading needs no more than V(user).
    type: str
    choices: [callback, user, operator, administrator]
    default: user
  cipher_suite:
    description: Cipher suite of V(lanplus), where the one that C(ipmitool) chooses does not work with the BMC.
    type: int
  sensor:
    description:
      - Sensor that counts the whole machine, by its name in the BMC. DCMI is then not asked.
      - Without it the sensor is chosen by its name. Where none is known to count the whole machine, the inputs of the
        power supplies are added up.
    type: str
  events:
    description: Whether the event log is read.
    type: bool
    default: true
  tries:
    description: How often DCMI is asked while the BMC is busy or has no value yet.
    type: int
    default: 3
  timeout_s:
    description: Seconds that all requests together may take.
    type: float
    default: 60
  tolerate:
    description: Return a finding instead of failing for options that lead to no BMC.
    type: bool
    default: false
attributes:
  check_mode:
    description: Changes nothing, so it does the same in check mode.
    support: full
  diff_mode:
    description: Changes nothing.
    support: none
  platform:
    platforms: posix
    description: Debian 12 and 13, Python 3.9 or newer, with C(ipmitool).
    support: full
"""

EXAMPLES = r"""
- name: Read the host's own BMC
  bmc_power_info:
  register: power

- name: Read a BMC over the network, its password in a file of root
  bmc_power_info:
    address: 10.251.50.53
    username: monitor
    password_file: /etc/gpu-seats/bmc-password

- name: Read a BMC from the controller, the password out of a vault
  bmc_power_info:
    address: "{{ bmc_address }}"
    username: monitor
    password_env: BMC_PASSWORD
  environment:
    BMC_PASSWORD: "{{ vault_bmc_password }}"
  delegate_to: localhost

- name: A board whose sensor has a name of its own
  bmc_power_info:
    sensor: PDB_In_Total
"""

RETURN = r"""
watts:
  description: Watts of the whole machine now; null where the BMC gives none.
  returned: always
  type: float
reason:
  description: Why RV(watts) is null; null where it is not.
  returned: always
  type: str
source:
  description: V(dcmi) or V(sensor); null without a reading.
  returned: always
  type: str
measures:
  description: What the figure is, for sensors which of them.
  returned: always
  type: str
reads:
  description: V(ac) or V(dc), the side of the power supplies that is counted; null where the BMC does not tell.
  returned: always
  type: str
minimum_watts:
  description: Lowest reading that DCMI remembers, null without one.
  returned: always
  type: float
maximum_watts:
  description: Highest reading that DCMI remembers, null without one.
  returned: always
  type: float
average_watts:
  description: Average over RV(sampling_s), null without one.
  returned: always
  type: float
sampling_s:
  description: Seconds that the average is over, null where not told.
  returned: always
  type: float
state:
  description: V(activated) or V(deactivated) as DCMI says, null where it does not.
  returned: always
  type: str
sensors:
  description: Sensors in watts, where they were read.
  returned: always
  type: list
  elements: dict
  contains:
    name: {description: Its name in the BMC., type: str, returned: always}
    watts: {description: Its value, null without one., type: float, returned: always}
    role: {description: "V(system), V(psu_input), V(psu_output), V(psu), V(component) or V(other).", type: str,
      returned: always}
    reason: {description: Why there is no value., type: str, returned: always}
chassis:
  description: Power state, faults, restore policy and the kind of the last power event; null if it could not be read.
  returned: always
  type: dict
events:
  description: Power events among the last 50 entries of the log, the oldest first.
  returned: always
  type: list
  elements: dict
  contains:
    id: {description: Number of the entry., type: int, returned: always}
    time: {description: "By the BMC's clock; null before it knew the time.", type: str, returned: always}
    sensor: {description: Sensor that logged it., type: str, returned: always}
    event: {description: What it logged., type: str, returned: always}
    direction: {description: "V(asserted), V(deasserted), or null.", type: str, returned: always}
    is_fault: {description: Whether it says that something went wrong., type: bool, returned: always}
interface:
  description: The interface that was used.
  returned: always
  type: str
findings:
  description: What is not as it should be.
  returned: always
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_seats.observe.command import run
from ansible.module_utils.gpu_seats.observe.ipmi.access import INTERFACES, PRIVILEGES, bmc_access
from ansible.module_utils.gpu_seats.observe.ipmi.reading import bmc_reading, not_asked

ARGUMENTS = {
    "interface": {"type": "str", "choices": list(INTERFACES), "default": "auto"},
    "address": {"type": "str", "default": ""},
    "port": {"type": "int", "default": 623},
    "username": {"type": "str", "default": ""},
    "password": {"type": "str", "no_log": True},
    "password_file": {"type": "path", "no_log": False},
    "password_env": {"type": "str", "no_log": False},
    "privilege": {"type": "str", "choices": list(PRIVILEGES), "default": "user"},
    "cipher_suite": {"type": "int"},
    "sensor": {"type": "str"},
    "events": {"type": "bool", "default": True},
    "tries": {"type": "int", "default": 3},
    "timeout_s": {"type": "float", "default": 60},
    "tolerate": {"type": "bool", "default": False},
}


def main():
    module = AnsibleModule(
        argument_spec=ARGUMENTS,
        mutually_exclusive=[("password", "password_file", "password_env")],
        supports_check_mode=True,
    )
    options = module.params
    try:
        access = bmc_access(options)
    except ValueError as error:
        if not options["tolerate"]:
            module.fail_json(msg=f"bmc_power_info: {error}")
        module.exit_json(changed=False, **not_asked(str(error)))
    answer = bmc_reading(
        run,
        access,
        tries=options["tries"],
        events=options["events"],
        named=options["sensor"],
        total_s=options["timeout_s"],
    )
    module.exit_json(changed=False, **answer)


if __name__ == "__main__":
    main()
