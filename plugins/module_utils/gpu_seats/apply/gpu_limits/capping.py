"""Makes the declared caps hold, and reads every one of them back: what nvidia-smi prints about it is no proof.

Cards are named by UUID, so a swapped index changes nothing. Only a limit that differs is set. Every card is set by a
command of its own: one that refuses, hangs or is lost does not keep the others from their caps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...findings import Finding, by_severity, finding
from ...observe.command import Run, command_findings
from ...observe.nvidia.cards import GpuCard
from ...observe.nvidia.parse import parse_nvidia_smi
from ...observe.records import first_line, unique
from .caps import Cap
from .card_reading import CardsRead, named, read_cards
from .persistence import SET_LIMIT_S, persistence_findings, set_persistence
from .refusals import is_held, refusals
from .result import CapsResult, CardCap

LOCK_PATH = "/run/gpu-seats-power/lock"
"""Held around `apply_caps` by the module and by the timer's command, so that they do not cross. Not in /run/lock, where
everybody may write: who holds it keeps lost caps from being set again."""


@dataclass
class _Attempt:
    """What happened to one cap. said: the text of ``nvidia-smi -pl``, "" when it was not run."""

    cap: Cap
    before: GpuCard | None
    refused: list[Finding] = field(default_factory=list)
    differs: bool = False
    said: str = ""
    problems: list[Finding] = field(default_factory=list)


def apply_caps(run: Run, caps: Sequence[Cap], check: bool = False, persistence: str = "auto") -> CapsResult:
    """Every cap held and read back, or a finding that says why it is not; check sets nothing and tells what would be.

    run: `observe.command.run`. persistence: one of `persistence.WAYS`. Idempotent, also after an interrupted run.
    """
    if not caps:
        return CapsResult()
    ids = [cap.id for cap in caps]
    first = read_cards(run, ids)
    attempts = [_attempt(cap, first) for cap in caps]
    seen = [one.before for one in attempts if one.before is not None]
    persisted = set_persistence(run, seen, persistence, check) if seen else None
    if not check:
        _set_limits(run, attempts)
    touched = not check and (any(one.said or one.problems for one in attempts) or bool(persisted and persisted.asked))
    last = read_cards(run, ids) if touched else first
    findings = _about_reading(last, caps)
    rows = []
    for attempt in attempts:
        row, found = _outcome(attempt, last, check)
        rows.append(row)
        findings += found
        card = _card_of(attempt.cap, last)
        if persisted is not None and card is not None:
            findings += persistence_findings(persisted, card, attempt.cap.subject, check)
    return CapsResult(
        rows,
        by_severity(unique(findings)),
        _turned_on(persisted.asked, last, check) if persisted else [],
        persisted.daemon if persisted else "unknown",
    )


def _card_of(cap: Cap, read: CardsRead) -> GpuCard | None:
    """The card that a cap names: by UUID; by bus id only where none is declared."""
    if cap.uuid is None:
        return read.at_bus(cap.bus_id)
    wanted = cap.uuid.lower()
    return next((card for uuid, card in read.cards.items() if uuid.lower() == wanted), None)


def _attempt(cap: Cap, read: CardsRead) -> _Attempt:
    card = _card_of(cap, read)
    attempt = _Attempt(cap, card, refusals(cap, card))
    known = card is not None and card.effective_limit_watts is not None
    attempt.differs = known and not attempt.refused and not is_held(cap, card)
    return attempt


def _set_limits(run: Run, attempts: Sequence[_Attempt]) -> None:
    """Sets each limit that differs. After a hang no other card is tried: each try could wedge in the driver too."""
    hung = ""
    for attempt in attempts:
        if not attempt.differs:
            continue
        if hung:
            text = f"not tried, because nvidia-smi did not come back for card {hung}"
            attempt.problems = [finding("power.card_not_capped", attempt.cap.subject, text, {"uuid": attempt.cap.uuid})]
            continue
        _set_limit(run, attempt)
        if any(one.code == "command.hung" for one in attempt.problems):
            hung = attempt.cap.card


def _set_limit(run: Run, attempt: _Attempt) -> None:
    cap, card = attempt.cap, attempt.before
    name = (card.uuid if card is not None else None) or cap.id
    argv = ["nvidia-smi", "-i", name, "-pl", f"{cap.limit_watts:g}"]
    ended = run(argv, SET_LIMIT_S)
    attempt.said = first_line(ended.text) or f"nothing, with exit code {ended.rc}"
    attempt.problems = command_findings(ended, cap.subject)
    if attempt.problems:
        return
    told = parse_nvidia_smi(ended.text, ended.rc, " ".join(argv)).findings
    attempt.problems = [replace(one, subject=cap.subject) for one in told if one.fails]
    if not attempt.problems and ended.rc != 0:
        code = "gpu.permission_denied" if ended.rc == 4 else "gpu.power_limit_refused"
        text = f"nvidia-smi did not set {cap.limit_watts:g} W (exit code {ended.rc}): {attempt.said}"
        attempt.problems = [finding(code, cap.subject, text, {"rc": ended.rc, "text": ended.text[:400]})]


def _about_reading(read: CardsRead, caps: Sequence[Cap]) -> list[Finding]:
    """Findings of the reading, by declared card, and cards that no cap names."""
    names: dict[str, str] = {}
    for cap in caps:
        card = _card_of(cap, read)
        for one in (cap.uuid, cap.bus_id if card is None else card.bus_id, card.uuid if card is not None else None):
            if one:
                names.setdefault(one, cap.card)
    found = named(read.findings, names)
    if not read.cards:
        cards = ", ".join(cap.card for cap in caps)
        text = f"no card could be asked ({read.reason}): whether the caps of cards {cards} hold is not known"
        found.append(finding("power.card_not_capped", "gpu:" + cards.replace(" ", ""), text))
    capped = [_card_of(cap, read) for cap in caps]
    for card in read.cards.values() if read.whole else ():
        if not any(card is one for one in capped):
            limit = card.effective_limit_watts
            may = "an unknown power" if limit is None else f"{limit:g} W"
            text = f"card {card.uuid} at {card.bus_id} is in the host and has no cap: it may draw {may}"
            evidence = {"uuid": card.uuid, "bus_id": card.bus_id, "name": card.name}
            found.append(finding("power.card_undeclared", f"gpu:{card.uuid or card.bus_id}", text, evidence))
    return found


def _outcome(attempt: _Attempt, last: CardsRead, check: bool) -> tuple[CardCap, list[Finding]]:
    """How one cap ended, by the last reading."""
    cap = attempt.cap
    card = _card_of(cap, last)
    found = [*_identity(cap, card, last), *attempt.refused, *attempt.problems]
    if card is None:
        found += _not_seen(cap, last)
    elif card.effective_limit_watts is None and not attempt.refused:
        text = f"the power limit of {cap.id} reads {card.no_limit_reason}: whether the cap holds is not known"
        facts = {"uuid": cap.uuid, "reason": card.no_limit_reason, "draw_watts": card.power_draw_watts}
        found.append(finding("power.cap_unreadable", cap.subject, text, facts))
    ok = is_held(cap, card) and not attempt.refused
    if attempt.said and card is not None and not ok and not any(one.fails for one in found):
        found.append(_not_held(attempt, card))
    before, after = (one.effective_limit_watts if one is not None else None for one in (attempt.before, card))
    moved = before is not None and after is not None and before != after
    why = next((one.message for one in found if one.fails), "")
    row = _row(cap, card or attempt.before)
    return replace(
        row,
        before_watts=before,
        after_watts=after,
        changed=attempt.differs if check else bool(attempt.said) and moved,
        ok=ok,
        reason="" if ok else why or last.reason or (f"would be set to {cap.limit_watts:g} W" if check else ""),
    ), found


def _row(cap: Cap, card: GpuCard | None) -> CardCap:
    facts: dict[str, Any] = {"default_watts": cap.default_watts}
    if card is not None:
        facts = {
            "draw_watts": card.power_draw_watts,
            "default_watts": card.default_power_limit_watts or cap.default_watts,
            "persistence": card.persistence_mode,
            "mig": card.mig_mode,
        }
    uuid = cap.uuid or (card.uuid if card is not None else None)
    bus_id = (card.bus_id if card is not None else None) or cap.bus_id
    return CardCap(cap.card, uuid, bus_id, cap.limit_watts, **facts)


def _not_held(attempt: _Attempt, card: GpuCard) -> Finding:
    cap = attempt.cap
    had = card.effective_limit_watts
    text = f"the limit reads {had:g} W after {cap.limit_watts:g} W was set; nvidia-smi said {attempt.said!r}"
    facts = {"uuid": cap.uuid, "cap_watts": cap.limit_watts, "limit_watts": had, "said": attempt.said}
    return finding("power.cap_not_held", cap.subject, text, facts)


def _not_seen(cap: Cap, read: CardsRead) -> list[Finding]:
    """The finding for a card that gave no answer while others did; without any answer there is one for all."""
    if not read.cards:
        return []
    ids = {one for one in (cap.uuid, cap.bus_id) if one}
    about = next((f for f in read.findings if f.fails and (f.subject.partition(":")[2] in ids)), None)
    why = about.message if about is not None else "nvidia-smi does not list it"
    text = f"card {cap.card} ({cap.id}) could not be capped at {cap.limit_watts:g} W: {why}"
    return [finding("power.card_not_capped", cap.subject, text, {"uuid": cap.uuid, "bus_id": cap.bus_id})]


def _identity(cap: Cap, card: GpuCard | None, read: CardsRead) -> list[Finding]:
    """The bus id as a cross-check of the UUID. A card that was moved keeps its cap; a strange card gets none."""
    if cap.uuid is None or cap.bus_id is None:
        return []
    facts = {"uuid": cap.uuid, "bus_id": cap.bus_id}
    if card is not None and card.bus_id not in (None, cap.bus_id):
        text = f"card {cap.uuid} is declared at {cap.bus_id} and sits at {card.bus_id}; its cap is kept by UUID"
        return [
            finding("gpu.identity_mismatch", cap.subject, text, {**facts, "found": card.bus_id}, severity="warning")
        ]
    stranger = read.at_bus(cap.bus_id) if card is None else None
    if stranger is not None:
        text = f"{cap.bus_id} holds {stranger.uuid}, {cap.uuid} is declared there: it gets no cap"
        return [finding("gpu.identity_mismatch", cap.subject, text, {**facts, "found": stranger.uuid})]
    return []


def _turned_on(asked: Sequence[str], last: CardsRead, check: bool) -> list[str]:
    if check:
        return list(asked)
    modes = {one: card.persistence_mode for key, card in last.cards.items() for one in (key, card.bus_id)}
    return [name for name in asked if modes.get(name) == "Enabled"]


__all__ = ["LOCK_PATH", "apply_caps"]
