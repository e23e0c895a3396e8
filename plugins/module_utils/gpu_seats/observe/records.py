"""What every parser hands back: records of what a tool said, findings, and the notes around its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, ClassVar, TypeVar

from ..findings import Finding, finding

NOT_PRINTED = "not in this output"
"""The reason of a field that the given form of the output does not carry at all."""

AnyRecord = TypeVar("AnyRecord", bound="Record")


@dataclass(frozen=True)
class Record:
    """Base of all observed records. `kind` names the record in dictionaries (key ``record``)."""

    kind: ClassVar[str] = "record"

    def as_dict(self) -> dict[str, Any]:
        return {"record": self.kind, **asdict(self)}


@dataclass
class Parsed:
    """What one parser found in one block of text."""

    records: list[Record] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, other: Parsed) -> Parsed:
        """Append what `other` holds, in order; returns self."""
        self.records.extend(other.records)
        self.findings.extend(other.findings)
        self.notes.extend(other.notes)
        return self

    def of(self, record_type: type[AnyRecord]) -> list[AnyRecord]:
        return [record for record in self.records if isinstance(record, record_type)]


@dataclass(frozen=True)
class Observation:
    """The answer of one tool's parser. records are dictionaries or records with `as_dict`.

    rc is the tool's exit code where the caller or a ``# rc=N`` note gave one, else None.
    """

    tool: str
    records: list[Record]
    findings: list[Finding]
    notes: list[str] = field(default_factory=list)
    rc: int | None = None

    def as_dict(self) -> dict[str, Any]:
        return {
            "tool": self.tool,
            "rc": self.rc,
            "records": [record.as_dict() for record in self.records],
            "findings": [one.as_dict() for one in self.findings],
            "notes": list(self.notes),
        }


def with_reasons(record: AnyRecord, reasons: dict[str, str], default: str = NOT_PRINTED) -> AnyRecord:
    """The record with an entry in `unknown` for each field that is None: its reason, else `default`."""
    unknown = {
        one.name: reasons.get(one.name, default)
        for one in fields(record)
        if one.name != "unknown" and getattr(record, one.name) is None
    }
    return replace(record, unknown=unknown)  # type: ignore[call-arg]


def unique(found: Iterable[Finding]) -> list[Finding]:
    """Findings without repeats of the same code, subject and message, first one kept."""
    seen: dict[tuple[str, str, str], Finding] = {}
    for one in found:
        seen.setdefault((one.code, one.subject, one.message), one)
    return list(seen.values())


def on_host(found: Iterable[Finding], host: str) -> list[Finding]:
    """Findings whose subject is put below ``host:<name>`` where they do not name a host yet."""
    return [
        one if one.subject.startswith("host:") else replace(one, subject=f"host:{host}/{one.subject}") for one in found
    ]


def first_line(text: str, limit: int = 160) -> str:
    """The first line that is not blank, cut to `limit` characters; the usual evidence of unknown text."""
    for line in text.splitlines():
        if line.strip():
            stripped = line.strip()
            return stripped if len(stripped) <= limit else stripped[: limit - 3] + "..."
    return ""


def unrecognised(tool: str, text: str, rc: int | None = None) -> Finding:
    """The finding for text that no form of `tool` prints, with its first line as evidence."""
    evidence: dict[str, Any] = {"first_line": first_line(text)}
    if rc is not None:
        evidence["rc"] = rc
    return finding(
        "parse.unrecognised",
        f"tool:{tool}",
        f"this is not output that {tool} is known to print: {first_line(text, 100)!r}",
        evidence,
    )
