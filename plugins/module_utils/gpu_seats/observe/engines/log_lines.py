"""Log lines without what Docker, Compose, journald and vLLM put in front of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SERVICE = re.compile(r"^[A-Za-z0-9][\w.-]{0,80}\s{0,40}\|\s?")
_TIMESTAMP = re.compile(r"^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?\s")
_JOURNAL = re.compile(r"^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [\w./-]+(?:\[\d+\])?: ")
_PROCESS = re.compile(r"^\((?P<process>[\w.:-]+)(?:\s+pid=(?P<pid>\d+))?(?:,[^)]*)?\)\s?")
_VLLM = re.compile(
    r"^(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL)\s+(?P<clock>\d\d-\d\d \d\d:\d\d:\d\d)(?:[.,]\d+)?"
    r"(?:\s+\[?[\w./-]+\.(?:py|cpp|cu):\d+\]?:?)?\s?"
)
_PLAIN_LEVEL = re.compile(r"^(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL):\s+")


@dataclass(frozen=True)
class LogLine:
    """text is what the program wrote after all prefixes. level, clock and process are "" where none was there."""

    number: int
    text: str
    level: str = ""
    clock: str = ""
    process: str = ""


def bare_line(line: str) -> str:
    """A line without a Compose service name, Docker timestamps or a journal head."""
    for pattern in (_JOURNAL, _SERVICE, _TIMESTAMP, _SERVICE, _TIMESTAMP):
        match = pattern.match(line)
        if match:
            line = line[match.end() :]
    return line


def log_lines(text: str) -> Iterator[LogLine]:
    """The lines of a log with vLLM's own head taken off as well."""
    for number, printed in enumerate(text.splitlines(), 1):
        line, process = bare_line(printed[:4000]), ""
        while True:
            match = _PROCESS.match(line)
            if match is None:
                break
            process, line = match.group("process"), line[match.end() :]
        head = _VLLM.match(line) or _PLAIN_LEVEL.match(line)
        if head is None:
            yield LogLine(number, line, "", "", process)
        else:
            clock = head.groupdict().get("clock") or ""
            yield LogLine(number, line[head.end() :], head.group("level"), clock, process)


def seconds_between(start: str, end: str) -> float | None:
    """Seconds from one ``MM-DD HH:MM:SS`` to a later one; None where a clock is missing or runs backwards."""
    first, last = _seconds(start), _seconds(end)
    if first is None or last is None or last < first:
        return None
    return last - first


def _seconds(clock: str) -> float | None:
    match = re.match(r"^(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)$", clock)
    if match is None:
        return None
    month, day, hour, minute, second = (int(one) for one in match.groups())
    return float((((month * 31 + day) * 24 + hour) * 60 + minute) * 60 + second)
