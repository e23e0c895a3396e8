"""What a verb gives back, and how it refuses."""

from __future__ import annotations

from typing import Any, NamedTuple

FINE = 0
FINDINGS = 1
"""At least one finding of severity critical or error."""
USAGE = 2
"""The command line or a declaration is wrong: nothing was looked at."""
INTERRUPTED = 130
BROKEN_PIPE = 141
"""128 + SIGPIPE, what a shell reports of any filter whose reader has gone."""


class Answer(NamedTuple):
    """text: for people, ends with a newline. document: the same for `--json`."""

    text: str
    document: Any
    exit_code: int = FINE


class CommandError(Exception):
    """A refusal. message: what, value, what is allowed. problems: one text each where there are several."""

    def __init__(self, message: str, problems: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.problems = problems or []

    def as_dict(self) -> dict[str, Any]:
        return {"error": self.message, "problems": self.problems}
