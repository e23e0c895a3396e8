"""Driver versions: ``nvidia-smi --version``, ``/proc/driver/nvidia/version``, and the header of the default table."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from ...findings import Finding, finding
from ..records import Parsed, Record, with_reasons
from . import values
from .cards import subject_of

_SMI_VERSION = re.compile(
    r"^(?P<key>NVIDIA-SMI|NVML|DRIVER|CUDA|KMD|CUDA UMD) version\s*:\s*(?P<value>.*?)\s*$", re.IGNORECASE
)
_MODULE = re.compile(r"NVRM version:\s*(?P<text>.*)$|loading (?P<loading>NVIDIA UNIX .*)$")
_TABLE_HEADER = re.compile(
    r"NVIDIA-SMI\s+(?P<smi>[\d.]+)(?:.*?(?:Driver|KMD) Version:\s*(?P<driver>[\d.]+))?"
    r"(?:.*?CUDA (?:UMD )?Version:\s*(?P<cuda>[\d.]+))?"
)
_TABLE_CARD = re.compile(rf"^\|\s+(?P<index>\d{{1,4}})\s+\S.*?(?P<bus>{values.BUS_ID})")
_TABLE_ERROR = re.compile(r"ERR!|Unknown Error|GPU is lost|Insufficient Perm", re.IGNORECASE)


@dataclass(frozen=True)
class DriverVersion(Record):
    """Versions of one source (``smi-version``, ``kernel-module``, ``table``, ``nvml-error``).

    driver: the kernel driver. library: NVML in user space. flavour: ``open`` or ``closed`` kernel module.
    """

    kind: ClassVar[str] = "driver_version"
    source: str
    driver: str | None = None
    library: str | None = None
    smi: str | None = None
    cuda: str | None = None
    flavour: str | None = None
    unknown: dict[str, str] = field(default_factory=dict)


def looks_like_smi_version(text: str) -> bool:
    return re.search(r"^(?:NVIDIA-SMI|NVML|KMD) version\s*:", text, re.MULTILINE | re.IGNORECASE) is not None


def parse_smi_version(text: str) -> Parsed:
    """``--version``. Driver 610 prints ``Deprecated, see "KMD version" instead`` as DRIVER version."""
    printed = {
        match.group("key").upper(): match.group("value")
        for line in text.splitlines()
        if (match := _SMI_VERSION.match(line.strip()))
    }
    record = DriverVersion(
        "smi-version",
        driver=values.version(printed.get("KMD")) or values.version(printed.get("DRIVER")),
        library=values.version(printed.get("NVML")),
        smi=values.version(printed.get("NVIDIA-SMI")),
        cuda=values.version(printed.get("CUDA UMD")) or values.version(printed.get("CUDA")),
    )
    reasons = {"driver": printed.get("DRIVER", "not printed"), "cuda": printed.get("CUDA", "not printed")}
    return Parsed([with_reasons(record, reasons, "not printed by --version")])


def looks_like_module_version(text: str) -> bool:
    return "NVRM version:" in text


def parse_module_version(text: str) -> Parsed:
    """``/proc/driver/nvidia/version`` in the layout of the open and of the closed kernel module."""
    parsed = Parsed()
    for line in text.splitlines():
        match = _MODULE.search(line)
        if match:
            said = match.group("text") or match.group("loading") or ""
            record = DriverVersion(
                "kernel-module",
                driver=values.version(said),
                flavour="open" if "open kernel module" in said.lower() else "closed",
            )
            parsed.records.append(with_reasons(record, {"driver": said}, "not in /proc/driver/nvidia/version"))
    return parsed


def looks_like_table(text: str) -> bool:
    return _TABLE_HEADER.search(text) is not None or (
        re.search(r"^[|+]", text, re.MULTILINE) is not None and _table_rows(text)
    )


def _table_rows(text: str) -> bool:
    return any(
        _TABLE_CARD.match(line) or _TABLE_ERROR.search(line) for line in text.splitlines() if line.startswith("|")
    )


def parse_table(text: str) -> Parsed:
    """Only versions and error cells of the default table: it is made for people and changes with releases."""
    parsed = Parsed()
    header = _TABLE_HEADER.search(text)
    if header:
        record = DriverVersion("table", header.group("driver"), None, header.group("smi"), header.group("cuda"))
        parsed.records.append(with_reasons(record, {}, "not in the header of the table"))
    message = "the default table was given: cards are not read from it, its columns change and cut values"
    parsed.findings.append(
        finding("gpu.table_not_parsed", "tool:nvidia-smi", message, {"lines": len(text.splitlines())})
    )
    card: re.Match[str] | None = None
    broken: dict[str, Finding] = {}
    for line in text.splitlines():
        card = _TABLE_CARD.match(line) or (None if line.startswith("+") else card)
        error = _TABLE_ERROR.search(line)
        if error and line.startswith("|"):
            one = _error_cell(card, error.group(0), line)
            if one.code == "gpu.lost" or one.subject not in broken:
                broken[one.subject] = one
    parsed.findings.extend(broken.values())
    return parsed


def _error_cell(card: re.Match[str] | None, cell: str, line: str) -> Finding:
    index = int(card.group("index")) if card else None
    bus = values.bus_id(card.group("bus")) if card else None
    evidence = {"bus_id": bus, "cell": cell, "row": " ".join(line.split())}
    if "gpu is lost" in line.lower():
        return finding("gpu.lost", subject_of(index=index, bus=bus), "the table says that the card is lost", evidence)
    message = f"the table shows {cell} for this card: the driver could not read it"
    return finding("gpu.handle_error", subject_of(index=index, bus=bus), message, evidence)
