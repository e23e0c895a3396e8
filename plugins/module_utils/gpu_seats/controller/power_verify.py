"""Whether the caps of a host hold, by a look that was made after they were set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..apply.gpu_limits.card_reading import named
from ..declare.host import Host
from ..findings import Finding, by_severity, finding, finding_from_dict
from ..observe.records import on_host
from ..observe.systemd_units import UnitState
from ..plan.power.caps import declared_caps
from .power_state import SeenCards, cap_findings, enforced_watts, is_kept, seen_card

_UNSEEN = "power.card_not_capped"
"""Told of each card here, by the newer look, and not taken over from the setting."""


def bmc_reading(result: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The reading in a result of `bmc_power_info`; None where the task did not run."""
    if not result or result.get("skipped"):
        return None
    return {name: result.get(name) for name in ("watts", "source", "reason")}


@dataclass(frozen=True)
class PowerVerified:
    """rows: ``{card, uuid, cap_watts, limit_watts, draw_watts, verdict, ok}`` a card that has a cap; ok None in check
    mode for one that would be set."""

    host: str
    rows: list[dict[str, Any]]
    findings: list[Finding]

    @property
    def ok(self) -> bool:
        return not any(one.fails for one in self.findings) and not any(row["ok"] is False for row in self.rows)

    @property
    def limits(self) -> dict[str, float]:
        """Card -> the limit that holds now, of the cards that tell it."""
        return {row["card"]: row["limit_watts"] for row in self.rows if row["limit_watts"] is not None}

    @property
    def summary(self) -> str:
        failing = [f"card {row['card']}: {row['verdict']}" for row in self.rows if row["ok"] is False]
        failing += [one.message for one in self.findings if one.fails and not one.subject.startswith(self._cards)]
        if failing:
            return "; ".join(failing)
        return "every cap holds" if self.rows else "no caps are declared"

    @property
    def _cards(self) -> str:
        return f"host:{self.host}/gpu:"

    def as_result(self) -> dict[str, Any]:
        return {
            "host": self.host,
            "cards": self.rows,
            "limits": self.limits,
            "findings": [one.as_dict() for one in self.findings],
            "msg": self.summary,
        }


def planned_caps(host: Host, applied: Mapping[str, Any]) -> PowerVerified:
    """In check mode: what `gpu_power_limit` says it would set. Nothing was set, so there is nothing to verify."""
    rows = [
        _row(
            one["card"],
            one["uuid"],
            one["wanted_watts"],
            one["before_watts"],
            one.get("draw_watts"),
            *_planned_verdict(one),
        )
        for one in applied.get("cards") or ()
    ]
    found = [finding_from_dict(data) for data in applied.get("findings") or ()]
    return PowerVerified(host.host, rows, by_severity(on_host(found, host.host)))


def _planned_verdict(one: Mapping[str, Any]) -> tuple[str, bool | None]:
    if one["ok"]:
        return "holds", True
    if one["changed"]:
        return "would be set", None
    return str(one.get("reason") or "would not be set"), False


def verified_caps(
    host: Host, applied: Mapping[str, Any], look: Mapping[str, Any], units: Sequence[Mapping[str, Any]]
) -> PowerVerified:
    """applied: the result of `gpu_power_limit`. look: of `power_look`, made after it. units: as wanted."""
    cards: SeenCards = look["cards"]
    caps = declared_caps(host)
    names = {one: card for card, cap in caps.items() for one in (cap.uuid, cap.bus_id) if one}
    by_card = {str(one["card"]): one for one in applied.get("cards") or ()}
    setting = [finding_from_dict(data) for data in applied.get("findings") or () if data["code"] != _UNSEEN]
    looking = named((finding_from_dict(data) for data in look["findings"]), names)
    found = on_host([*setting, *looking, *unit_findings(look["units"], units)], host.host)
    found += [*cap_findings(host, cards), *_unseen_findings(host, cards, by_card)]
    told = _once(found)
    rows = []
    for card, cap in caps.items():
        seen = seen_card(card, host.gpus[card], cards)
        failing = [one for one in told if one.fails and one.subject == f"host:{host.host}/gpu:{card}"]
        limit = None if seen is None else enforced_watts(seen)
        draw = None if seen is None else seen.get("power_draw_watts")
        held = seen is not None and is_kept(cap, seen)
        verdict = _verdict(by_card.get(card, {}), failing, held)
        rows.append(_row(card, cap.uuid, cap.limit_watts, limit, draw, verdict, not failing))
    return PowerVerified(host.host, rows, told)


def _verdict(applied: Mapping[str, Any], failing: Sequence[Finding], held: bool) -> str:
    if failing:
        codes = ", ".join(dict.fromkeys(one.code for one in failing))
        return f"holds, and the card has errors ({codes})" if held else f"NOT held ({codes})"
    before = applied.get("before_watts")
    if applied.get("changed"):
        return "set" if before is None else f"set, was {before:g} W"
    return "holds"


def _row(
    card: str,
    uuid: str | None,
    cap: float,
    limit: float | None,
    draw: float | None,
    verdict: str,
    ok: bool | None,
) -> dict[str, Any]:
    return {
        "card": card,
        "uuid": uuid,
        "cap_watts": cap,
        "limit_watts": limit,
        "draw_watts": draw,
        "verdict": verdict,
        "ok": ok,
    }


def _unseen_findings(host: Host, cards: SeenCards, applied: Mapping[str, Mapping[str, Any]]) -> list[Finding]:
    """Cards that the look did not see, with the reason that was given when they were to be set."""
    found = []
    for card, cap in declared_caps(host).items():
        if seen_card(card, host.gpus[card], cards) is None:
            named_by = cap.uuid or cap.bus_id or f"index {card}"
            why = applied.get(card, {}).get("reason")
            because = f" ({why})" if why else ""
            text = f"card {card} of {host.host} ({named_by}) does not answer{because}, so whether its "
            text += f"cap of {cap.limit_watts:g} W holds is not known"
            facts = {"uuid": cap.uuid, "bus_id": cap.bus_id, "cap_watts": cap.limit_watts}
            found.append(finding(_UNSEEN, f"host:{host.host}/gpu:{card}", text, facts))
    return found


def _once(findings: Iterable[Finding]) -> list[Finding]:
    """One finding a code and subject, in the words of who looked last."""
    return by_severity({(one.code, one.subject): one for one in findings}.values())


def unit_findings(states: Mapping[str, Mapping[str, Any]], wanted: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Units that are not as wanted. wanted: ``{name, enabled, started, required}`` as for `systemd_units`."""
    found: list[Finding] = []
    for unit in wanted:
        data = states.get(unit["name"])
        if data is not None:  # systemd that does not answer has its own finding
            found += _of_unit(UnitState(**data), unit)
    return found


def _of_unit(state: UnitState, unit: Mapping[str, Any]) -> list[Finding]:
    subject, name = f"unit:{state.name}", state.name
    if not state.exists:
        wanted = unit.get("required", True) and (unit.get("enabled") or unit.get("started"))
        return [finding("systemd.unit_missing", subject, f"systemd has no unit {name}")] if wanted else []
    found = []
    facts = state.as_dict()
    if state.is_masked and unit.get("enabled") is not False:
        severity = "" if unit.get("required", True) else "warning"
        text = f"{name} is masked, so nothing can start it"
        return [finding("systemd.unit_masked", subject, text, facts, severity=severity)]
    if unit.get("enabled") and not state.is_enabled:
        text = f"{name} does not start at boot: systemd says {state.enabled or 'nothing of it'}"
        found.append(finding("systemd.unit_not_enabled", subject, text, facts))
    if unit.get("started") and not state.is_started:
        text = f"{name} does not run: systemd says {state.active or 'nothing of it'}"
        found.append(finding("systemd.unit_not_started", subject, text, facts))
    if state.needs_reload:
        text = f"the file of {name} is newer than what systemd works with"
        found.append(finding("systemd.reload_pending", subject, text, facts))
    if state.result not in ("", "success"):
        text = f"the last run of {name} ended with {state.result}: journalctl -u {name} -n 20 says why"
        found.append(finding("systemd.unit_failed", subject, text, facts, severity="warning"))
    return found
