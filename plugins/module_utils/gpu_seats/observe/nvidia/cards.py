"""Records of cards, processes and settings, and the table that says which printed name fills which field."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Callable, ClassVar

from ...findings import Finding, finding
from ..records import Record, with_reasons
from . import values
from .values import Cell

LIMIT_TOLERANCE_WATTS = 1.0
"""Some boards round a power limit; more than this is another limit."""


@dataclass(frozen=True)
class GpuInventory(Record):
    """What one output says of the set of cards. card_count None: the output does not tell how many there are.

    form: which of nvidia-smi's outputs it was. A lost card or a driver that can't be asked leaves the count unknown.
    """

    kind: ClassVar[str] = "gpu_inventory"
    form: str
    card_count: int | None = None
    driver_version: str | None = None
    cuda_version: str | None = None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class GpuCard(Record):
    """One card. Memory in MiB, power in watts; None where the tool gave no value, the reason then in `unknown`.

    power_limit_watts is what was asked for (``power.limit``, "Requested Power Limit"), enforced_power_limit_watts what
    holds now ("Current Power Limit"). index only where the form prints it: its order is not promised over boots.
    other: printed values without a field of their own, by the tool's name for them.
    """

    kind: ClassVar[str] = "gpu_card"
    index: int | None = None
    uuid: str | None = None
    bus_id: str | None = None
    name: str | None = None
    serial: str | None = None
    driver_version: str | None = None
    vbios_version: str | None = None
    compute_capability: str | None = None
    memory_total_mib: float | None = None
    memory_used_mib: float | None = None
    memory_free_mib: float | None = None
    memory_reserved_mib: float | None = None
    power_management: str | None = None
    power_draw_watts: float | None = None
    power_draw_instant_watts: float | None = None
    power_limit_watts: float | None = None
    enforced_power_limit_watts: float | None = None
    default_power_limit_watts: float | None = None
    min_power_limit_watts: float | None = None
    max_power_limit_watts: float | None = None
    persistence_mode: str | None = None
    mig_mode: str | None = None
    mig_mode_pending: str | None = None
    ecc_mode: str | None = None
    compute_mode: str | None = None
    pstate: str | None = None
    recovery_action: str | None = None
    temperature_c: float | None = None
    utilization_percent: float | None = None
    memory_utilization_percent: float | None = None
    fan_percent: float | None = None
    mig_devices: list[dict[str, Any]] = field(default_factory=list)
    other: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def effective_limit_watts(self) -> float | None:
        """The power limit that holds now: the enforced one, else what was asked for; None when it tells neither."""
        enforced = self.enforced_power_limit_watts
        return self.power_limit_watts if enforced is None else enforced

    @property
    def no_limit_reason(self) -> str:
        """What the tool printed instead of a power limit."""
        return self.unknown.get("enforced_power_limit_watts") or self.unknown.get("power_limit_watts") or "no value"


@dataclass(frozen=True)
class GpuProcess(Record):
    """A process that holds a card. used_memory_mib None: WDDM, another container's process, no permission."""

    kind: ClassVar[str] = "gpu_process"
    pid: int | None = None
    name: str | None = None
    gpu_uuid: str | None = None
    gpu_bus_id: str | None = None
    gpu_index: int | None = None
    used_memory_mib: float | None = None
    type: str | None = None
    unknown: dict[str, str] = field(default_factory=dict)


CARD_KINDS: dict[str, Callable[[str], Any]] = {
    **{one.name: str for one in fields(GpuCard) if one.type == "str | None"},
    **{one.name: values.mib for one in fields(GpuCard) if one.name.endswith("_mib")},
    **{one.name: values.card_watts for one in fields(GpuCard) if one.name.endswith("_watts")},
    **{one.name: values.number for one in fields(GpuCard) if one.name.endswith(("_percent", "_c"))},
    "index": lambda text: int(text) if text.isdigit() and len(text) < 6 else None,
    "bus_id": values.bus_id,
    "driver_version": values.version,
}
"""How the text of each field becomes its value; None from the function: the text is no such value."""


_MINOR_FIELDS = ("fan_percent", "ecc_mode", "recovery_action", "vbios_version", "serial")
"""Fields whose error says nothing of the card's health: some boards never answer for their fans."""


def card_from_cells(cells: dict[str, Cell], default_reason: str, **extra: Any) -> GpuCard:
    """A card from printed values by field name; a field without a value gets its reason in `unknown`."""
    found: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    for name, one in cells.items():
        value = CARD_KINDS[name](one.text) if one.text is not None else None
        if value is None:
            reasons[name] = one.reason or _not_taken(one.text or "")
        else:
            found[name] = value
    return with_reasons(GpuCard(**found, **extra), reasons, default_reason)


def _not_taken(text: str) -> str:
    """Why a printed text is no value: watts that no card draws are a number all the same."""
    return f"printed as {text}" if values.watts(text) is not None else f"not understood: {text}"


def subject_of(card: GpuCard | None = None, index: int | None = None, bus: str | None = None) -> str:
    """``gpu:2``, else ``gpu:<uuid>``, else ``gpu:<bus id>``: the best name that the output gives."""
    if card is not None:
        index, bus = card.index, card.uuid or card.bus_id
    return "gpu:%s" % (index if index is not None else bus or "unknown")


def card_findings(card: GpuCard, cells: dict[str, Cell]) -> list[Finding]:
    """Findings that one card's printed values give away."""
    subject, where = subject_of(card), {"uuid": card.uuid, "bus_id": card.bus_id}
    found: list[Finding] = []
    errors = {name: one.reason for name, one in cells.items() if one.is_error and name not in _MINOR_FIELDS}
    if any(one.is_lost for one in cells.values()):
        found.append(finding("gpu.lost", subject, f"the card is lost: {_some(errors)}", {**where, **errors}))
    elif any("requires reset" in one.reason.lower() for one in cells.values()):
        found.append(finding("gpu.reset_required", subject, "the card asks for a reset", {**where, **errors}))
    elif errors:
        message = "nvidia-smi could not read {} of this card: {}".format(", ".join(sorted(errors)), _some(errors))
        found.append(finding("gpu.handle_error", subject, message, {**where, **errors}))
    if card.recovery_action not in (None, "None"):
        message = f"the driver asks for recovery of this card: {card.recovery_action}"
        found.append(finding("gpu.reset_required", subject, message, {**where, "action": card.recovery_action}))
    if card.mig_mode == "Enabled":
        evidence = {**where, "instances": len(card.mig_devices), "pending": card.mig_mode_pending}
        found.append(
            finding("gpu.mig_enabled", subject, "MIG is on: the whole card can't be given to a seat", evidence)
        )
    found.extend(_limit_findings(card, cells, subject, where))
    refused = {
        name: card.unknown[name]
        for name, one in cells.items()
        if name in card.unknown and one.reason != "empty" and name not in errors
    }
    if refused:
        message = "no value for {}".format(", ".join(sorted(refused)))
        found.append(finding("gpu.value_unknown", subject, message, {**where, **refused}))
    return found


def _limit_findings(card: GpuCard, cells: dict[str, Cell], subject: str, where: dict[str, Any]) -> list[Finding]:
    """A card that has no settable limit: the limits were asked for and none has a value."""
    limits = [n for n in ("power_limit_watts", "max_power_limit_watts", "min_power_limit_watts") if n in cells]
    if not limits or any(getattr(card, name) is not None or cells[name].is_error for name in limits):
        return []
    reason = card.unknown[limits[0]]
    said = reason.removeprefix("printed as ")
    message = f"power cap unsupported on {card.uuid or card.bus_id or subject}: its limits read {said}"
    evidence = {**where, "reason": reason, "draw_watts": card.power_draw_watts}
    return [finding("gpu.power_limit_unsupported", subject, message, evidence, severity="warning")]


def not_all_listed(attached: int, listed: int) -> Finding:
    """A report of fewer cards than the driver has: it was asked for some, or it stopped at one."""
    message = f"{attached} cards are attached, {listed} listed (fine when -i asked for some)"
    evidence = {"attached": attached, "listed": listed}
    return finding("gpu.not_listed", "tool:nvidia-smi", message, evidence, severity="warning")


def _some(errors: dict[str, str]) -> str:
    """The printed texts of an error, each once."""
    return ", ".join(sorted(set(errors.values()))) or "no value"


def process_of_report(
    pid: int | None, name: Cell, memory: Cell, kind: Cell, uuid: str | None, bus: str | None
) -> GpuProcess:
    """A process as the reports of ``-q`` and ``-q -x`` tell it, below the card of that UUID and bus id."""
    return with_reasons(
        GpuProcess(
            pid=pid,
            name=name.text,
            gpu_uuid=uuid,
            gpu_bus_id=bus,
            used_memory_mib=values.mib(memory.text) if memory.text else None,
            type=kind.text,
        ),
        {"name": name.reason, "used_memory_mib": memory.reason or "not understood", "type": kind.reason},
    )
