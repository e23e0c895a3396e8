"""What `capping.apply_caps` hands back."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ...findings import Finding, by_severity, finding


@dataclass(frozen=True)
class CardCap:
    """One declared cap and what its card does about it. Watts are None where the card did not tell.

    before_watts, after_watts: the limit that held before and holds now. changed: it was set (would be, in check mode).
    ok: the cap holds now. reason: why it does not.
    """

    card: str
    uuid: str | None
    bus_id: str | None
    wanted_watts: float
    before_watts: float | None = None
    after_watts: float | None = None
    draw_watts: float | None = None
    default_watts: float | None = None
    persistence: str | None = None
    mig: str | None = None
    changed: bool = False
    ok: bool = False
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class CapsResult:
    """cards: one a declared cap, in the order declared. persistence_changed: UUIDs whose mode was turned on."""

    cards: list[CardCap] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    persistence_changed: list[str] = field(default_factory=list)
    daemon: str = "unknown"

    @property
    def changed(self) -> bool:
        return bool(self.persistence_changed) or any(one.changed for one in self.cards)

    @property
    def held(self) -> bool:
        return all(one.ok for one in self.cards)

    @property
    def driver_is_absent(self) -> bool:
        """No card was there to ask: after a boot the driver may still be loading, and asking again may help."""
        return any(one.code in ("gpu.driver_unreachable", "gpu.no_devices") for one in self.findings)

    @property
    def fails(self) -> bool:
        return any(one.fails for one in self.findings)

    def as_dict(self) -> dict[str, Any]:
        return {
            "changed": self.changed,
            "held": self.held,
            "cards": [one.as_dict() for one in self.cards],
            "persistence": {"daemon": self.daemon, "changed": list(self.persistence_changed)},
            "findings": [one.as_dict() for one in self.findings],
        }

    def diff(self) -> dict[str, str]:
        """The entry of Ansible's diff mode: one line a card that changes."""
        before, after = [], []
        for one in self.cards:
            name = f"card {one.card} {one.uuid or one.bus_id}"
            if one.changed:
                had = "unknown" if one.before_watts is None else f"{one.before_watts:g} W"
                before.append(f"{name}: {had}")
                after.append(f"{name}: {one.wanted_watts:g} W")
            if one.uuid in self.persistence_changed:
                before.append(f"{name}: persistence mode off")
                after.append(f"{name}: persistence mode on")
        return {
            "before_header": "power limits",
            "after_header": "power limits",
            "before": "".join(line + "\n" for line in before),
            "after": "".join(line + "\n" for line in after),
        }

    def summary(self) -> str:
        """One line: on how many cards the caps hold."""
        if not self.cards:
            return "no caps are declared"
        held = sum(one.ok for one in self.cards)
        watts = sorted({one.wanted_watts for one in self.cards})
        text = "{} W".format(", ".join(f"{one:g}" for one in watts))
        return f"caps hold on {held} of {len(self.cards)} cards ({text})"

    def failure(self) -> str:
        """One message of all that fails."""
        told = "; ".join(f"{one.subject}: {one.message} ({one.code})" for one in self.findings if one.fails)
        return f"{self.summary()}: {told}"


def lost_findings(result: CapsResult) -> list[Finding]:
    """Caps that do not hold and were not set (check mode): an enforced limit above the cap, or another one below it."""
    found = []
    for one in result.cards:
        if one.ok or not one.changed or one.after_watts is None:
            continue
        facts = {"uuid": one.uuid, "limit_watts": one.after_watts, "cap_watts": one.wanted_watts}
        text = f"the limit is {one.after_watts:g} W, {one.wanted_watts:g} W is declared"
        severity = "" if one.after_watts > one.wanted_watts else "warning"
        found.append(finding("power.cap_lost", f"gpu:{one.card}", text, facts, severity=severity))
    return by_severity(found)


__all__ = ["CapsResult", "CardCap", "lost_findings"]
