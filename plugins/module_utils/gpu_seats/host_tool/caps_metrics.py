"""Caps, limits and findings as Prometheus text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..apply.gpu_limits.result import CapsResult, CardCap
from ..findings import Finding
from ..metrics_text import FINDING_HELP, family, series

FILE_NAME = "gpu_seats_power.prom"


def caps_metrics(host: str, result: CapsResult, findings: Sequence[Finding], checked_at_s: float) -> str:
    """checked_at_s: Unix time, so that a rule can see a timer that has stopped. What is not known has no series.

    ``source`` keeps these findings apart from those that a play wrote about the same host.
    """

    def of_cards(name: str, help_text: str, values: Iterable[tuple[CardCap, float | None]]) -> str:
        samples = {
            series(name, {"host": host, "card": one.card, "uuid": one.uuid or ""}): value
            for one, value in values
            if value is not None
        }
        return family(name, help_text, samples)

    cards = result.cards
    here = {
        series(
            "gpu_seats_finding",
            {"code": f.code, "host": host, "severity": f.severity, "source": "caps", "subject": f.subject},
        ): 1
        for f in findings
    }
    checked = "gpu_seats_power_checked_timestamp_seconds"
    return "".join(
        [
            of_cards(
                "gpu_seats_gpu_power_cap_watts", "Declared power limit.", ((one, one.wanted_watts) for one in cards)
            ),
            of_cards(
                "gpu_seats_gpu_power_limit_watts",
                "Power limit that the card enforces.",
                ((one, one.after_watts) for one in cards),
            ),
            of_cards("gpu_seats_gpu_power_draw_watts", "Power draw.", ((one, one.draw_watts) for one in cards)),
            of_cards(
                "gpu_seats_power_cap_held",
                "Whether the card keeps its declared limit.",
                ((one, int(one.ok)) for one in cards),
            ),
            family("gpu_seats_finding", FINDING_HELP, here),
            family(checked, "When the caps were looked at.", {series(checked, {"host": host}): checked_at_s}),
        ]
    )


__all__ = ["FILE_NAME", "caps_metrics"]
