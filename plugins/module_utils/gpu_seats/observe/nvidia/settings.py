"""What ``nvidia-smi -pl`` and ``-pm`` print. An exit code of 0 and "All done." are no proof: read the value back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from ...findings import Finding, finding
from ..records import Parsed, Record, unrecognised
from . import values

_GPU = rf"(?:GPU:?\s*(?P<bus>{values.BUS_ID}))"
_CHANGED = re.compile(rf"Power limit for {_GPU} was set to (?P<to>[\d.]+) W from (?P<from>[\d.]+) W", re.IGNORECASE)
_NOT_SUPPORTED = re.compile(
    r"(?:Changing|Setting) (?P<what>power (?:management )?limit|persistence mode) is not supported"
    rf"(?: in current scope)?(?: for| on)?\s*(?:{_GPU})?",
    re.IGNORECASE,
)
_OUT_OF_RANGE = re.compile(
    r"Provided power limit (?P<wanted>[\d.]+) W is not a valid power limit which should be between "
    rf"(?P<min>[\d.]+) W and (?P<max>[\d.]+) W(?: for)?\s*(?:{_GPU})?",
    re.IGNORECASE,
)
_FAILED = re.compile(
    rf"(?:Failed to set|Unable to set) (?P<what>power (?:management )?limit|persistence mode)"
    rf"(?: for {_GPU})?\s*:\s*(?P<reason>.*)",
    re.IGNORECASE,
)
_DENIED = re.compile(rf"does not have permission to (?P<what>.*?)(?: for {_GPU})?\.?\s*$", re.IGNORECASE)
_PERSISTENCE = re.compile(
    rf"(?P<verb>Enabled|Disabled) (?:Legacy )?persistence mode for {_GPU}|(?:Legacy )?Persistence mode is already "
    rf"(?P<already>Enabled|Disabled) for GPU:?\s*(?P<bus2>{values.BUS_ID})",
    re.IGNORECASE,
)
_PERSISTENCE_OFF = re.compile(
    r"Warning:\s*persistence mode is disabled on (?:this )?device"
    rf"(?:\s+(?:(?P<bus>{values.BUS_ID})|(?P<index>\d{{1,4}})\b))?",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"^(?:All done\.?|Treating as warning and moving on\.?|Terminating early due to previous errors?\.?)\s*$",
    re.IGNORECASE,
)
_ENDED_EARLY = re.compile(r"^Terminating early due to previous errors?\.?$", re.IGNORECASE)
_RESET = re.compile(r"^GPU \S+ was successfully reset")
_REFUSING = re.compile(
    r"\b(?:not|unable|fail(?:ed|s|ure)?|error|cannot|can't|invalid|refused|denied|lost|requires)\b", re.IGNORECASE
)
_WARNING_REST = re.compile(
    r"default as soon as driver unloads|cuda application terminates|switch to get more|enable persistence"
)


@dataclass(frozen=True)
class PowerLimitChange(Record):
    """A limit that nvidia-smi says it set. changed is False when it was the same before."""

    kind: ClassVar[str] = "power_limit_change"
    bus_id: str | None
    limit_watts: float
    before_watts: float
    changed: bool


@dataclass(frozen=True)
class PersistenceChange(Record):
    """Persistence mode of one card as nvidia-smi says it is now."""

    kind: ClassVar[str] = "persistence_change"
    bus_id: str | None
    enabled: bool
    changed: bool


def looks_like_settings(text: str) -> bool:
    return any(
        pattern.search(text) for pattern in (_CHANGED, _NOT_SUPPORTED, _OUT_OF_RANGE, _FAILED, _DENIED, _PERSISTENCE)
    ) or any(_CLOSING.match(line.strip()) for line in text.splitlines())


def persistence_warning(line: str) -> Finding | None:
    """The warning that a card's persistence mode is off; nvidia-smi prints it beside any answer."""
    match = _PERSISTENCE_OFF.search(line)
    if match is None:
        return None
    name = values.bus_id(match.group("bus")) or match.group("index")
    message = "persistence mode is off: the setting is lost when the driver unloads"
    return finding("gpu.persistence_off", f"gpu:{name}" if name else "tool:nvidia-smi", message, {"text": line})


def parse_settings(text: str) -> Parsed:
    """Changes as records, refusals as findings; "All done." with neither is a finding of its own."""
    parsed = Parsed()
    resets: list[str] = []
    others: list[str] = []
    lines = [one.strip() for one in text.splitlines() if one.strip()]
    for line in lines:
        record, problem = _change(line), _refusal(line)
        if record is not None:
            parsed.records.append(record)
        elif problem is not None:
            parsed.findings.append(problem)
        elif _RESET.search(line):
            resets.append(line)
        elif not _CLOSING.match(line) and not _WARNING_REST.search(line):
            others.append(line)
    parsed.notes = [*resets, *others]
    parsed.findings += _of_other_lines(others, bool(parsed.records or parsed.findings or resets))
    said_done = any(line.lower().startswith("all done") for line in lines)
    if said_done and not parsed.records and not parsed.findings and not resets:
        message = 'nvidia-smi printed "All done." but names no card that it changed'
        parsed.findings.append(
            finding("gpu.setting_no_effect", "tool:nvidia-smi", message, {"text": text.strip()[:200]})
        )
    if any(_ENDED_EARLY.match(line) for line in lines) and not parsed.findings:
        message = "nvidia-smi ended early because of an error that it did not name: some cards may not be set"
        parsed.findings.append(finding("command.failed", "tool:nvidia-smi", message, {"text": text.strip()[-200:]}))
    return parsed


def _of_other_lines(lines: list[str], is_answered: bool) -> list[Finding]:
    """A line that nobody knows is a refusal where it reads like one, or where nothing else was said."""
    told = [line for line in lines if _REFUSING.search(line) or not is_answered]
    return [unrecognised("nvidia-smi", told[0])] if told else []


def _change(line: str) -> Record | None:
    limit, persistence = _CHANGED.search(line), _PERSISTENCE.search(line)
    if limit:
        to, before = values.watts(limit.group("to")), values.watts(limit.group("from"))
        if to is not None and before is not None:
            return PowerLimitChange(values.bus_id(limit.group("bus")), to, before, to != before)
    if persistence:
        word = persistence.group("verb") or persistence.group("already")
        bus = values.bus_id(persistence.group("bus") or persistence.group("bus2"))
        return PersistenceChange(bus, word.lower() == "enabled", persistence.group("verb") is not None)
    return None


def _subject(match: re.Match[str]) -> str:
    return "gpu:%s" % (values.bus_id(match.groupdict().get("bus")) or "unknown")


def _refusal(line: str) -> Finding | None:
    """The finding for a line that says no."""
    evidence = {"text": line}
    match = _OUT_OF_RANGE.search(line)
    if match:
        wanted, low, high = (values.watts(match.group(name)) for name in ("wanted", "min", "max"))
        message = "a power limit of {} W is outside what the card allows, {} W to {} W".format(
            match.group("wanted"),
            match.group("min"),
            match.group("max"),
        )
        facts = {**evidence, "wanted_watts": wanted, "min_watts": low, "max_watts": high}
        return finding("gpu.power_limit_refused", _subject(match), message, facts)
    match = _NOT_SUPPORTED.search(line)
    if match:
        if match.group("what").lower() == "persistence mode":
            message = "could not set the persistence mode: not supported"
            return finding("gpu.persistence_refused", _subject(match), message, evidence)
        message = "power cap unsupported: this card's limit can't be changed, whatever exit code nvidia-smi ends with"
        return finding("gpu.power_limit_unsupported", _subject(match), message, evidence)
    match = _FAILED.search(line)
    if match:
        reason = match.group("reason").strip(" .") or "no reason given"
        code = _code_of(reason.lower(), match.group("what").lower())
        message = "could not set the {}: {}".format(match.group("what").lower(), reason)
        return finding(code, _subject(match), message, {**evidence, "reason": reason})
    match = _DENIED.search(line)
    if match:
        message = "this user may not {}".format(match.group("what"))
        return finding("gpu.permission_denied", _subject(match), message, evidence)
    return persistence_warning(line)


def _code_of(reason: str, what: str) -> str:
    """The code for why a card took no setting."""
    if "gpu is lost" in reason:
        return "gpu.lost"
    if "requires reset" in reason:
        return "gpu.reset_required"
    if "permission" in reason:
        return "gpu.permission_denied"
    if "persistence" in what:
        return "gpu.persistence_refused"
    return "gpu.power_limit_unsupported" if "not supported" in reason else "gpu.power_limit_refused"
