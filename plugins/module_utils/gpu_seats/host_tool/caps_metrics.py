"""Caps, limits and findings as Prometheus text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..apply.gpu_limits.result import CapsResult, CardCap
from ..findings import Finding
from ..metrics_text import FINDING_HELP, family, series

FILE_NAME = "gpu_seats_power.prom"


def caps_metrics(host: str, result: CapsResult, findings: Sequence[Finding], checked_at_s: float | None) -> str:
    """checked_at_s: Unix time, so that a rule can see a timer that has stopped; None where no card was looked at.

    What is not known has no series.

    ``source`` keeps these findings apart from those that a play wrote about the same host.
    """
    labels = [
        {"code": one.code, "host": host, "severity": one.severity, "source": "caps", "subject": one.subject}
        for one in findings
    ]
    here = {series("gpu_seats_finding", of_finding): 1 for of_finding in labels}
    checked = "gpu_seats_power_checked_timestamp_seconds"
    looked = {} if checked_at_s is None else {series(checked, {"host": host}): checked_at_s}
    return "".join(
        [
            *_of_cards(host, result.cards),
            family("gpu_seats_finding", FINDING_HELP, here),
            family(checked, "When the caps were looked at.", looked),
        ]
    )


def _of_cards(host: str, cards: Sequence[CardCap]) -> Iterator[str]:
    told: list[tuple[str, str, Callable[[CardCap], float | None]]] = [
        ("gpu_seats_gpu_power_cap_watts", "Declared power limit.", lambda one: one.wanted_watts),
        ("gpu_seats_gpu_power_limit_watts", "Power limit that the card enforces.", lambda one: one.after_watts),
        ("gpu_seats_gpu_power_draw_watts", "Power draw.", lambda one: one.draw_watts),
        ("gpu_seats_power_cap_held", "Whether the card keeps its declared limit.", lambda one: int(one.ok)),
    ]
    for name, help_text, value_of in told:
        values = ((one, value_of(one)) for one in cards)
        yield family(
            name,
            help_text,
            {
                series(name, {"host": host, "card": one.card, "uuid": one.uuid or ""}): value
                for one, value in values
                if value is not None
            },
        )


__all__ = ["FILE_NAME", "caps_metrics"]
