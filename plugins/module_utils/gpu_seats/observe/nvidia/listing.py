"""``nvidia-smi -L``, ``topo -m``, ``dmon`` and ``pmon``: short lists of cards and what runs on them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ...findings import finding
from ..records import Parsed, Record, with_reasons
from . import values
from .cards import GpuCard, GpuInventory, GpuProcess, subject_of
from .values import cell

_GPU = re.compile(
    r"^GPU\s+(?P<index>\d+)\s*:\s*(?P<name>.*?)\s*\((?:UUID|uuid):\s*(?P<uuid>[^)]*)\)(?:\s*\([^()]*\))*\s*$"
)
_MIG = re.compile(
    r"^\s+MIG\s+(?P<profile>\S+)\s+Device\s+(?P<index>\d+)\s*:\s*\((?:UUID|uuid):\s*(?P<uuid>[^)]*)\)\s*$"
)
_TOPOLOGY_HEADER = re.compile(r"^\s*(?:GPU\d+\s+)+.*(?:CPU Affinity|NUMA)|^\s+GPU0(?:\s|$)")


@dataclass(frozen=True)
class GpuLinks(Record):
    """How one card is joined to the others (``NV4``, ``NODE``, ``SYS`` ...) and to the CPUs."""

    kind: ClassVar[str] = "gpu_links"
    index: int
    links: dict[str, str] = field(default_factory=dict)
    affinity: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class GpuSample(Record):
    """One row of ``dmon``: printed values by column name, None where the tool printed ``-``."""

    kind: ClassVar[str] = "gpu_sample"
    index: int | None
    values: dict[str, str | None]


def looks_like_listing(text: str) -> bool:
    return any(_GPU.match(line) for line in text.splitlines())


def parse_listing(text: str) -> Parsed:
    """The cards of ``-L`` with index and UUID; MIG devices go to the card above them."""
    parsed, cards = Parsed(), list[GpuCard]()
    for line in text.splitlines():
        gpu, mig = _GPU.match(line), _MIG.match(line)
        if gpu:
            uuid = cell(gpu.group("uuid"))
            index = int(gpu.group("index")[:5])
            card = GpuCard(index=index, name=gpu.group("name") or None, uuid=uuid.text)
            cards.append(with_reasons(card, {"uuid": uuid.reason}, "not printed by -L"))
        elif mig and cards:
            device = {
                "index": int(mig.group("index")[:5]),
                "profile": mig.group("profile"),
                "uuid": mig.group("uuid").strip(),
            }
            cards[-1] = replace(cards[-1], mig_devices=[*cards[-1].mig_devices, device])
    parsed.records.append(with_reasons(GpuInventory("list", len(cards)), {}, "not printed by -L"))
    for card in cards:
        parsed.records.append(card)
        if card.mig_devices:
            message = "MIG is on: the whole card can't be given to a seat"
            evidence = {"uuid": card.uuid, "instances": len(card.mig_devices)}
            parsed.findings.append(finding("gpu.mig_enabled", subject_of(card), message, evidence))
        if card.uuid is None:
            message = "the card has no UUID: {}".format(card.unknown.get("uuid", ""))
            parsed.findings.append(finding("gpu.handle_error", subject_of(card), message, {"name": card.name}))
    return parsed


def looks_like_topology(text: str) -> bool:
    return any(_TOPOLOGY_HEADER.match(line) for line in text.splitlines()) and "|" not in text


def parse_topology(text: str) -> Parsed:
    """The rows of the matrix that belong to cards; network cards and the legend are left out."""
    parsed = Parsed()
    header: list[str] = []
    for line in text.splitlines():
        words = line.split()
        if not header and words and words[0] == "GPU0" and not re.match(r"^GPU0\s+X\b", line.strip()):
            header = [word for word in words if re.match(r"^(?:GPU\d+|NIC\d+|mlx\S+)$", word)]
        elif header and words and re.match(r"^GPU\d{1,5}$", words[0]):
            links = dict(zip(header, words[1 : len(header) + 1]))
            links.pop(words[0], None)
            parsed.records.append(GpuLinks(int(words[0][3:]), links, words[len(header) + 1 :]))
    return parsed


def looks_like_monitor(text: str) -> bool:
    return re.search(r"^#\s*(?:Date,?\s*Time,?\s*)?gpu\b", text, re.MULTILINE) is not None


def parse_monitor(text: str) -> Parsed:
    """Rows of ``dmon`` (samples) and ``pmon`` (processes) by their ``# gpu`` header, also with ``--format csv``."""
    parsed = Parsed()
    columns: list[str] = []
    is_csv = re.search(r"^#\s*(?:Date,\s*Time,\s*)?gpu,", text, re.MULTILINE) is not None
    for line in text.splitlines():
        words = line.replace(",", " ").split() if is_csv else line.split()
        if line.startswith("#"):
            names = [one for one in words if one != "#"]
            names[:1] = [one.lstrip("#") for one in names[:1]]
            columns = names if "gpu" in names else columns
        elif words and columns and len(words) >= len(columns) - 1:
            row: dict[str, str | None] = {name: (None if word == "-" else word) for name, word in zip(columns, words)}
            if "command" in row and len(words) >= len(columns):
                row["command"] = " ".join(words[columns.index("command") :])
            if row.get("pid", "") is not None:
                parsed.records.append(_monitored(row))
    return parsed


def _monitored(row: dict[str, str | None]) -> Record:
    text = row.get("gpu") or ""
    index = int(text) if text.isdigit() and len(text) < 6 else None
    if "pid" not in row:
        return GpuSample(index, {name: value for name, value in row.items() if name != "gpu"})
    pid = row["pid"] or ""
    found: dict[str, Any] = {
        "pid": int(pid) if pid.isdigit() and len(pid) < 12 else None,
        "name": row.get("command") if row.get("command") != "-" else None,
        "type": row.get("type"),
        "used_memory_mib": values.mib(row.get("fb") or ""),
    }
    reasons = dict.fromkeys(("pid", "name", "type", "used_memory_mib"), "printed as -")
    return with_reasons(GpuProcess(gpu_index=index, **found), reasons, "not printed by pmon")
