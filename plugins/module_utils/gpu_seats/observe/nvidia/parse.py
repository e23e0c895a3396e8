"""Recognises which of nvidia-smi's outputs a text is and reads it."""

from __future__ import annotations

import re
from dataclasses import replace

from ...findings import finding
from ..records import Parsed, Record, unrecognised, with_reasons
from .cards import GpuInventory
from .csv_query import asked_fields, header_fields, looks_like_rows, parse_csv
from .errors import take_errors
from .kernel_log import looks_like_kernel_log, parse_kernel_log
from .listing import (
    looks_like_listing,
    looks_like_monitor,
    looks_like_topology,
    parse_listing,
    parse_monitor,
    parse_topology,
)
from .settings import looks_like_settings, parse_settings, persistence_warning
from .text_query import looks_like_text_query, parse_text_query
from .versions import (
    looks_like_module_version,
    looks_like_smi_version,
    looks_like_table,
    parse_module_version,
    parse_smi_version,
    parse_table,
)
from .xml_query import parse_xml

_SEPARATOR = re.compile(r"^-{3}\s*$", re.MULTILINE)
_HELP = re.compile(r"^NVIDIA System Management Interface -- v", re.MULTILINE)
_BENIGN_RC = (0, None, 14)
"""14: a warning about the infoROM; the answer is valid."""

_SILENT = {
    4: ("gpu.permission_denied", "this user may not ask the driver (rc 4)"),
    9: ("gpu.driver_unreachable", "nvidia-smi can't reach the driver: it is not loaded (rc 9)"),
    12: ("gpu.driver_library_missing", "the NVML library is not installed or not found (rc 12)"),
    15: ("gpu.lost", "a card is lost (rc 15)"),
    124: ("command.hung", "nvidia-smi gave no answer in time (rc 124)"),
    126: ("command.failed", "nvidia-smi may not be executed (rc 126)"),
    127: ("command.missing", "nvidia-smi is not installed here (rc 127)"),
    137: ("command.hung", "nvidia-smi was killed (rc 137), most likely because it gave no answer in time"),
}
"""Exit codes that tell the fault when nothing was printed: RETURN VALUE of nvidia-smi(1), timeout(1), and the shell."""


def parse_nvidia_smi(
    text: str, rc: int | None = None, command: str | None = None, fields: list[str] | None = None
) -> Parsed:
    """Records and findings of one output.

    `fields` (or ``--query-gpu=`` in `command`) names the columns of rows without a header. A line of three dashes
    separates outputs that were saved one after the other.
    """
    parsed = Parsed()
    for part in _SEPARATOR.split(text):
        if part.strip():
            parsed.add(_part(part, rc, command, fields))
    if not parsed.records and not parsed.findings and not parsed.notes:
        parsed.add(_nothing(rc, command))
    return parsed


def _nothing(rc: int | None, command: str | None) -> Parsed:
    what, _ = asked_fields(command)
    if rc in _BENIGN_RC and what in ("compute-apps", "accounted-apps"):
        return Parsed(notes=["no process holds a card"])
    known = _SILENT.get(rc) if rc is not None else None
    if known is not None:
        inventory = with_reasons(GpuInventory("error"), {"card_count": known[1]}, "no answer")
        return Parsed([inventory], [finding(known[0], "tool:nvidia-smi", known[1], {"rc": rc})])
    ending = "" if rc is None else f", rc {rc}"
    message = f"nvidia-smi printed nothing{ending}: whether there are cards is unknown"
    return Parsed(findings=[finding("parse.unrecognised", "tool:nvidia-smi", message, {"rc": rc})])


def _part(text: str, rc: int | None, command: str | None, fields: list[str] | None) -> Parsed:
    if "<nvidia_smi_log" in text or text.lstrip().startswith("<?xml"):
        start = text.find("<?xml") if "<?xml" in text else text.find("<nvidia_smi_log")
        end = text.find("</nvidia_smi_log>")
        around = text[:start] + ("\n" + text[end + len("</nvidia_smi_log>") :] if end >= 0 else "")
        beside, document = take_errors(around).parsed, parse_xml(text[start:])
        if document.of(GpuInventory):
            beside.records = [one for one in beside.records if not isinstance(one, GpuInventory)]
        return beside.add(document)
    if looks_like_module_version(text):
        return parse_module_version(text)
    if looks_like_kernel_log(text):
        return parse_kernel_log(text)
    errors = take_errors(text)
    rest = "\n".join(errors.rest)
    if not rest.strip():
        return errors.parsed
    told = _beside_warnings(rest, rc, command, fields)
    if errors.parsed.findings and not told.records:
        told.findings = [one for one in told.findings if one.code != "parse.unrecognised"]
    if errors.hides_cards:
        told.records = [_uncounted(record) for record in told.records]
        if told.of(GpuInventory):
            errors.parsed.records = [one for one in errors.parsed.records if not isinstance(one, GpuInventory)]
    return errors.parsed.add(told)


def _beside_warnings(text: str, rc: int | None, command: str | None, fields: list[str] | None) -> Parsed:
    """The reading of text; a warning about persistence mode in front of rows is none of them."""
    lines = text.splitlines()
    warnings = [one for line in lines if (one := persistence_warning(line)) is not None]
    rows = [line for line in lines if persistence_warning(line) is None]
    if not warnings or looks_like_settings("\n".join(rows)) or not any(line.strip() for line in rows):
        return parse_settings(text) if warnings else _told(text, rc, command, fields)
    return Parsed(findings=warnings).add(_told("\n".join(rows), rc, command, fields))


def _uncounted(record: Record) -> Record:
    """Rows beside an error do not tell how many cards there are: the query stopped at the bad one."""
    if not isinstance(record, GpuInventory):
        return record
    reasons = {**record.unknown, "card_count": "the query stopped at an error"}
    return with_reasons(replace(record, card_count=None), reasons)


def _told(text: str, rc: int | None, command: str | None, fields: list[str] | None) -> Parsed:
    """The reading of text that is no error line, by the first form that fits."""
    if _HELP.search(text):
        return Parsed(notes=["the help text of nvidia-smi"])
    if looks_like_listing(text):
        return parse_listing(text)
    if looks_like_text_query(text):
        return parse_text_query(text)
    if looks_like_smi_version(text):
        return parse_smi_version(text)
    if looks_like_settings(text):
        return parse_settings(text)
    if looks_like_monitor(text):
        return parse_monitor(text)
    lines = [line for line in text.splitlines() if line.strip()]
    if header_fields(lines[0]) or ((asked_fields(command)[1] or fields) and "," in text) or looks_like_rows(lines):
        return parse_csv("\n".join(lines), command, fields)
    if looks_like_table(text):
        return parse_table(text)
    if looks_like_topology(text):
        return parse_topology(text)
    if (asked_fields(command)[1] or fields) and len(asked_fields(command)[1] or fields or []) == 1:
        return parse_csv("\n".join(lines), command, fields)
    return Parsed(findings=[unrecognised("nvidia-smi", text, rc)])
