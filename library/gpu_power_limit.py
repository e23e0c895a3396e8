#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_power_limit
author: gpu-seats maintainers
version_added: "0.1.0"
short_description: Hold the declared power limit of every card
description:
  - Sets the limit of each card whose limit differs, and reads all of them back with a query of its own. What
    C(nvidia-smi) prints about a change is no proof.
  - Cards are named by UUID, the bus id is a cross-check; a card that declares no UUID is named by its bus id.
  - A cap below the card's minimum, above its maximum, above the declared ceiling, or above the stock limit without a
    dated reason is not tried.
  - A lost card, a refusal or a value that can't be read is a finding of its card; the other cards are capped all the
    same.
options:
  caps:
    description: The declared caps, one a card.
    type: list
    elements: dict
    required: true
    suboptions:
      card:
        description: The card's key in the host file; findings name it.
        type: str
        required: true
      uuid:
        description: UUID of the card.
        type: str
      bus_id:
        description: PCI address of the card. Names it where O(caps[].uuid) is not given, else it is a cross-check.
        type: str
      limit_watts:
        description: The limit in watts.
        type: float
        required: true
      reason:
        description: Why it is this limit; shown with every refusal.
        type: str
        required: true
      ceiling_watts:
        description: A limit above this is refused.
        type: float
      min_watts:
        description: Least limit of the card, where the card does not tell it.
        type: float
      default_watts:
        description: Stock limit of the card, where the card does not tell it.
        type: float
      max_watts:
        description: Highest limit of the card, where the card does not tell it.
        type: float
      above_stock:
        description: Day and reason of the decision to run above stock, as C(2026-01-31:) and a text.
        type: str
  persistence:
    description:
      - How persistence mode is turned on where it is off; without it a cap is lost with the last program on a card.
      - V(auto) by the daemon where it runs, else with C(nvidia-smi -pm 1). V(daemon) only by a running daemon.
        V(legacy) with C(nvidia-smi -pm 1), and nothing is said of it. V(leave) sets nothing.
    type: str
    choices: [auto, daemon, legacy, leave]
    default: auto
  tolerate:
    description:
      - Return failing findings instead of failing, for a caller that goes on to report them. That another run holds the
        lock is one of them; wrong O(caps) fail all the same.
    type: bool
    default: false
  lock_wait_s:
    description: Seconds to wait for another run that sets caps on this host.
    type: float
    default: 60
attributes:
  check_mode:
    description: Tells which limits would be set, and sets none.
    support: full
  diff_mode:
    description: One line for each card whose limit or persistence mode changes.
    support: full
  platform:
    platforms: posix
    description: Debian 12 and 13, Python 3.9 or newer.
    support: full
"""

EXAMPLES = r"""
- name: Hold the caps of the host
  gpu_power_limit:
    caps:
      - card: "2"
        uuid: GPU-5e7a0002-c0de-4000-8000-000000000002
        bus_id: "00000000:41:00.0"
        limit_watts: 275
        ceiling_watts: 300
        reason: four cards on one breaker
    persistence: daemon
"""

RETURN = r"""
cards:
  description:
    - One entry a cap, in the order given. Watts that a card did not tell are null. In check mode C(changed) is what
      would be, and C(after_watts) what still holds.
  returned: always
  type: list
  elements: dict
  contains:
    card: {description: The card's key., type: str, returned: always}
    uuid: {description: Its UUID., type: str, returned: always}
    bus_id: {description: Its PCI address as found., type: str, returned: always}
    wanted_watts: {description: The declared limit., type: float, returned: always}
    before_watts: {description: The limit that held before., type: float, returned: always}
    after_watts: {description: "The limit that holds now, read back.", type: float, returned: always}
    draw_watts: {description: What it draws., type: float, returned: always}
    default_watts: {description: Its stock limit., type: float, returned: always}
    persistence: {description: Its persistence mode., type: str, returned: always}
    mig: {description: Its MIG mode., type: str, returned: always}
    changed: {description: Whether its limit was changed., type: bool, returned: always}
    ok: {description: Whether the cap holds now., type: bool, returned: always}
    reason: {description: Why it does not., type: str, returned: always}
held:
  description: Whether every cap holds now.
  returned: always
  type: bool
persistence:
  description: State of C(nvidia-persistenced), and the UUIDs of the cards whose mode was turned on.
  returned: always
  type: dict
findings:
  description: What is not as it should be.
  returned: always
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_seats.apply.gpu_limits.capping import LOCK_PATH, apply_caps
from ansible.module_utils.gpu_seats.apply.gpu_limits.caps import CapsError, caps_from
from ansible.module_utils.gpu_seats.apply.host_lock import HostLock, LockHeldError
from ansible.module_utils.gpu_seats.findings import finding
from ansible.module_utils.gpu_seats.observe.command import run

ARGUMENTS = {
    # watts and keys are checked by caps_from, which says more than a type conversion does
    "caps": {"type": "list", "elements": "dict", "required": True},
    "persistence": {"type": "str", "choices": ["auto", "daemon", "legacy", "leave"], "default": "auto"},
    "tolerate": {"type": "bool", "default": False},
    "lock_wait_s": {"type": "float", "default": 60},
}


def leave(module, why):
    told = finding("power.caps_not_checked", f"file:{LOCK_PATH}", why)
    answer = {"findings": [told.as_dict()], "cards": [], "held": False}
    if not module.params["tolerate"]:
        module.fail_json(msg=why, **answer)
    module.exit_json(changed=False, **answer)


def main():
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    try:
        caps = caps_from(module.params["caps"])
    except CapsError as problem:
        module.fail_json(msg=str(problem), findings=[], cards=[], held=False)
    try:
        with HostLock("set power caps", LOCK_PATH, module.params["lock_wait_s"]):
            result = apply_caps(run, caps, module.check_mode, module.params["persistence"])
    except LockHeldError as held:
        leave(module, f"no cap was set: {held}")
    except OSError as error:
        leave(module, f"no cap was set: {LOCK_PATH}: {error.strerror or error}. This needs root (ansible_become)")
    answer = result.as_dict()
    if module._diff and result.changed:
        answer["diff"] = result.diff()
    if result.fails and not module.params["tolerate"]:
        module.fail_json(msg=result.failure(), **answer)
    module.exit_json(**answer)


if __name__ == "__main__":
    main()
