"""What a module said when it could not run: its own words, not only that it failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SPOKEN = ("msg", "exception", "module_stderr", "module_stdout")
_SHOWN_LINES = 5


def failure_text(module: str, answer: Mapping[str, Any]) -> str:
    """``host_info failed: ...`` with the message and the last lines of what it printed on the host."""
    said = [
        str(answer[key]).strip() for key in ("msg", "exception", "module_stderr", "module_stdout") if answer.get(key)
    ]
    lines = [line for text in said for line in text.splitlines()[-_SHOWN_LINES:] if line.strip()]
    return f"{module} failed: " + ("\n".join(dict.fromkeys(lines)) or "it said nothing")
