"""The declared limit of every card of a host, with everything that its enforcement has to know."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...declare.host import Host


@dataclass(frozen=True)
class DeclaredCap:
    """One card's cap. card: its key in the host file. uuid, bus_id: None where none is declared.

    above_stock: ``<day>: <reason>`` of the decision to run above default_watts; None where nobody took it.
    """

    card: str
    uuid: str | None
    bus_id: str | None
    limit_watts: float
    ceiling_watts: float | None
    min_watts: float | None
    default_watts: float | None
    max_watts: float | None
    reason: str
    above_stock: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def declared_caps(host: Host) -> dict[str, DeclaredCap]:
    """Card key -> its cap; empty for a host that declares none."""
    caps = host.power.caps if host.power is not None else None
    if caps is None:
        return {}
    stock = caps.above_stock
    decided = None if stock is None else f"{stock.date.isoformat()}: {stock.reason}"
    return {
        card: DeclaredCap(
            card=card,
            uuid=gpu.uuid,
            bus_id=gpu.bus_id,
            limit_watts=caps.limit_of(card),
            ceiling_watts=caps.ceiling,
            min_watts=gpu.power_limits.min if gpu.power_limits else None,
            default_watts=gpu.power_limits.default if gpu.power_limits else None,
            max_watts=gpu.power_limits.max if gpu.power_limits else None,
            reason=caps.reason,
            above_stock=decided,
        )
        for card, gpu in host.gpus.items()
    }
