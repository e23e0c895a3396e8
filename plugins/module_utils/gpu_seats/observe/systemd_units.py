"""How units stand, as systemd tells it: loaded, active, enabled at boot, and whether it has read their files again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..findings import Finding, finding
from .command import CommandResult, Run, command_findings
from .records import first_line

LIMIT_S = 20.0
_PROPERTIES = ("Id", "LoadState", "ActiveState", "SubState", "NeedDaemonReload", "Result")
_AT_BOOT = ("enabled", "static", "indirect", "alias", "generated")
"""What ``systemctl is-enabled`` says of units that need no further step to start at boot. One that is enabled in /run
is not at the next boot, and a linked one was only put where systemd looks."""


@dataclass(frozen=True)
class UnitState:
    """One unit. Words are systemd's own; enabled: what ``is-enabled`` says, "" for a unit without a file."""

    name: str
    load: str = ""
    active: str = ""
    sub: str = ""
    enabled: str = ""
    needs_reload: bool = False
    result: str = ""

    @property
    def exists(self) -> bool:
        return self.load not in ("", "not-found")

    @property
    def is_masked(self) -> bool:
        return self.load == "masked" or self.enabled.startswith("masked")

    @property
    def is_enabled(self) -> bool:
        return self.enabled in _AT_BOOT

    @property
    def is_started(self) -> bool:
        return self.active in ("active", "activating", "reloading")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def unit_states(run: Run, names: Sequence[str]) -> tuple[dict[str, UnitState], list[Finding]]:
    """State of each named unit; empty, with the reason as a finding, where systemd can't be asked."""
    if not names:
        return {}, []
    shown = run(["systemctl", "show", "--property=" + ",".join(_PROPERTIES), "--", *names], LIMIT_S)
    blocks = _blocks(shown.stdout)
    if not shown.ok or len(blocks) != len(names):
        return {}, _unanswered(shown)
    states = {name: _state(name, block) for name, block in zip(names, blocks)}
    words, findings = _boot_words(run, [name for name in names if states[name].exists])
    return {
        name: UnitState(**{**asdict(one), "enabled": words.get(name, "")}) for name, one in states.items()
    }, findings


def _boot_words(run: Run, names: Sequence[str]) -> tuple[dict[str, str], list[Finding]]:
    """``is-enabled`` of each unit. ``show`` keeps an old answer until the next daemon-reload, this one does not."""
    if not names:
        return {}, []
    asked = run(["systemctl", "is-enabled", "--", *names], LIMIT_S)
    lines = asked.stdout.split("\n")[: len(names)]
    if asked.rc is None or len(lines) != len(names) or not all(lines):
        return {}, _unanswered(asked)
    return dict(zip(names, (line.strip() for line in lines))), []


def _unanswered(asked: CommandResult) -> list[Finding]:
    told = command_findings(asked, "host:systemd")
    if told:
        return told
    said = first_line(asked.stderr or asked.stdout) or "it printed nothing"
    text = f"systemd does not tell how its units stand: {said}"
    return [finding("systemd.unreachable", "host:systemd", text, {"command": " ".join(asked.argv), "rc": asked.rc})]


def _blocks(text: str) -> list[dict[str, str]]:
    """``systemctl show`` prints one block of NAME=value lines a unit, in the order asked, a blank line between."""
    blocks = []
    for part in text.strip("\n").split("\n\n"):
        pairs = [line.partition("=") for line in part.splitlines() if "=" in line]
        if pairs:
            blocks.append({key: value for key, _, value in pairs})
    return blocks


def _state(name: str, block: dict[str, str]) -> UnitState:
    return UnitState(
        name=name,
        load=block.get("LoadState", ""),
        active=block.get("ActiveState", ""),
        sub=block.get("SubState", ""),
        needs_reload=block.get("NeedDaemonReload") == "yes",
        result=block.get("Result", ""),
    )


__all__ = ["UnitState", "unit_states"]
