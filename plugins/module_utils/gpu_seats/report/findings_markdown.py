"""The findings reference, ``docs/findings.md``, made from the catalogue."""

from __future__ import annotations

from collections.abc import Mapping

from ..findings import SEVERITIES, FindingKind

_INTRODUCTION = """\
# Findings

One thing that is not as declared is a finding: a stable code, a severity, the subject, what was found, the
evidence, and what to do. This page is made from the catalogue by `make docs`; `gpu-seats explain CODE` prints one
entry.

`critical` and `error` make a run fail. `warning` and `info` do not.
"""


def findings_markdown(catalogue: Mapping[str, FindingKind]) -> str:
    """The whole page: an index by severity, then every code with its meaning and remedy, grouped by area."""
    parts = [_INTRODUCTION, _index(catalogue)]
    for area in sorted({code.partition(".")[0] for code in catalogue}):
        parts.append(f"## {area}\n")
        parts += [_entry(code, catalogue[code]) for code in sorted(catalogue) if code.partition(".")[0] == area]
    return "\n".join(parts)


def _index(catalogue: Mapping[str, FindingKind]) -> str:
    lines = ["| severity | codes |", "|---|---|"]
    for severity in SEVERITIES:
        codes = sorted(code for code, kind in catalogue.items() if kind.severity == severity)
        if codes:
            lines.append(f"| {severity} | {', '.join(f'[`{code}`](#{_anchor(code)})' for code in codes)} |")
    return "\n".join(lines) + "\n"


def _anchor(heading: str) -> str:
    """The id that GitHub and GitLab give a heading: dots fall away, underscores stay."""
    return heading.replace(".", "").lower()


def _entry(code: str, kind: FindingKind) -> str:
    return f"### {code}\n\n**{kind.severity}.** {kind.meaning}\n\nWhat to do: {kind.remedy}\n"
