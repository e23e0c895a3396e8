"""Texts of nvidia-smi that say why there is no answer. They can stand alone or between valid rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Callable

from ...findings import Finding, finding
from ..records import Parsed, with_reasons
from . import values
from .cards import GpuInventory
from .versions import DriverVersion

_HANDLE = re.compile(
    rf"Unable to determine the device handle for GPU\s*(?:(?P<index>\d{{1,4}}):\s+)?"
    rf"(?P<bus>{values.BUS_ID}|\S+?)?\s*:\s*(?P<reason>.*)$",
    re.IGNORECASE,
)
_FIELD = re.compile(r"Field \"(?P<field>[^\"]*)\" is not a valid field to query", re.IGNORECASE)
_NVML = re.compile(r"Failed to (?:initialize|properly shut ?down) NVML:\s*(?P<reason>.*?)\.?\s*$", re.IGNORECASE)
_LIBRARY_VERSION = re.compile(r"NVML library version:\s*(?P<version>[\d.]+)", re.IGNORECASE)
_NO_DEVICES = re.compile(r"^No devices (?:were )?found\.?$", re.IGNORECASE)
_UNREACHABLE = re.compile(r"couldn'?t communicate with the NVIDIA driver", re.IGNORECASE)
_UNREACHABLE_REST = re.compile(
    r"^(?:Make sure that the latest NVIDIA driver is installed|This can also be happening if non-NVIDIA GPU"
    r"|latest NVIDIA driver is installed)",
    re.IGNORECASE,
)
_NO_LIBRARY = re.compile(
    r"couldn'?t find (?:the )?(?:libnvidia-ml\.so|nvml\.dll)|libnvidia-ml\.so\S*: cannot open shared object",
    re.IGNORECASE,
)
_NO_LIBRARY_REST = re.compile(
    r"^(?:Please make sure that the NVIDIA Display Driver|is properly installed|system\."
    r"|Please also try adding|installation\b)",
    re.IGNORECASE,
)
_INFOROM = re.compile(rf"WARNING:\s*infoROM is corrupted at gpu\s*(?P<bus>{values.BUS_ID})", re.IGNORECASE)
_MISSING = re.compile(
    r"nvidia-smi:? (?:command )?not found|exec: \"nvidia-smi\"|nvidia-smi: No such file"
    r"|No such file or directory: 'nvidia-smi'|not recognized as an internal",
    re.IGNORECASE,
)
_NO_PROC = re.compile(r"/proc/driver/nvidia/version:? ?'?: No such file", re.IGNORECASE)
_USAGE = re.compile(
    r"^(?:Option \S+ is not recognized|Invalid combination of input arguments|ERROR: Option"
    r"|Invalid argument|No .* option specified"
    r"|Missing .* argument|Please run 'nvidia-smi|Run 'nvidia-smi)",
    re.IGNORECASE,
)
_ACCESS = re.compile(r"GPU access blocked by the operating system", re.IGNORECASE)
_HUNG = re.compile(r"^(?:timeout: .*|.*(?:timed out|Timeout expired).*)$", re.IGNORECASE)
_CRASHED = re.compile(r"^(?:Segmentation fault.*|Killed|Aborted.*|Bus error.*|terminate called.*)$", re.IGNORECASE)
_NOT_FOUND = re.compile(
    r"^(?:No matching devices? found"
    r"|No devices (?:were )?found via .*|(?P<id>\S+): Not Found|Unable to find GPU .*)\.?$",
    re.IGNORECASE,
)


@dataclass
class ErrorTexts:
    """What the error lines of an output said, and the lines that are none."""

    parsed: Parsed = field(default_factory=Parsed)
    rest: list[str] = field(default_factory=list)
    says_no_devices: bool = False
    hides_cards: bool = False
    """An error that keeps the number of cards unknown."""


def take_errors(text: str) -> ErrorTexts:
    """Takes error lines out of `text`; what is left is for the other parsers."""
    texts = ErrorTexts()
    lines = text.splitlines()
    for number, line in enumerate(lines):
        stripped = line.strip()
        if not stripped or not _take_line(texts, stripped, lines, number):
            texts.rest.append(line)
    if texts.says_no_devices and not texts.hides_cards:
        texts.parsed.records.append(with_reasons(GpuInventory("error", 0), {}, "no card answers"))
        texts.parsed.findings.append(
            finding(
                "gpu.no_devices",
                "tool:nvidia-smi",
                "the driver runs but sees no card",
                {"text": "No devices were found"},
            )
        )
    elif texts.hides_cards:
        reason = texts.parsed.findings[0].message if texts.parsed.findings else "nvidia-smi could not ask"
        texts.parsed.records.append(with_reasons(GpuInventory("error"), {"card_count": reason}, "no answer"))
    return texts


def _take_line(texts: ErrorTexts, line: str, lines: list[str], number: int) -> bool:
    if _NO_DEVICES.match(line):
        texts.says_no_devices = True
        return True
    if _LIBRARY_VERSION.search(line):
        return any(_NVML.search(one) for one in lines[:number])
    if _UNREACHABLE_REST.match(line) or _NO_LIBRARY_REST.match(line):
        return any(_UNREACHABLE.search(one) or _NO_LIBRARY.search(one) for one in lines[:number])
    match = _NVML.search(line)
    if match:
        after = next((found for one in lines[number + 1 :] if (found := _LIBRARY_VERSION.search(one))), None)
        _take_nvml(texts, match.group("reason"), after.group("version").rstrip(".") if after else None, line)
        return True
    for pattern, make, hides in _LINES:
        match = pattern.search(line)
        if match:
            texts.parsed.findings.append(make(match, line))
            texts.hides_cards = texts.hides_cards or hides
            return True
    return False


def _take_nvml(texts: ErrorTexts, reason: str, library: str | None, line: str) -> None:
    """``Failed to initialize NVML: <reason>``: each reason has its own cause and cure."""
    texts.hides_cards = True
    low = reason.lower()
    evidence = {"text": line, "library": library}
    if "mismatch" in low:
        code, message = "gpu.driver_mismatch", "user space and the loaded kernel module are of different versions"
        if library:
            texts.parsed.records.append(
                with_reasons(
                    DriverVersion("nvml-error", library=library), {"driver": "read /proc/driver/nvidia/version"}
                )
            )
            message += f" (installed library: {library})"
    elif "unknown error" in low:
        code, message = (
            "gpu.container_lost_device",
            "NVML can't open the devices: a container lost its GPU, or a card hangs",
        )
    elif "permission" in low:
        code, message = "gpu.permission_denied", "this user may not ask the driver"
    elif "access blocked" in low:
        code, message = "gpu.access_blocked", "the operating system blocks access to the cards"
    elif "not found" in low:
        code, message = "gpu.driver_library_missing", "NVML was not found"
    else:
        code, message = "gpu.driver_unreachable", "NVML could not start: %s" % (reason or "no reason given")
    texts.parsed.findings.append(finding(code, "tool:nvidia-smi", message, evidence))


def _handle(match: re.Match[str], line: str) -> Finding:
    """A card whose handle can't be had; the bus ids here come with one to eight digits of domain."""
    reason = match.group("reason").strip()
    bus, index = values.bus_id(match.group("bus")), match.group("index")
    subject = "gpu:%s" % (bus or index or "unknown")
    evidence = {"bus_id": bus, "index": int(index) if index else None, "reason": reason, "text": line}
    low = reason.lower()
    if "is lost" in low or "unknown error" in low or not reason:
        message = "the card does not answer: %s; the others were not listed" % (reason.rstrip(".") or "no reason given")
        return finding("gpu.lost", subject, message, evidence)
    if "permission" in low:
        return finding("gpu.permission_denied", subject, "this user may not ask the card", evidence)
    if "access blocked" in low:
        return finding("gpu.access_blocked", subject, "the operating system blocks access to the card", evidence)
    if "reset" in low:
        return finding("gpu.reset_required", subject, "the card asks for a reset", evidence)
    return finding("gpu.handle_error", subject, f"the card could not be opened: {reason}", evidence)


def _simple(code: str, message: str, severity: str = "") -> Callable[[re.Match[str], str], Finding]:
    def make(_match: re.Match[str], line: str) -> Finding:
        return finding(code, "tool:nvidia-smi", message, {"text": line}, severity=severity)

    return make


def _unknown_field(match: re.Match[str], line: str) -> Finding:
    message = "this driver does not know the field {}; it refused the whole query".format(match.group("field"))
    return finding("gpu.query_field_unknown", "tool:nvidia-smi", message, {"field": match.group("field"), "text": line})


def _inforom(match: re.Match[str], line: str) -> Finding:
    bus = values.bus_id(match.group("bus"))
    return finding(
        "gpu.inforom_corrupted", f"gpu:{bus}", "the card's infoROM is corrupted", {"bus_id": bus, "text": line}
    )


_LINES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str], Finding], bool], ...] = (
    (_HANDLE, _handle, True),
    (_FIELD, _unknown_field, True),
    (_UNREACHABLE, _simple("gpu.driver_unreachable", "nvidia-smi can't reach the driver: it is not loaded"), True),
    (_NO_LIBRARY, _simple("gpu.driver_library_missing", "the NVML library is not installed or not found"), True),
    (_INFOROM, _inforom, False),
    (_MISSING, _simple("command.missing", "nvidia-smi is not installed here"), True),
    (_NO_PROC, _simple("gpu.driver_unreachable", "the NVIDIA kernel module is not loaded"), True),
    (_ACCESS, _simple("gpu.access_blocked", "the operating system blocks access to the cards"), True),
    (_NOT_FOUND, _simple("gpu.not_listed", "no card has the id that was asked for"), True),
    (_USAGE, _simple("gpu.query_refused", "nvidia-smi does not take these arguments"), True),
    (_HUNG, _simple("command.hung", "nvidia-smi gave no answer in time"), True),
    (_CRASHED, _simple("command.failed", "nvidia-smi ended in a crash"), True),
)
