# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Plans a power measurement, starts it on the host, follows it, and hands out what it found."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path

from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from gpu_seats.apply.power_measure.plan import Times
from gpu_seats.apply.power_measure.unit import UNIT
from gpu_seats.controller.declared_faults import REFUSALS, PlayHostError, refusal_of
from gpu_seats.controller.module_answer import failure_text
from gpu_seats.controller.parent_watch import ended_with_parent
from gpu_seats.controller.play_fleet import fleet_of_play
from gpu_seats.controller.power_measure_clamp import (
    CLAMP_IS_OF_BEFORE,
    clamp_afterwards,
    no_run_text,
    taken_text,
)
from gpu_seats.controller.power_measure_follow import (
    MeasureLostError,
    NoContactError,
    Waits,
    broken_off_text,
    clamp_answer,
    follow,
    resume_text,
    unexplained_stop,
)
from gpu_seats.controller.power_measure_plan import (
    MeasureRequest,
    bmc_options,
    folder_of,
    planned_measurement,
    questions,
)
from gpu_seats.controller.power_measure_result import measure_result, refused_result, shown_ladder
from gpu_seats.plan.power.ladder import LadderError

_MODULE = "ansible.legacy.power_measure_run"
_ARGUMENTS = {
    "load_command": {"type": "str", "default": ""},
    "requests": {"type": "int", "default": 16},
    "cards": {"type": "list", "elements": "str", "default": []},
    "stop_at_watts": {"type": "float"},
    "folder": {"type": "path", "default": ""},
    "bmc": {"type": "dict", "default": {}},
    "every_s": {"type": "float", "default": 3.0},
    "settle_s": {"type": "float", "default": 30.0},
    "hold_s": {"type": "float", "default": 60.0},
    "lease_s": {"type": "float", "default": 45.0},
    "fresh": {"type": "bool", "default": False},
    "clamp": {"type": "str", "default": "none", "choices": ["none", "ask"]},
    "clamp_watts": {"type": "float"},
    "clamp_at": {"type": "str", "default": ""},
    "clamp_wait_s": {"type": "float", "default": 180.0},
    "poll_s": {"type": "float", "default": 5.0},
    "progress_s": {"type": "float", "default": 10.0},
    "out": {"type": "path", "required": True},
    "tool": {"type": "path", "default": "/usr/local/lib/gpu-seats/gpu-seats-host.pyz"},
}


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = True
    _supports_check_mode = True

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _, self._given = self.validate_argument_spec(argument_spec=_ARGUMENTS)
        self._task_vars = task_vars
        try:
            return self._measured(fleet_of_play(task_vars), task_vars["inventory_hostname"])
        except REFUSALS as error:
            raise AnsibleActionFail(refusal_of(error)) from error
        except LadderError as error:
            return refused_result(task_vars["inventory_hostname"], error.findings)

    def _measured(self, fleet, host):
        given, declared = self._given, fleet.hosts[host]
        request = self._request(declared)
        if given["clamp_watts"] is not None:
            return self._clamp_added(fleet, declared, folder_of(declared, request))
        facts = self._answer(do="facts", **questions(fleet, declared, request))
        planned = planned_measurement(fleet, declared, request, facts)
        plan, show = planned.plan, Display().display
        show(shown_ladder(planned, facts, self._task.check_mode))
        prospect = self._answer(do="start", plan=plan.as_dict(), fresh=given["fresh"], hold=self._is_asking)
        show(resume_text(plan, prospect))
        if self._task.check_mode:
            return {"changed": True, "msg": f"{host}: would be measured", "findings": _dicts(planned.findings)}
        followed = self._followed(plan, planned.ladder)
        stop = followed.look["stop"]
        if not followed.look["complete"] and stop is None:
            stop = unexplained_stop(followed.look)
        if followed.clamp is not None:
            self._answer(do="note", log=prospect["log"], record=followed.clamp.as_record())
        return self._result(fleet, host, prospect["log"], stop, planned.findings)

    def _clamp_added(self, fleet, declared, folder):
        """The reading of a clamp meter goes to the last measurement. Nothing is planned and nothing is loaded."""
        given, host = self._given, declared.host
        clamp = clamp_afterwards(fleet, declared, given["clamp_watts"], given["clamp_at"])
        if given["fresh"] or self._is_asking:
            raise PlayHostError(CLAMP_IS_OF_BEFORE)
        run = self._answer(do="finished", folder=folder, host=host)["run"]
        if run is None:
            raise PlayHostError(no_run_text(host, folder))
        Display().display(taken_text(host, clamp, run))
        if self._task.check_mode:
            return {"changed": True, "msg": f"{host}: the reading would be added to {run['log']}", "findings": []}
        self._answer(do="note", log=run["log"], record=clamp.as_record())
        return self._result(fleet, host, run["log"], None, [])

    def _result(self, fleet, host, log, stop, told):
        text = self._answer(do="look", log=log)["log_text"]
        inventories = self._task_vars.get("ansible_inventory_sources") or ()
        result = measure_result(fleet, host, text, stop, list(told), Path(self._given["out"]), inventories)
        Display().display(result.text)
        return {"changed": True, "log": log, **result.as_result()}

    @property
    def _is_asking(self):
        return self._given["clamp"] == "ask"

    def _request(self, declared):
        given = self._given
        times = Times(given["every_s"], given["settle_s"], given["hold_s"], 0.0, given["lease_s"])
        return MeasureRequest(
            load_command=given["load_command"],
            cards=[card.strip() for card in given["cards"] if card.strip()],
            requests=given["requests"],
            stop_at_watts=given["stop_at_watts"],
            folder=given["folder"],
            bmc=bmc_options(declared, given["bmc"]),
            times=times,
            ask_s=given["clamp_wait_s"] if self._is_asking else 0.0,
        )

    def _followed(self, plan, ladder):
        """The end of the run.

        Whatever ends this process or ansible-playbook ends the load too, at once where the host is reached.
        """
        waits = Waits(self._given["poll_s"], self._given["progress_s"])
        ask = self._ask_clamp if self._is_asking else None
        # Ctrl-C reaches a worker of Ansible as a signal whose handler leaves no time for anything
        before = {number: signal.signal(number, _interrupted) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            with ended_with_parent():
                return follow(plan, ladder, self._look, Display().display, ask, waits)
        except MeasureLostError as error:
            raise AnsibleActionFail(str(error)) from error
        except BaseException:
            self._end_load(plan)
            raise
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _end_load(self, plan):
        """Ends the load; says so where somebody is left to read it."""
        is_ended = False
        # no module: what it would be packed from may be gone already
        with contextlib.suppress(Exception):
            is_ended = self._low_level_execute_command(f"systemctl stop {UNIT}")["rc"] == 0
        with contextlib.suppress(Exception):
            Display().display(broken_off_text(plan, is_ended))

    def _look(self, word):
        try:
            return self._answer(do="look", word=word)
        except AnsibleConnectionFailure as error:
            raise NoContactError(str(error)) from error

    def _ask_clamp(self, question, seconds):
        """What a person types; None where nobody is at a terminal or nothing came in time."""
        display = Display()
        try:
            typed = display.prompt_until(question + ": ", seconds=seconds)
        except Exception as error:
            display.warning(f"no clamp meter reading could be asked for ({error}); give it with -e clamp_watts=")
            return None
        try:
            return clamp_answer(typed.decode("utf-8", "replace") if isinstance(typed, bytes) else str(typed))
        except ValueError as error:
            display.warning(f"{error}; give it with -e clamp_watts= and -e clamp_at=")
            return None

    def _answer(self, **arguments):
        """What the host's side says. Raises AnsibleActionFail, AnsibleConnectionFailure."""
        arguments["tool"] = self._given["tool"]
        said = self._execute_module(module_name=_MODULE, module_args=arguments, task_vars=self._task_vars)
        if said.get("unreachable"):
            raise AnsibleConnectionFailure(str(said.get("msg")))
        if said.get("failed") or "answer" not in said:
            raise AnsibleActionFail(failure_text("power_measure_run", said), result=said)
        return said["answer"]


def _interrupted(number, frame):
    """Once; what is then done about the load must not be interrupted itself."""
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    raise KeyboardInterrupt


def _dicts(findings):
    return [one.as_dict() for one in findings]
