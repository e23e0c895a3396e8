"""Persistence of the driver: without it a cap is lost whenever the last program leaves the card.

The daemon nvidia-persistenced is preferred. ``nvidia-smi -pm 1`` is what is left where it does not run (NVIDIA calls
that legacy), and how a running daemon that was started without persistence is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...findings import Finding, finding
from ...observe.command import Run, command_findings
from ...observe.nvidia.cards import GpuCard
from ...observe.nvidia.parse import parse_nvidia_smi

WAYS = ("auto", "daemon", "legacy", "leave")
"""auto: by the daemon where it runs, else legacy. daemon: by a running daemon only. leave: look and set nothing."""

UNIT = "nvidia-persistenced.service"
_SYSTEMCTL_LIMIT_S = 10.0
SET_LIMIT_S = 20.0


@dataclass
class PersistenceSet:
    """What was done: daemon is its state (``active``, ``inactive``, ``failed``, ``absent``, ``unknown``).

    asked: UUIDs of the cards whose mode was set (would be set, in check mode). refused: what nvidia-smi said to it.
    """

    way: str
    daemon: str
    asked: list[str] = field(default_factory=list)
    refused: dict[str, list[Finding]] = field(default_factory=dict)


def daemon_state(run: Run) -> str:
    """State of nvidia-persistenced: ``absent`` where there is no such unit, ``unknown`` without systemd."""
    ended = run(["systemctl", "show", UNIT, "--property=LoadState", "--property=ActiveState"], _SYSTEMCTL_LIMIT_S)
    said = dict(line.split("=", 1) for line in ended.stdout.splitlines() if "=" in line)
    if not ended.ok or "ActiveState" not in said:
        return "unknown"
    return "absent" if said.get("LoadState") == "not-found" else said["ActiveState"]


def set_persistence(run: Run, cards: Iterable[GpuCard], way: str, check: bool) -> PersistenceSet:
    """Turns persistence mode on for the cards whose mode reads Disabled, as `way` allows.

    After a hang no other card is tried: each try could wedge in the driver too.
    """
    done = PersistenceSet(way, daemon_state(run))
    may = way in ("auto", "legacy") or (way == "daemon" and done.daemon == "active")
    hung: list[Finding] = []
    for card in cards:
        if card.persistence_mode != "Disabled" or not may or not (card.uuid or card.bus_id):
            continue
        name = card.uuid or card.bus_id or ""
        done.asked.append(name)
        if not check:
            done.refused[name] = hung or _turned_on(run, name)
            hung = [one for one in done.refused[name] if one.code == "command.hung"]
    return done


def persistence_findings(done: PersistenceSet, card: GpuCard, subject: str, check: bool) -> list[Finding]:
    """What is to be said of a card's mode as it was read last."""
    name = card.uuid or card.bus_id or ""
    facts = {"uuid": card.uuid, "daemon": done.daemon}
    if card.persistence_mode == "Disabled":
        if name in done.asked and check:
            return []
        if name in done.asked:
            said = "; ".join(one.message for one in done.refused.get(name, [])) or "nvidia-smi named no reason"
            text = f"persistence mode could not be turned on: {said}"
            return [finding("gpu.persistence_refused", subject, text, facts)]
        text = f"persistence mode is off, and nvidia-persistenced is {done.daemon}: a cap is lost with the last client"
        return [finding("gpu.persistence_off", subject, text, facts)]
    if (
        card.persistence_mode == "Enabled"
        and done.way in ("auto", "daemon")
        and done.daemon not in ("active", "unknown")
    ):
        text = f"persistence mode is on without the daemon (nvidia-persistenced is {done.daemon})"
        return [finding("gpu.persistence_legacy", subject, text, facts)]
    return []


def _turned_on(run: Run, name: str) -> list[Finding]:
    argv = ["nvidia-smi", "-i", name, "-pm", "1"]
    ended = run(argv, SET_LIMIT_S)
    hung = command_findings(ended, f"gpu:{name}")
    if hung:
        return hung
    return [one for one in parse_nvidia_smi(ended.text, ended.rc, " ".join(argv)).findings if one.severity != "info"]


__all__ = ["WAYS", "PersistenceSet", "daemon_state", "persistence_findings", "set_persistence"]
