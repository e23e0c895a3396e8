"""Plans a power measurement of one host: which cards, what load, which steps the planner allows, what is sent."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..apply.power_measure.loads import EXAMPLE, command_words, filled_in, remaining_s
from ..apply.power_measure.plan import Limits, Load, LoadedSeat, MeasuredCard, MeasurePlan, Step, Times
from ..apply.power_measure.unit import LOAD_PATH
from ..declare.fleet import Fleet
from ..declare.host import Host
from ..declare.problems import did_you_mean
from ..declare.seat import Seat
from ..findings import Finding, finding
from ..observe.nvidia.cards import LIMIT_TOLERANCE_WATTS
from ..plan.ports import link_port
from ..plan.power.caps import declared_caps
from ..plan.power.ladder import Ladder, LadderError, measure_ladder
from .declared_faults import PlayHostError

_LOADABLE = ("chat", "completion", "embedding", "rerank", "reward", "transcription")


@dataclass(frozen=True)
class MeasureRequest:
    """Options of the task. load_command: empty loads the cards by requests to their seats. cards: empty for all.

    folder: empty for the default on the host's pool. clamp_watts, clamp_at: a reading that is there already; ask: a
    person is asked for it while the highest step is held.
    """

    load_command: str = ""
    cards: Sequence[str] = ()
    requests: int = 16
    stop_at_watts: float | None = None
    folder: str = ""
    bmc: Mapping[str, Any] = field(default_factory=dict)
    times: Times = field(default_factory=Times)
    ask_s: float = 0.0


@dataclass(frozen=True)
class PlannedMeasurement:
    """ladder: with the planner's words for each step. plan: what the host runs. findings: told before it starts."""

    ladder: Ladder
    plan: MeasurePlan
    findings: list[Finding]


def default_folder(host: Host) -> str:
    """Below the first pool that is not the root, because what a crash took must not be on the disk that boots."""
    mounts = [pool.mount for pool in host.pools.values() if pool.mount and pool.mount != "/"]
    return f"{mounts[0].rstrip('/')}/gpu-seats/power" if mounts else "/var/lib/gpu-seats/power"


def bmc_options(host: Host, given: Mapping[str, Any]) -> dict[str, Any]:
    """How the host asks its own management controller: at the declared address where none is given.

    ``auto`` asks over the network where there is a login, else in-band (`observe.ipmi.access`).
    """
    declared = {"interface": "auto", **({"address": host.bmc.address} if host.bmc is not None else {})}
    return {**declared, **{key: value for key, value in given.items() if value not in (None, "")}}


def folder_of(host: Host, request: MeasureRequest) -> str:
    return request.folder or default_folder(host)


def questions(fleet: Fleet, host: Host, request: MeasureRequest) -> dict[str, Any]:
    """What the host is asked before anything is planned: arguments of power_measure_run's facts."""
    load, _, _ = _load(fleet, host, request, _wanted_cards(host, request.cards))
    return {
        "uuids": [one.uuid for one in measured_cards(host)],
        "bmc": dict(request.bmc),
        "folder": folder_of(host, request),
        "program": load.command[0] if load.command else "",
        "ports": [seat.port for seat in load.seats],
    }


def load_text(plan: MeasurePlan, facts: Mapping[str, Any]) -> str:
    """What will load the cards, as it will be run: what was typed may have lost words on its way."""
    if not plan.load.command:
        seats = ", ".join(f"{seat.seat} (card {'+'.join(seat.cards)}, port {seat.port})" for seat in plan.load.seats)
        return f"load: {plan.load.requests} requests at once to each of {seats}"
    loaded = [plan.card(card) for card in plan.steps[-1].cards]
    indices = {str(one["uuid"]): one.get("index") for one in facts["cards"]}
    first = next(step for step in plan.steps if step.cards)
    seconds = remaining_s(plan, first)
    words = shlex.join(filled_in(plan.load.command, loaded[0], indices.get(loaded[0].uuid), seconds))
    others = f", cards {', '.join(one.card for one in loaded[1:])} alike" if loaded[1:] else ""
    return f"load of card {loaded[0].card}{others}: {words}"


def measured_cards(host: Host) -> list[MeasuredCard]:
    """Every card of the host with its cap. Raises PlayHostError where one has no UUID or no cap is declared."""
    caps = declared_caps(host)
    if not caps:
        what = "no power.caps" if host.gpus else "no cards"
        raise PlayHostError(f"{host.host} declares {what}: nothing says up to where its load may be raised")
    without = [card for card, cap in caps.items() if cap.uuid is None]
    if without:
        raise PlayHostError(
            f"{host.host}: gpus.{without[0]} declares no uuid; cards are watched by it (nvidia-smi -L on the host)"
        )
    return [MeasuredCard(card, str(cap.uuid), cap.limit_watts) for card, cap in caps.items()]


def planned_measurement(
    fleet: Fleet, host: Host, request: MeasureRequest, facts: Mapping[str, Any]
) -> PlannedMeasurement:
    """The measurement as it may be run now. facts: of the module power_measure_run.

    Raises PlayHostError for options that lead nowhere, LadderError where the host or the planner speaks against any
    load.
    """
    cards = measured_cards(host)
    wanted = _wanted_cards(host, request.cards)
    load, groups, notes = _load(fleet, host, request, wanted)
    _refuse_unfit(host, cards, facts)
    _refuse_no_load(host, load, facts)
    enforced = _enforced(cards, facts)
    ladder = measure_ladder(fleet, host, groups, enforced, request.stop_at_watts)
    if len(ladder.rungs) < 2:
        raise LadderError(ladder.findings)
    steps = tuple(Step(rung.number, tuple(rung.cards), round(rung.host_watts, 1)) for rung in ladder.rungs)
    limits = Limits(
        stop_at_watts=round(ladder.stop_at_watts, 1),
        machine_watts=ladder.machine_watts,
        floor_watts=ladder.floor_watts,
        loss_factor=round(ladder.loss_factor, 4),
    )
    times = Times(**{**asdict(request.times), "top_s": request.ask_s})
    plan = MeasurePlan(host.host, folder_of(host, request), tuple(cards), steps, load, limits, times, dict(request.bmc))
    return PlannedMeasurement(ladder, plan, [*notes, *_pool_findings(host, plan.folder, facts), *ladder.findings])


def _pool_findings(host: Host, folder: str, facts: Mapping[str, Any]) -> list[Finding]:
    """A folder below a declared pool whose mount is not there."""
    mounts = [pool.mount for pool in host.pools.values() if pool.mount and pool.mount != "/"]
    meant = next((mount for mount in mounts if f"{folder}/".startswith(f"{mount.rstrip('/')}/")), None)
    if meant is None or str(facts["mount"]).startswith(meant):
        return []
    message = f"{folder} is on {facts['mount']}: no pool is mounted at {meant}"
    evidence = {"folder": folder, "mount": facts["mount"], "declared": meant}
    return [finding("power.log_not_on_pool", f"host:{host.host}", message, evidence)]


def _wanted_cards(host: Host, cards: Sequence[str]) -> list[str]:
    for card in cards:
        if card not in host.gpus:
            near = did_you_mean(card, host.gpus) or f"there are {', '.join(host.gpus)}"
            raise PlayHostError(f"cards={','.join(cards)}: {host.host} has no card {card}; {near}")
    return [card for card in host.gpus if not cards or card in cards]


def _load(
    fleet: Fleet, host: Host, request: MeasureRequest, wanted: Sequence[str]
) -> tuple[Load, list[list[str]], list[Finding]]:
    """What loads the cards, which cards come together, and what is left out."""
    if request.load_command:
        try:
            return Load(command_words(request.load_command)), [[card] for card in wanted], []
        except ValueError as error:
            raise PlayHostError(str(error)) from error
    seats = [seat for seat in _serving_seats(fleet, host) if set(seat.cards) & set(wanted)]
    groups: list[list[str]] = []
    for seat in seats:
        joined = [group for group in groups if set(group) & set(seat.cards)]
        groups = [group for group in groups if group not in joined]
        groups.append(sorted({*seat.cards, *(card for group in joined for card in group)}, key=list(host.gpus).index))
    loaded = {card for group in groups for card in group}
    if not loaded:
        raise PlayHostError(
            f"no serving seat of {host.host} runs on cards {', '.join(wanted)}, so requests load none of them; give "
            f"load_command, for example {EXAMPLE}"
        )
    idle = [card for card in wanted if card not in loaded]
    notes = []
    if idle:
        message = f"no serving seat runs on cards {', '.join(idle)}: they are watched and not loaded"
        notes.append(finding("power.load_weak", f"host:{host.host}", message, {"cards": idle}))
    groups.sort(key=lambda group: list(host.gpus).index(group[0]))
    return Load(seats=tuple(seats), requests=request.requests), groups, notes


def _serving_seats(fleet: Fleet, host: Host) -> list[LoadedSeat]:
    found = []
    for _, name, seat in fleet.seats(host.host):
        port = link_port(seat)
        if seat.state == "serving" and seat.gpus and seat.task in _LOADABLE and port is not None:
            found.append(LoadedSeat(name, tuple(seat.gpus), port, seat.task, _served_name(name, seat)))
    return found


def _served_name(name: str, seat: Seat) -> str:
    return seat.model.served_name or name


def _refuse_no_load(host: Host, load: Load, facts: Mapping[str, Any]) -> None:
    """Raises LadderError where the program of the load is not on the host, or a seat does not answer."""
    found, subject = [], f"host:{host.host}"
    if load.command and not facts["program"]:
        program = load.command[0]
        message = f"load_command: {program} is no program on {host.host} (looked for in {LOAD_PATH})"
        remedy = "Install it on the host, or give its full path."
        found.append(finding("power.measure_not_started", subject, message, {"program": program}, remedy))
    for seat in load.seats:
        said = facts["seats"].get(str(seat.port)) or {"answers": False, "said": "was not asked"}
        if not said["answers"]:
            message = f"seat {seat.seat} is declared to serve on port {seat.port}, and does not answer: {said['said']}"
            remedy = (
                "Bring the seat up (ansible-playbook deploy-seat.yml), leave its cards out (-e cards=...), or load with"
                f" a command: {EXAMPLE}"
            )
            evidence = {"seat": seat.seat, "port": seat.port, "said": said["said"]}
            found.append(finding("power.measure_not_started", f"{subject}/seat:{seat.seat}", message, evidence, remedy))
    if found:
        raise LadderError(found)


def _enforced(cards: Sequence[MeasuredCard], facts: Mapping[str, Any]) -> dict[str, float]:
    by_uuid = {one["uuid"]: one for one in facts["cards"]}
    limits = {one.card: by_uuid[one.uuid].get("limit_watts") for one in cards if one.uuid in by_uuid}
    return {card: watts for card, watts in limits.items() if watts is not None}


def _refuse_unfit(host: Host, cards: Sequence[MeasuredCard], facts: Mapping[str, Any]) -> None:
    """Raises LadderError for cards that cannot be watched or whose caps do not hold: every sum counts with the caps."""
    by_uuid = {one["uuid"]: one for one in facts["cards"]}
    found = []
    for card in cards:
        seen, subject = by_uuid.get(card.uuid) or {}, f"host:{host.host}/gpu:{card.card}"
        draw, limit = seen.get("draw_watts"), seen.get("limit_watts")
        facts_of_card = {"uuid": card.uuid, "draw_watts": draw, "limit_watts": limit, "cap_watts": card.cap_watts}
        if draw is None or limit is None:
            why = seen.get("why") or "nvidia-smi does not list it"
            message = f"card {card.card} of {host.host} cannot be watched ({why}), so no card is loaded"
            found.append(finding("power.measure_blind", subject, message, facts_of_card))
        elif limit > card.cap_watts + LIMIT_TOLERANCE_WATTS:
            message = f"card {card.card} of {host.host} enforces {limit:g} W, its cap is {card.cap_watts:g} W"
            found.append(finding("power.card_over_cap", subject, message, facts_of_card))
    if found:
        raise LadderError(found)


__all__ = [
    "MeasureRequest",
    "PlannedMeasurement",
    "bmc_options",
    "default_folder",
    "folder_of",
    "load_text",
    "measured_cards",
    "planned_measurement",
    "questions",
]
