"""One sample of what a host draws: every card by nvidia-smi and the whole machine by its BMC.

Both are asked beside each other with limits of their own. What does not answer is no value with its reason, never 0 W,
and does not keep the other from being written down.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ..findings import Finding
from .command import Run, command_findings
from .nvidia.card_query import CARD_IS_LOST, query_cards
from .nvidia.cards import GpuCard
from .power_log import SAMPLE, time_text

ReadBmc = Callable[[], Mapping[str, Any]]
"""Gives {watts, source, reason} of one reading, watts None with the reason."""

CARDS_LIMIT_S = 4.0
_FIELDS = "index,uuid,power.draw,enforced.power.limit,power.limit"


@dataclass(frozen=True)
class CardDraw:
    """One card now. draw_watts and limit_watts None: no value, `why` then says so and `code` is the finding's."""

    uuid: str
    index: int | None = None
    draw_watts: float | None = None
    limit_watts: float | None = None
    why: str = ""
    code: str = ""

    def as_record(self) -> dict[str, Any]:
        """As it stands in a sample."""
        record: dict[str, Any] = {"uuid": self.uuid, "draw_watts": self.draw_watts, "limit_watts": self.limit_watts}
        if self.why:
            record["why"] = self.why
        if self.code:
            record["code"] = self.code
        return record


def card_draws(run: Run, uuids: Sequence[str], limit_s: float = CARDS_LIMIT_S) -> list[CardDraw]:
    """Draw and enforced limit of each of `uuids`, in their order; of all cards there are where `uuids` is empty.

    A card that can't be opened ends the whole query, so the cards are then asked one by one.
    """
    seen, findings = _asked(run, [], limit_s)
    wanted = list(uuids) or list(seen)
    missing = [uuid for uuid in wanted if uuid not in seen]
    if not missing:
        return [seen[uuid] for uuid in wanted]
    stopped = next((one for one in findings if one.code in CARD_IS_LOST), None)
    if stopped is None:
        return [seen.get(uuid) or _without_value(uuid, findings) for uuid in wanted]
    with ThreadPoolExecutor(len(missing)) as beside:
        answers = list(beside.map(lambda uuid: _asked(run, ["-i", uuid], limit_s), missing))
    for uuid, (alone, of_one) in zip(missing, answers):
        seen[uuid] = alone.get(uuid) or _without_value(uuid, of_one)
    return [seen[uuid] for uuid in wanted]


def _asked(run: Run, selection: Sequence[str], limit_s: float) -> tuple[dict[str, CardDraw], list[Finding]]:
    parsed, ended = query_cards(run, _FIELDS, selection, limit_s)
    findings = [*command_findings(ended, "tool:nvidia-smi"), *parsed.findings]
    return {card.uuid: _draw(card) for card in parsed.of(GpuCard) if card.uuid is not None}, findings


def _draw(card: GpuCard) -> CardDraw:
    why = []
    if card.power_draw_watts is None:
        why.append(f"draw: {card.unknown.get('power_draw_watts', 'no value')}")
    if card.effective_limit_watts is None:
        why.append(f"limit: {card.no_limit_reason}")
    return CardDraw(str(card.uuid), card.index, card.power_draw_watts, card.effective_limit_watts, "; ".join(why))


def _without_value(uuid: str, findings: Sequence[Finding]) -> CardDraw:
    told = next((one for one in findings if one.fails), None) or next(iter(findings), None)
    if told is None:
        return CardDraw(uuid, why="nvidia-smi does not list it", code="gpu.not_listed")
    return CardDraw(uuid, why=told.message, code=told.code)


class BmcWatch:
    """Reads the BMC again and again in a thread of its own: a slow one must not slow the look at the cards."""

    def __init__(self, read: ReadBmc, every_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._read = read
        self._every_s = every_s
        self._clock = clock
        self._ended = threading.Event()
        self._newest: tuple[float, Mapping[str, Any]] | None = None
        self._thread = threading.Thread(target=self._run, daemon=True, name="bmc-watch")
        self._thread.start()

    def latest(self, max_age_s: float) -> dict[str, Any]:
        """`bmc_watts` and `bmc_source` of the newest answer, or None with `bmc_why`; nothing older than `max_age_s`."""
        newest = self._newest
        if newest is None:
            return _no_bmc("it has not answered yet")
        at, said = newest
        age_s = self._clock() - at
        if age_s > max_age_s:
            return _no_bmc(f"no answer for {age_s:.0f} s")
        if said.get("watts") is None:
            return _no_bmc(str(said.get("reason") or "it gave no watts"))
        return {"bmc_watts": float(said["watts"]), "bmc_source": said.get("source")}

    def wait_for_first(self, limit_s: float) -> None:
        """Until it has answered once, in words or in watts."""
        until = self._clock() + limit_s
        while self._newest is None and self._clock() < until:
            time.sleep(0.05)

    def close(self) -> None:
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.is_set():
            began = self._clock()
            try:
                said: Mapping[str, Any] = self._read()
            except Exception as error:
                # what breaks the reader must not end the watch of the cards
                said = {"watts": None, "reason": f"{type(error).__name__}: {error}"}
            self._newest = (self._clock(), said)
            self._ended.wait(max(0.2, self._every_s - (self._clock() - began)))


def _no_bmc(why: str) -> dict[str, Any]:
    return {"bmc_watts": None, "bmc_source": None, "bmc_why": why}


class Sampler:
    """Makes the records of the file. uuids: the cards of every sample, all there are where empty."""

    def __init__(
        self,
        run: Run,
        uuids: Sequence[str],
        bmc: BmcWatch | None = None,
        bmc_max_age_s: float = 15.0,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._run = run
        self._uuids = list(uuids)
        self._bmc = bmc
        self._bmc_max_age_s = bmc_max_age_s
        self._wall = wall

    def sample(self, **more: Any) -> dict[str, Any]:
        """One sample. more: further members of the record (step, phase, note)."""
        draws = card_draws(self._run, self._uuids)
        known = [one.draw_watts for one in draws if one.draw_watts is not None]
        return {
            "kind": SAMPLE,
            "t": time_text(self._wall()),
            "cards": [one.as_record() for one in draws],
            # a sum that lacks a card would read as a smaller draw
            "cards_watts": round(sum(known), 2) if draws and len(known) == len(draws) else None,
            **(self._bmc.latest(self._bmc_max_age_s) if self._bmc else _no_bmc("none is asked")),
            **more,
        }

    def close(self) -> None:
        if self._bmc:
            self._bmc.close()


__all__ = ["CARDS_LIMIT_S", "BmcWatch", "CardDraw", "ReadBmc", "Sampler", "card_draws"]
