#!/usr/bin/python
# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
from __future__ import annotations

DOCUMENTATION = r"""
module: compose_stacks
short_description: Bring any number of rendered Compose stacks of a host to what is wanted, in one run
description:
  - Looks at the Docker Engine once, compares files, labels, images and published ports with what was rendered, and
    calls Docker Compose only for stacks that differ and only for the services that must change.
  - Containers of other Compose projects are never touched. Containers of the own project that gpu-seats did not make
    and that no declared service names are reported and left alone.
  - Images are on the host before anything is touched. Seats that share a GPU are started one after the other.
  - A container that runs without its published port is removed and made anew, since a restart does not cure it.
  - A run that is killed in the middle leaves nothing that the next run does not repair.
options:
  stacks:
    description: The stacks as O(stacks[].name) and so on, as the task C(seat_plan) returns them.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the stack.
        type: str
        required: true
      project:
        description: Name of its Compose project.
        type: str
        required: true
      directory:
        description: Where C(compose.yaml) is written, an absolute path.
        type: path
        required: true
      compose_text:
        description: The whole Compose file.
        type: str
        required: true
      files:
        description: Other files of the stack (env files).
        type: list
        elements: dict
        default: []
        suboptions:
          path:
            description: Absolute path.
            type: path
            required: true
          mode:
            description: Permission bits as an octal text, V(0600) for secret files.
            type: str
            default: "0644"
          secret:
            description: Whether nobody but root may read it. Its content never shows in a diff.
            type: bool
            default: false
          content:
            description: Content of a file that is not secret; that of a secret one stands in O(secret_files).
            type: str
          needs:
            description: Names of the secrets in it; for the controller only.
            type: list
            elements: str
      services:
        description:
          - Facts of each service by name. C(digest) of its configuration, C(container) name, C(image), C(seat) or
            null, and C(run), which is V(up), V(stopped), V(keep), V(leave) or V(absent).
          - C(labels) and C(gpus) where known.
        type: dict
        required: true
      checks:
        description: What C(seat_ready) verifies; kept with the files of the last good deploy.
        type: list
        elements: dict
        default: []
      project_aliases:
        description: Other spellings under which an older project of this stack may still run.
        type: list
        elements: str
        default: []
  secret_files:
    description:
      - Content of every secret file by its path. The action plugin fills it from the variable C(gpu_seats_secrets).
      - An option of its own, because the host's system log gets every option that is not kept out of it as a whole.
    type: dict
    default: {}
  state:
    description:
      - V(present) brings the stacks to what is wanted.
      - V(keep_last_good) keeps their files for a rollback; call it after the seats were verified.
      - V(absent) removes the containers of services whose C(run) is V(absent), and archives the files of a stack that
        has no other service.
    type: str
    choices: [present, keep_last_good, absent]
    default: present
  pull:
    description: When images are pulled. V(always) also where the host has them.
    type: str
    choices: [missing, always, never]
    default: missing
  rollback:
    description:
      - Apply the files that V(keep_last_good) kept instead of those in O(stacks). Where these are in place already, the
        verified deploy before them, which then is the last good one.
    type: bool
    default: false
  take_over:
    description: Remove containers of this stack that run under another spelling of its project name.
    type: bool
    default: false
  sequence:
    description: Names C(stack/service) in the order in which seats on one GPU start; the order of O(stacks) otherwise.
    type: list
    elements: str
    default: []
  look:
    description:
      - Whether a run that had nothing to change also looks at the seats, as M(seat_look) does, in the same module run.
        M(seat_ready) takes RV(looks) for its first look.
    type: bool
    default: false
  wait_chain:
    description:
      - Whether a seat is waited for before the next one on its GPU starts. With V(false) only the first of each GPU is
        started and RV(stacks[].waiting) names the others. The action plugin of the same name uses it to show progress.
    type: bool
    default: true
  timeout_s:
    description: Seconds that one Compose call may take.
    type: float
    default: 300
  lock_wait_s:
    description: Seconds to wait for another run on the same host.
    type: float
    default: 60
  docker_socket:
    description: Socket of the Docker Engine.
    type: path
    default: /var/run/docker.sock
attributes:
  check_mode:
    description: Decides as a real run does and changes nothing.
    support: full
  diff_mode:
    description: Shows files before and after (never secret content), and what would happen to which container and why.
    support: full
  platform:
    platforms: posix
    description: Debian 12 and 13, Python 3.9 or newer, Docker Engine 20.10 to 29 with Compose v2.
    support: full
author:
  - gpu-seats maintainers
"""

EXAMPLES = r"""
- name: Bring the stacks to the plan
  compose_stacks:
    stacks: "{{ plan.stacks }}"

- name: Keep what was verified as the last good deploy
  compose_stacks:
    stacks: "{{ plan.stacks }}"
    state: keep_last_good

- name: Back to the last good deploy
  compose_stacks:
    stacks: "{{ plan.stacks }}"
    rollback: true
"""

RETURN = r"""
stacks:
  description: One entry a stack, in the order given.
  returned: always
  type: list
  elements: dict
  contains:
    name: {description: Name of the stack., type: str, returned: always}
    changed: {description: Whether something of it was (would be) changed., type: bool, returned: always}
    failed: {description: Whether it has a finding that fails., type: bool, returned: always}
    actions:
      description:
        - What was (would be) done. C(action) is none, create, recreate, start, stop, remove or write, C(why) why.
      type: list
      elements: dict
      returned: always
    last_good: {description: Whether what is wanted is kept for a rollback already., type: bool, returned: always}
    waiting:
      description: "Services that wait for a seat on their GPU: C(service), and C(behind), the container it waits for."
      type: list
      elements: dict
      returned: always
    kept: {description: Whether a verified deploy is kept for a rollback., type: bool, returned: always}
    archived: {description: Where its files were moved., type: str, returned: always}
    findings: {description: What is not as it should be., type: list, elements: dict, returned: always}
last_good:
  description: Whether every stack is kept for a rollback already.
  returned: always
  type: bool
checks:
  description: What is to be verified for what was applied; with O(rollback) those of the last good deploy.
  returned: always
  type: list
  elements: dict
looks:
  description: One look a check, as M(seat_look) returns it.
  returned: with O(look), when nothing was to be changed
  type: list
  elements: dict
findings:
  description: Findings of all stacks, each with code, severity, subject, message, evidence and remedy.
  returned: always
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_seats.apply.compose_cli import ENVIRONMENT
from ansible.module_utils.gpu_seats.apply.host_lock import HostLock, LockHeldError
from ansible.module_utils.gpu_seats.apply.run_report import lock_results, run_report, unreachable_results
from ansible.module_utils.gpu_seats.apply.stack_steps import Host
from ansible.module_utils.gpu_seats.apply.stacks_run import RunOptions, apply_stacks, keep_stacks, retire_stacks
from ansible.module_utils.gpu_seats.apply.started import wait_started
from ansible.module_utils.gpu_seats.apply.wanted import BadRequestError, wanted_stack
from ansible.module_utils.gpu_seats.observe.command import run
from ansible.module_utils.gpu_seats.observe.engine_api import EngineApi, EngineRefusedError, EngineUnreachableError

FILE_OPTIONS = {
    "path": {"type": "path", "required": True},
    "mode": {"type": "str", "default": "0644"},
    "secret": {"type": "bool", "default": False},
    "content": {"type": "str"},
    "needs": {"type": "list", "elements": "str", "no_log": False},
}
STACK_OPTIONS = {
    "name": {"type": "str", "required": True},
    "project": {"type": "str", "required": True},
    "directory": {"type": "path", "required": True},
    "compose_text": {"type": "str", "required": True},
    "files": {"type": "list", "elements": "dict", "default": [], "options": FILE_OPTIONS},
    "services": {"type": "dict", "required": True},
    "checks": {"type": "list", "elements": "dict", "default": []},
    "project_aliases": {"type": "list", "elements": "str", "default": []},
}
ARGUMENTS = {
    "stacks": {"type": "list", "elements": "dict", "required": True, "options": STACK_OPTIONS},
    "secret_files": {"type": "dict", "default": {}, "no_log": True},
    "state": {"type": "str", "choices": ["present", "keep_last_good", "absent"], "default": "present"},
    "pull": {"type": "str", "choices": ["missing", "always", "never"], "default": "missing"},
    "rollback": {"type": "bool", "default": False},
    "take_over": {"type": "bool", "default": False},
    "sequence": {"type": "list", "elements": "str", "default": []},
    "timeout_s": {"type": "float", "default": 300},
    "wait_chain": {"type": "bool", "default": True},
    "look": {"type": "bool", "default": False},
    "lock_wait_s": {"type": "float", "default": 60},
    "docker_socket": {"type": "path", "default": "/var/run/docker.sock"},
}


def with_secret_content(stack, secret_files):
    """The entry of `stacks` with the content of its secret files, as `wanted_stack` reads it."""
    files = [
        {**one, "secret_content": secret_files.get(one["path"])} if one["secret"] else one for one in stack["files"]
    ]
    return {**stack, "files": files}


def secret_texts(content):
    """Values of an env file's lines, without quotes; short ones stay out, masking them would garble every text."""
    values = [line.partition("=")[2].strip("'\"") for line in content.splitlines()]
    return {value for value in values if len(value) >= 6}


def results_of(module, stacks, lock_descriptor):
    options = RunOptions(
        pull=module.params["pull"],
        check_mode=module.check_mode,
        take_over=module.params["take_over"],
        rollback=module.params["rollback"],
        sequence=tuple(module.params["sequence"]),
        wait_chain=module.params["wait_chain"],
    )
    held = (lock_descriptor,) if lock_descriptor >= 0 else ()
    engine = EngineApi(module.params["docker_socket"])
    host = Host(
        engine=engine,
        run=lambda argv, limit_s: run(argv, limit_s, ENVIRONMENT, held),
        wait_started=lambda stack, service: wait_started(engine, stack, service),
        call_limit_s=module.params["timeout_s"],
    )
    try:
        if module.params["state"] == "keep_last_good":
            return keep_stacks(stacks, module.check_mode)
        if module.params["state"] == "absent":
            return retire_stacks(stacks, host, options)
        return apply_stacks(stacks, host, options)
    except (EngineUnreachableError, EngineRefusedError) as problem:
        return unreachable_results(stacks, problem)


def looks_of(module, checks):
    # only a run with nothing to change needs what looks at seats
    from ansible.module_utils.gpu_seats.verify.seat_probe import Outside, look_at_all
    from ansible.module_utils.gpu_seats.verify.seat_steps import seat_check

    outside = Outside(EngineApi(module.params["docker_socket"]))
    return [one.as_dict() for one in look_at_all([seat_check(data) for data in checks], outside)]


def main():
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    try:
        secret_files = module.params["secret_files"]
        stacks = [wanted_stack(with_secret_content(data, secret_files)) for data in module.params["stacks"]]
    except BadRequestError as error:
        module.fail_json(msg=str(error))
    # a line of a secret file must not show either, were it in some tool's error text
    for stack in stacks:
        for wanted in stack.files:
            if wanted.secret:
                module.no_log_values.update(secret_texts(wanted.content))
    if module.check_mode:
        results = results_of(module, stacks, -1)
    else:
        doing = "{} of {}".format(module.params["state"], ", ".join(stack.name for stack in stacks))
        try:
            with HostLock(doing, wait_s=module.params["lock_wait_s"]) as lock:
                results = results_of(module, stacks, lock.descriptor)
        except LockHeldError as held:
            results = lock_results(stacks, held)
    report = run_report(results)
    if module.params["look"] and not (report["failed"] or report["changed"] or module.check_mode):
        report["looks"] = looks_of(module, report["checks"])
    if report["failed"]:
        module.fail_json(**report)
    module.exit_json(**report)


if __name__ == "__main__":
    main()
