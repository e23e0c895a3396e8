"""``caps apply`` and ``caps check``: the declared power limits between deploys.

apply sets what differs and remembers what it found, writes metrics and tells alert hooks what changed, also where the
cards could not be looked at. check reads the cards and prints, no more.
"""

from __future__ import annotations

import argparse
import json
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..apply.atomic_files import FileError, WantedFile, file_change, write_file
from ..apply.gpu_limits.capping import LOCK_PATH, apply_caps
from ..apply.gpu_limits.caps import CapsError
from ..apply.gpu_limits.persistence import WAYS
from ..apply.gpu_limits.result import CapsResult, lost_findings
from ..apply.host_lock import HostLock, LockHeldError
from ..findings import Finding, by_severity, finding
from ..observe import command
from .alert_hooks import call_hooks, hooks_in
from .caps_file import DEFAULT_PATH, CapsFile, read_caps_file
from .caps_metrics import FILE_NAME, caps_metrics
from .caps_state import DEFAULT_PATH as STATE_PATH
from .caps_state import kept_rows, new_state, read_state, went_lost

SUMMARY = "Hold the declared power limit of every card (apply), or see whether they hold (check)."

HELD, NOT_HELD, UNUSABLE = 0, 1, 2
_AGAIN_S = 2.0
_SAME = ("code", "subject", "message")
_SPARE = Path("/run/gpu-seats-power/alerts.json")
"""What hooks were told, while a full or read-only disk does not take it: else every minute would be an alarm."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=["apply", "check"])
    parser.add_argument("--caps", default=DEFAULT_PATH, metavar="FILE", help="declared caps (default %(default)s)")
    parser.add_argument("--state", default=STATE_PATH, metavar="FILE", help="what was found last (default %(default)s)")
    parser.add_argument("--textfile", metavar="DIR", help=f"write {FILE_NAME} for node_exporter there")
    parser.add_argument("--alert-hooks", metavar="DIR", help="programs that are told what changed")
    parser.add_argument("--persistence", choices=WAYS, help="instead of what the file of caps says")
    parser.add_argument("--wait-s", type=float, default=0.0, help="wait so long for a driver that is not there yet")
    parser.add_argument("--lock", default=LOCK_PATH, metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--lock-wait-s", type=float, default=60.0, help="wait so long for another run (60)")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


@dataclass
class _Answer:
    """problems: lines about files and hooks, beside what is found of the cards."""

    declared: CapsFile
    result: CapsResult = field(default_factory=CapsResult)
    findings: list[Finding] = field(default_factory=list)
    last: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def code(self) -> int:
        fine = self.result.held and not any(one.fails for one in self.findings) and not self.problems
        return HELD if fine else NOT_HELD


def run(options: argparse.Namespace) -> int:
    """0: every cap holds and nothing fails. 1: something does. 2: the file of caps can't be used."""
    try:
        declared = read_caps_file(options.caps)
    except CapsError as error:
        return _not_looked(options, str(error), UNUSABLE)
    if options.persistence:
        declared = replace(declared, persistence=options.persistence)
    try:
        with HostLock(f"caps {options.action}", options.lock, options.lock_wait_s):
            answer = _apply(options, declared) if options.action == "apply" else _check(declared)
    except LockHeldError as held:
        return _not_looked(options, f"the caps were not looked at: {held}", NOT_HELD, declared.host)
    except OSError as error:
        why = f"the caps were not looked at: {options.lock}: {error.strerror or error}. This needs root"
        return _not_looked(options, why, NOT_HELD, declared.host)
    if options.action == "apply" and options.alert_hooks:
        _tell_hooks(options, answer)
    _print(options, answer)
    return answer.code


def _not_looked(options: argparse.Namespace, why: str, code: int, host: str = "") -> int:
    """Says why no card was looked at, to metrics and hooks too: a watch that sees nothing must not look like peace."""
    print(why)
    if options.action == "apply":
        name = host or str(read_state(options.state).get("host") or socket.gethostname())
        blind = [finding("power.caps_not_checked", f"file:{options.caps}", why)]
        answer = _Answer(CapsFile(name, []), CapsResult(), blind)
        if options.textfile:
            _write(answer, str(Path(options.textfile) / FILE_NAME), caps_metrics(name, answer.result, blind, None))
        if options.alert_hooks:
            _tell_hooks(options, answer, looked=False)
        for line in answer.problems:
            print(line)
    return code


def _check(declared: CapsFile) -> _Answer:
    result = apply_caps(command.run, declared.caps, True, declared.persistence)
    return _Answer(declared, result, by_severity([*result.findings, *lost_findings(result)]))


def _apply(options: argparse.Namespace, declared: CapsFile) -> _Answer:
    last = read_state(options.state)
    result = applied_when_there(
        lambda: apply_caps(command.run, declared.caps, False, declared.persistence), options.wait_s
    )
    answer = _Answer(declared, result, by_severity([*result.findings, *went_lost(last, result)]), last)
    now_s = time.time()
    state = new_state(declared.host, _utc(now_s), result, answer.findings)
    _write(answer, options.state, json.dumps(state, indent=1, sort_keys=True) + "\n")
    if options.textfile:
        text = caps_metrics(declared.host, result, answer.findings, round(now_s, 3))
        _write(answer, str(Path(options.textfile) / FILE_NAME), text)
    return answer


def applied_when_there(
    apply: Callable[[], CapsResult], wait_s: float, sleep: Callable[[float], None] = time.sleep
) -> CapsResult:
    """The result of `apply`, called again until a driver that is not there yet is there, for at most `wait_s`."""
    deadline = time.monotonic() + wait_s
    while True:
        result = apply()
        if not result.driver_is_absent or time.monotonic() + _AGAIN_S > deadline:
            return result
        sleep(_AGAIN_S)


def _tell_hooks(options: argparse.Namespace, answer: _Answer, looked: bool = True) -> None:
    """Tells the hooks what fails, and caps that were lost and set again. Not under the lock: a hook may take long."""
    path = str(Path(options.state).with_name("alerts.json"))
    alarming = [one for one in answer.findings if one.fails or one.code == "power.cap_lost"]
    spared = read_state(str(_SPARE))
    told = spared or read_state(path)
    about = {"host": answer.declared.host, "time": _utc(time.time()), "source": "caps"}
    after, problems = call_hooks(hooks_in(options.alert_hooks), about, alarming, told, looked=looked)
    answer.problems += problems
    text = json.dumps(after, indent=1, sort_keys=True) + "\n"
    if json.loads(text) == told and not spared:
        return
    if _write(answer, path, text):
        _SPARE.unlink(missing_ok=True)
    else:
        _write(answer, str(_SPARE), text)


def _write(answer: _Answer, path: str, text: str) -> bool:
    try:
        write_file(file_change(WantedFile(path, text, 0o644)))
    except FileError as error:
        answer.problems.append(str(error))
        return False
    return True


def _utc(at_s: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at_s))


def _print(options: argparse.Namespace, answer: _Answer) -> None:
    if options.json:
        data = {**answer.result.as_dict(), "host": answer.declared.host, "problems": answer.problems}
        print(json.dumps({**data, "findings": [one.as_dict() for one in answer.findings]}, indent=1))
        return
    for line in [*_changes(answer.result, options.action == "check"), *_told(answer), *answer.problems]:
        print(line)
    print(answer.result.summary())


def _changes(result: CapsResult, check: bool) -> list[str]:
    lines = []
    for one in result.cards:
        if one.changed:
            had = "unknown" if one.before_watts is None else f"{one.before_watts:g} W"
            verb = "would be set" if check else "set"
            lines.append(f"card {one.card} {one.uuid}: {verb} from {had} to {one.wanted_watts:g} W")
    lines += [
        f"{uuid}: persistence mode {'would be ' if check else ''}turned on" for uuid in result.persistence_changed
    ]
    return lines


def _told(answer: _Answer) -> Sequence[str]:
    """A line a finding. What was told in the last run in the same words is only counted: this runs every minute."""
    before = {tuple(str(one.get(key)) for key in _SAME) for one in kept_rows(answer.last, "findings")}
    news = [one for one in answer.findings if (one.code, one.subject, one.message) not in before]
    lines = [f"{one.severity} {one.code} {one.subject}: {one.message}" for one in news]
    same = [one for one in answer.findings if one not in news and one.severity != "info"]
    if same:
        lines.append("{} as before: {}".format(len(same), ", ".join(f"{one.code} {one.subject}" for one in same)))
    return lines


__all__ = ["SUMMARY", "add_arguments", "applied_when_there", "run"]
