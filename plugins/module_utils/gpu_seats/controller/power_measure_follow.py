"""Follows a measurement from the controller: a line every few seconds, the clamp meter asked for at the top."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..apply.power_measure.lease import ASKING, GO_ON
from ..apply.power_measure.plan import MeasurePlan
from ..observe.power_log import epoch_of
from ..plan.power.ladder import Ladder
from ..plan.power.measurement import Clamp

Look = Callable[[str], Mapping[str, Any]]
"""word -> the answer of power_measure_run's look. Raises NoContactError."""
AskClamp = Callable[[str, float], "Clamp | None"]
"""(what to ask, seconds to wait) -> what a person said, None for nothing."""


class NoContactError(Exception):
    """The host could not be reached this time."""


class MeasureLostError(Exception):
    """The host was not reached for so long that the load has ended by itself."""


@dataclass(frozen=True)
class Waits:
    """poll_s: between two looks. progress_s: between two lines. start_s: how long the unit may take to begin."""

    poll_s: float = 5.0
    progress_s: float = 10.0
    start_s: float = 45.0


@dataclass(frozen=True)
class Followed:
    """The last look, and the clamp meter's reading if a person gave one."""

    look: Mapping[str, Any]
    clamp: Clamp | None = None


def follow(
    plan: MeasurePlan,
    ladder: Ladder,
    look: Look,
    show: Callable[[str], None],
    ask_clamp: AskClamp | None = None,
    waits: Waits = Waits(),
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Followed:
    """Looks until the unit has ended. Raises MeasureLostError when there was no contact for longer than the lease."""
    began = last_contact = clock()
    told = _Told(plan, ladder, show, waits.progress_s, began - waits.progress_s)
    clamp, word, asked = None, "", ask_clamp is None
    while True:
        try:
            seen = look(word)
        except NoContactError as error:
            _tell_silence(plan, clock() - last_contact, error, show)
            sleep(waits.poll_s)
            continue
        last_contact = clock()
        may_have_begun = seen["started"] or last_contact - began > waits.start_s
        if seen["gone"] or (not seen["running"] and may_have_begun):
            return Followed(seen, clamp)
        told.tell(seen, last_contact)
        if not asked and ask_clamp is not None and _is_top_held(plan, seen):
            asked, word = True, GO_ON
            clamp = _clamp_reading(plan, seen, look, ask_clamp)
            continue
        sleep(waits.poll_s)


@dataclass
class _Told:
    """What whoever waits was shown: a line when a step begins, its figures every few seconds."""

    plan: MeasurePlan
    ladder: Ladder
    show: Callable[[str], None]
    every_s: float
    at: float
    step: int | None = None

    def tell(self, seen: Mapping[str, Any], now: float) -> None:
        number = seen["step"]
        if number is not None and number != self.step:
            self.show(step_text(self.plan, self.ladder, number))
            self.step, self.at = number, now
        elif seen["sample"] and now - self.at >= self.every_s:
            self.show(progress_text(self.plan, seen))
            self.at = now


def _tell_silence(plan: MeasurePlan, lost_s: float, error: Exception, show: Callable[[str], None]) -> None:
    """Raises MeasureLostError once the load has ended by itself."""
    if lost_s > plan.times.lease_s:
        raise MeasureLostError(_lost_text(plan, lost_s, error)) from error
    show(f"{plan.host}  no contact for {lost_s:.0f} s; the load ends after {plan.times.lease_s:.0f} s of it")


def _clamp_reading(plan: MeasurePlan, seen: Mapping[str, Any], look: Look, ask: AskClamp) -> Clamp | None:
    """What a person reads while the top is held, with the time of the host's clock; no contact is no reason to fail."""
    with contextlib.suppress(NoContactError):
        look(ASKING)
    clamp = ask(clamp_question(seen), max(10.0, plan.times.top_s + plan.times.hold_s - 15.0))
    if clamp is None:
        return None
    # the BMC's figures of that moment are what it is compared with
    sample = seen["sample"]
    with contextlib.suppress(NoContactError):
        sample = look(GO_ON)["sample"] or sample
    return replace(clamp, at=str(sample["t"]))


def step_text(plan: MeasurePlan, ladder: Ladder, number: int) -> str:
    """``fv-ml1  step 2 of 4: cards 0, 1 loaded: host 950 W (up to 1045 W); fv-20a ...``"""
    rung = next((one for one in ladder.rungs if one.number == number), None)
    said = rung.text if rung is not None else ""
    return f"{plan.host}  step {number} of {plan.steps[-1].number}, at worst with {said}"


def progress_text(plan: MeasurePlan, seen: Mapping[str, Any]) -> str:
    """``fv-ml1  step 2 of 4  hold, 24 s  cards 541 W  BMC 942 W  at most 1036 of 1770 W``"""
    sample = seen["sample"]
    since, now = epoch_of(seen["step_since"]), epoch_of(sample["t"])
    seconds = f", {now - since:.0f} s" if since is not None and now is not None else ""
    return "  ".join(
        [
            plan.host,
            f"step {seen['step']} of {plan.steps[-1].number}",
            f"{seen['phase']}{seconds}",
            f"cards {_watts(sample['cards_watts'])}",
            f"BMC {_watts(sample['bmc_watts'])}",
            f"at most {_watts(sample['total_watts'])} of {plan.limits.stop_at_watts:.0f} W",
        ]
    )


def resume_text(plan: MeasurePlan, prospect: Mapping[str, Any]) -> str:
    """``fv-ml1 resumes at step 3 of 4; step 1 was measured at ..., step 2 at ...``; what starts anew says so."""
    top = plan.steps[-1].number
    if not prospect["resumes"]:
        start = f"{plan.host} starts at step {plan.steps[0].number} of {top}; samples go to {prospect['log']}"
        return f"{start}\n{_interrupt_text(plan)}"
    done = ", ".join(f"step {number} at {at}" for number, at in prospect["done"].items()) or "none"
    stopped = prospect.get("stopped_before")
    why = f"; it was stopped then: {stopped['message']}" if stopped else ""
    return (
        f"{plan.host} resumes at step {prospect['first_step']} of {top}; measured already: {done}{why}; samples go on"
        f" in {prospect['log']} (-e fresh=true begins anew)\n{_interrupt_text(plan)}"
    )


def _interrupt_text(plan: MeasurePlan) -> str:
    """Told before: after Ctrl-C Ansible shows nothing more of what a task says."""
    return f"{plan.host} Ctrl-C ends the load at once; what was measured is kept, and the next run resumes"


def broken_off_text(plan: MeasurePlan, is_ended: bool) -> str:
    """What an interrupted run leaves. is_ended: the host said that the load has ended."""
    if is_ended:
        return f"{plan.host} broken off: the load has ended, what was measured is kept, and the next run resumes"
    return (
        f"{plan.host} broken off, and the host could not be told: its load ends by itself within"
        f" {plan.times.lease_s:.0f} s; the next run resumes"
    )


def clamp_question(seen: Mapping[str, Any]) -> str:
    sample = seen["sample"]
    return (
        f"Highest step: BMC {_watts(sample['bmc_watts'])}, cards {_watts(sample['cards_watts'])}. Read the clamp"
        " meter now and type its watts (amps x volts), and around what it is (host, or a device of the site), like"
        " '1480 host'; Enter alone for none"
    )


def clamp_answer(text: str) -> Clamp | None:
    """``1480 host`` as typed; None for nothing. Raises ValueError for what is neither."""
    words = text.replace("W", " ").split()
    if not words:
        return None
    try:
        watts = float(words[0])
    except ValueError:
        raise ValueError(f"{text!r} does not begin with watts") from None
    if not 0 < watts < 1e6 or len(words) > 2:
        raise ValueError(f"{text!r} is not like '1480 host'")
    return Clamp(watts, words[1] if len(words) == 2 else "")


def unexplained_stop(look: Mapping[str, Any]) -> dict[str, Any]:
    """Why a unit is gone that left no word: killed, ended by its time limit, or the host was booted meanwhile."""
    if look["gone"]:
        message = (
            "the host was booted while it was measured, which ended the load; if nobody did that, suspect its power"
        )
        return {"code": "power.measure_ended", "message": message, "evidence": {}}
    message = f"the measurement is gone and did not say why (unit {look['unit']}); its load is gone with it"
    return {"code": "power.measure_ended", "message": message, "evidence": {"unit": look["unit"]}}


def _is_top_held(plan: MeasurePlan, seen: Mapping[str, Any]) -> bool:
    return bool(seen["running"]) and seen["step"] == plan.steps[-1].number and seen["phase"] == "hold"


def _watts(value: float | None) -> str:
    return "no value" if value is None else f"{value:.0f} W"


def _lost_text(plan: MeasurePlan, lost_s: float, error: Exception) -> str:
    return (
        f"{plan.host} was not reached for {lost_s:.0f} s ({error}): its load has ended by itself by now if the host is"
        " up; if the whole site is silent, suspect its power first. What was sampled is on its pool, and the next run"
        " goes on from there"
    )


__all__ = [
    "Followed",
    "MeasureLostError",
    "NoContactError",
    "Waits",
    "broken_off_text",
    "clamp_answer",
    "clamp_question",
    "follow",
    "progress_text",
    "resume_text",
    "step_text",
    "unexplained_stop",
]
