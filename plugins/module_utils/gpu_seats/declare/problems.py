"""What is wrong with a declaration: one record a fault, all of them raised at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Union

from ..findings import Finding, finding

Path = tuple[Union[str, int], ...]
"""Keys and list positions from the top of a declaration: ``("seats", "flash-next", "gpus", 0)``."""


@dataclass(frozen=True)
class Problem:
    """One fault of one file.

    file: as shown to the operator, relative to the project root. line: 1-based, None when the file has none
    (it is missing, or unreadable). key: dotted path inside the file. value: the text as written, or None.
    message: what is wrong. allowed: what may stand there. remedy: what to write instead.
    """

    file: str
    line: int | None
    key: str
    value: str | None
    message: str
    allowed: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        said = self.message if self.value is None else f"{self.value} {self.message}"
        allowed = f"allowed: {self.allowed}" if self.allowed else ""
        rest = [self.remedy, allowed] if self.remedy.startswith("did you mean") else [allowed, self.remedy]
        parts = [said, *(part for part in rest if part)]
        key = f"{self.key}: " if self.key else ""
        return " ".join(f"{place}: {key}{'; '.join(parts)}".split())  # one line, whatever was written

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "text": str(self)}


class DeclarationError(Exception):
    """The declarations cannot be used; `problems` holds every fault that was found, in file order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: list[Problem] = sorted(
            problems, key=lambda problem: (problem.file, problem.line or 0, problem.key)
        )
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @property
    def findings(self) -> list[Finding]:
        """The problems as findings, for reports that show faults of declarations beside faults of hosts."""
        return [
            finding("declaration.invalid", f"file:{problem.file}", str(problem), problem.as_dict(), problem.remedy)
            for problem in self.problems
        ]


def dotted(path: Sequence[str | int]) -> str:
    """``("seats", "x", "gpus", 0)`` -> ``"seats.x.gpus[0]"``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def nearest(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The known names most like `name`, best first; none when nothing is alike."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    found = difflib.get_close_matches(name.casefold(), list(by_folded), n=limit, cutoff=0.6)
    return [by_folded[folded] for folded in found]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``"did you mean flash-next?"``, or an empty text when no known name is alike."""
    names = nearest(name, known)
    return f"did you mean {' or '.join(names)}?" if names else ""


def listed(names: Iterable[str], limit: int = 40) -> str:
    """Names joined for a message, cut after `limit`."""
    every = list(names)
    shown = ", ".join(every[:limit])
    return f"{shown} and {len(every) - limit} more" if len(every) > limit else shown
