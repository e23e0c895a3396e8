"""Follows a measurement from the controller: a line every few seconds, the clamp meter asked for at the top."""

from __future__ import annotations

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
    shown_at, shown_step, word = began - waits.progress_s, None, ""
    clamp: Clamp | None = None
    asked = ask_clamp is None
    while True:
        try:
            seen = look(word)
        except NoContactError as error:
            lost_s = clock() - last_contact
            if lost_s > plan.times.lease_s:
                raise MeasureLostError(_lost_text(plan, lost_s, error)) from error
            show(f"{plan.host}  no contact for {lost_s:.0f} s; the load ends after {plan.times.lease_s:.0f} s of it")
            sleep(waits.poll_s)
            continue
        last_contact = clock()
        if seen["gone"]:
            return Followed(seen, clamp)
        if not seen["running"] and (seen["started"] or last_contact - began > waits.start_s):
            return Followed(seen, clamp)
        if seen["step"] is not None and seen["step"] != shown_step:
            shown_step = seen["step"]
            show(step_text(plan, ladder, shown_step))
            shown_at = last_contact
        elif seen["sample"] and last_contact - shown_at >= waits.progress_s:
            show(progress_text(plan, seen))
            shown_at = last_contact
        if not asked and ask_clamp is not None and _is_top_held(plan, seen):
            asked = True
            look(ASKING)
            clamp = ask_clamp(clamp_question(seen), max(10.0, plan.times.top_s + plan.times.hold_s - 15.0))
            word = GO_ON
            if clamp is not None:
                # the host's clock counts: the BMC's figures of that moment are what it is compared with
                clamp = replace(clamp, at=str((look(word)["sample"] or seen["sample"])["t"]))
            continue
        sleep(waits.poll_s)


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
        return f"{plan.host} starts at step {plan.steps[0].number} of {top}; samples go to {prospect['log']}"
    done = ", ".join(f"step {number} at {at}" for number, at in prospect["done"].items()) or "none"
    stopped = prospect.get("stopped_before")
    why = f"; it was stopped then: {stopped['message']}" if stopped else ""
    return (
        f"{plan.host} resumes at step {prospect['first_step']} of {top}; measured already: {done}{why}; samples go on"
        f" in {prospect['log']} (-e fresh=true begins anew)"
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
    "clamp_answer",
    "clamp_question",
    "follow",
    "progress_text",
    "resume_text",
    "step_text",
]
