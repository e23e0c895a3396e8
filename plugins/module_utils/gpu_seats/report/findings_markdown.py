"""The findings reference, ``docs/findings.md``, made from the catalogue."""

from __future__ import annotations

from collections.abc import Mapping

from ..catalogue.kind import FindingKind

_INTRODUCTION = """\
# Findings

One thing that is not as declared is a finding: a stable code, a severity, the subject, what was found, the
evidence, and what to do. This page is made from the catalogue by `make docs`; `gpu-seats explain CODE` prints one
entry.

`playbooks/status.yml` and `gpu-seats` fail with `critical` and `error`. A deploy fails when it is refused or one of its
seats does not answer; what else is wrong on the host is shown and does not stop it.
"""


def findings_markdown(catalogue: Mapping[str, FindingKind]) -> str:
    """The whole page: the areas and the critical codes with links, then every code by area."""
    areas = sorted({_area(code) for code in catalogue})
    parts = [_INTRODUCTION, _index(catalogue, areas)]
    for area in areas:
        parts.append(f"## {area}\n")
        parts += [_entry(code, catalogue[code]) for code in sorted(catalogue) if _area(code) == area]
    return "\n".join(parts)


def _area(code: str) -> str:
    return code.partition(".")[0]


def _index(catalogue: Mapping[str, FindingKind], areas: list[str]) -> str:
    lines = [f"- [{area}](#{area}): {sum(_area(code) == area for code in catalogue)}" for area in areas]
    critical = [f"[`{code}`](#{_anchor(code)})" for code in sorted(catalogue) if catalogue[code].severity == "critical"]
    if critical:
        lines += ["", f"Critical: {', '.join(critical)}."]
    return "\n".join(lines) + "\n"


def _anchor(heading: str) -> str:
    """The id that GitHub and GitLab give a heading: dots fall away, underscores stay."""
    return heading.replace(".", "").lower()


def _entry(code: str, kind: FindingKind) -> str:
    return f"### {code}\n\n**{kind.severity}.** {kind.meaning}\n\nWhat to do: {kind.remedy}\n"
