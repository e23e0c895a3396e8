"""Unit files and the files they need, written whole; units enabled and started without an implicit daemon-reload.

``systemctl enable`` reloads systemd by itself, and a reload can take the GPUs from running containers. So nothing here
reloads: the caller is told that a reload is due, and the one handler that does it looks at the containers afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..findings import Finding, finding
from ..observe.command import CommandResult, Run, command_findings
from ..observe.systemd_units import UnitState, unit_states
from .atomic_files import FileError, WantedFile, file_change, remove_leftovers, write_file

UNIT_DIRECTORIES = ("/etc/systemd/system/",)
ENABLE_LIMIT_S = 30.0
START_LIMIT_S = 120.0
_JOURNAL_LINES = 10
_NOTHING = Path("/dev/null")


@dataclass(frozen=True)
class WantedUnit:
    """One unit as it is to stand. enabled, started: None leaves that as it is. required: a unit that must exist."""

    name: str
    enabled: bool | None = None
    started: bool | None = None
    required: bool = True


@dataclass
class UnitsRun:
    """What was done, or would be. pending: units that start only after the reload that is due."""

    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    switched: list[str] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    reload_due: bool = False
    states: dict[str, UnitState] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    diff: list[dict[str, str]] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return bool(self.written or self.removed or self.switched or self.reload_due)

    def as_dict(self) -> dict[str, Any]:
        return {
            "written": self.written,
            "removed": self.removed,
            "switched": self.switched,
            "pending": self.pending,
            "reload_due": self.reload_due,
            "units": {name: state.as_dict() for name, state in self.states.items()},
            "findings": [one.as_dict() for one in self.findings],
        }


def bring_units(
    run: Run, files: Sequence[WantedFile], absent: Sequence[str], units: Sequence[WantedUnit], check: bool
) -> UnitsRun:
    """Files first, then enabling, then starting. check: nothing is written. absent: paths of files to remove.

    A file that can't be written or removed is a finding and keeps neither the other files nor the units from being
    brought: the next run goes on from there.
    """
    done = UnitsRun()
    for wanted in files:
        _bring_file(wanted, done, check)
    for path in absent:
        _take_away(path, done, check)
    done.states, unasked = unit_states(run, [unit.name for unit in units])
    done.findings += unasked
    if unasked:
        return done
    touched = _touched_units([*done.written, *done.removed])
    coming = {Path(path).name for path in done.written}
    done.reload_due = bool(touched) or any(state.needs_reload for state in done.states.values())
    for unit in units:
        _bring_unit(run, unit, done, touched | _stale(done.states), coming, check)
    if done.switched and not check:
        done.states, more = unit_states(run, [unit.name for unit in units])
        done.findings += more
    return done


def _bring_file(wanted: WantedFile, done: UnitsRun, check: bool) -> None:
    path = Path(wanted.path)
    if path.is_symlink() and path.resolve() == _NOTHING:
        # whoever masked the unit had a reason: it is not undone behind their back
        text = f"{path.name} is masked by {path}, so its file was not written and nothing can start it"
        done.findings.append(finding("systemd.unit_masked", f"unit:{path.name}", text))
        return
    try:
        if not check:
            remove_leftovers(Path(wanted.path).parent)
        change = file_change(wanted)
        if not change.differs:
            return
        if not check:
            write_file(change)
    except FileError as error:
        done.findings.append(_not_brought(error))
        return
    done.diff.append(change.diff())
    done.written.append(wanted.path)


def _take_away(path: str, done: UnitsRun, check: bool) -> None:
    if not Path(path).is_file():
        return
    try:
        before = _text(path)
        if not check:
            Path(path).unlink()
    except OSError as error:
        done.findings.append(_not_brought(FileError(path, error, "remove")))
        return
    done.diff.append({"before_header": path, "after_header": path, "before": before, "after": ""})
    done.removed.append(path)


def _not_brought(error: FileError) -> Finding:
    return finding("host.file_not_written", f"file:{error.path}", str(error), error.evidence())


def _bring_unit(run: Run, unit: WantedUnit, done: UnitsRun, waiting: set[str], coming: set[str], check: bool) -> None:
    """One unit as it is wanted; coming: units whose file is written in this run (in check mode: would be)."""
    state = done.states[unit.name]
    if not state.exists and not (check and unit.name in coming):
        if unit.required and (unit.enabled or unit.started):
            text = f"systemd has no unit {unit.name}"
            done.findings.append(finding("systemd.unit_missing", f"unit:{unit.name}", text))
        return
    if state.is_masked and (unit.enabled or unit.started):
        if any(one.subject == f"unit:{unit.name}" for one in done.findings):
            return
        severity = "" if unit.required else "warning"
        text = f"{unit.name} is masked, so it can't be {'enabled' if unit.enabled else 'started'}"
        done.findings.append(finding("systemd.unit_masked", f"unit:{unit.name}", text, severity=severity))
        return
    if unit.enabled is not None and unit.enabled != state.is_enabled:
        _switch(run, "enable" if unit.enabled else "disable", unit.name, done, check)
    if unit.started is not None and unit.started != state.is_started:
        if unit.started and unit.name in waiting:
            done.pending.append(unit.name)
        else:
            _switch(run, "start" if unit.started else "stop", unit.name, done, check)


def _switch(run: Run, verb: str, name: str, done: UnitsRun, check: bool) -> None:
    """``systemctl enable`` and so on; a failure is a finding with the unit's last journal lines."""
    at_boot = verb in ("enable", "disable")
    if not check:
        argv = ["systemctl", verb, *(["--no-reload"] if at_boot else []), "--", name]
        ended = run(argv, ENABLE_LIMIT_S if at_boot else START_LIMIT_S)
        if not ended.ok:
            done.findings += command_findings(ended, f"unit:{name}") or [_refused(run, verb, name, ended)]
            return
    done.switched.append(f"{verb} {name}")
    # what is enabled without a reload counts as changed on the disk until there is one
    done.reload_due = done.reload_due or at_boot


def _refused(run: Run, verb: str, name: str, ended: CommandResult) -> Finding:
    journal = run(["journalctl", "-u", name, "-n", str(_JOURNAL_LINES), "-o", "cat", "--no-pager"], ENABLE_LIMIT_S)
    said = " ".join(ended.text.split())
    text = f"systemctl {verb} {name} failed with code {ended.rc}: {said or 'it printed nothing'}"
    return finding("systemd.unit_failed", f"unit:{name}", text, {"rc": ended.rc, "log": journal.stdout.splitlines()})


def _touched_units(paths: Sequence[str]) -> set[str]:
    """Units that the given unit files and drop-ins belong to."""
    touched = set()
    for path in paths:
        for directory in UNIT_DIRECTORIES:
            if path.startswith(directory):
                touched.add(path[len(directory) :].split("/")[0].removesuffix(".d"))
    return touched


def _stale(states: dict[str, UnitState]) -> set[str]:
    return {name for name, state in states.items() if state.needs_reload}


def _text(path: str) -> str:
    return Path(path).read_text(encoding="utf-8", errors="replace")


__all__ = ["UnitsRun", "WantedUnit", "bring_units"]
