"""What a module said when it could not run: its own words, not only that it failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..observe.records import first_line

_PRINTED = ("module_stderr", "module_stdout")
"""What a module, or the sudo before it, printed on the host instead of an answer."""
_SPOKEN = ("msg", "exception", *_PRINTED)
_SHOWN_LINES = 5
_LONGEST = 300


def failure_text(module: str, answer: Mapping[str, Any]) -> str:
    """``host_info failed: ...`` with the message and the last lines of what it printed on the host."""
    return f"{module} failed: " + ("\n".join(_last_lines(answer, _SPOKEN)) or "it said nothing")


def told_text(answer: Mapping[str, Any]) -> str:
    """The message of a failed task, whole, and the last lines of what was printed on the host instead of an answer."""
    return "\n".join([str(answer.get("msg") or "no reason given"), *_last_lines(answer, _PRINTED)])


def told_line(answer: Mapping[str, Any]) -> str:
    """The same in one line: where the message begins and what was printed last."""
    message = first_line(str(answer.get("msg") or ""), _LONGEST) or "it gives no reason"
    return ": ".join([message, *(first_line(line, _LONGEST) for line in _last_lines(answer, _PRINTED)[-1:])])


def _last_lines(answer: Mapping[str, Any], keys: Sequence[str]) -> list[str]:
    said = [str(answer[key]).strip() for key in keys if answer.get(key)]
    return list(dict.fromkeys(line for text in said for line in text.splitlines()[-_SHOWN_LINES:] if line.strip()))


__all__ = ["failure_text", "told_line", "told_text"]
