"""Splits a saved output into the tool's own text and the notes that somebody wrote around it.

Notes are lines like ``# $ nvidia-smi -L`` (the command), ``# rc=15`` (its exit code) and other ``# `` lines before
the tool's first line. A file may hold several commands one after the other. What a tool prints itself with a
leading ``#`` (``nvidia-smi dmon``) is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_COMMAND = re.compile(r"^#\s*(?:-{2,}\s*)?\$\s+(?P<command>\S.*?)\s*$")
_RC = re.compile(r"^#\s*\(?\s*(?:rc|exit(?:[ _]?(?:code|status))?)\s*[=:]\s*(?P<rc>-?\d+)\s*\)?\s*$", re.IGNORECASE)
_GLUED_RC = re.compile(r"(?<=[^\s#])#\s?rc=(?P<rc>-?\d+)\s*$")
_RULE = re.compile(r"^#{4,}\s*$")
_NOTE = re.compile(r"^#(?:\s|$|!)")
_TOOL_HASH = re.compile(r"^#\s*(?:gpu|Idx|Date|YYYYMMDD|HH:MM:SS)\b")
"""Header lines of ``nvidia-smi dmon`` and ``pmon``: theirs, not a note."""


@dataclass(frozen=True)
class Block:
    """One command's output. command and rc are None where no note gave them; text keeps its line ends."""

    text: str
    command: str | None = None
    rc: int | None = None
    notes: list[str] = field(default_factory=list)


class _Builder:
    """Collects lines into blocks; a command note, or any note after an exit code, starts the next block."""

    def __init__(self) -> None:
        self.done: list[Block] = []
        self._reset()

    def _reset(self) -> None:
        self.command: str | None = None
        self.rc: int | None = None
        self.notes: list[str] = []
        self.lines: list[str] = []

    @property
    def has_text(self) -> bool:
        return any(line.strip() for line in self.lines)

    @property
    def is_closed(self) -> bool:
        return self.rc is not None

    def close(self) -> None:
        if self.has_text or self.command is not None or self.rc is not None or self.notes:
            text = "\n".join(self.lines).strip("\n")
            self.done.append(Block(text + "\n" if text else "", self.command, self.rc, self.notes))
        self._reset()

    def take_command(self, command: str) -> None:
        if self.has_text or self.command is not None or self.is_closed:
            self.close()
        self.command = command

    def take_rc(self, rc: int) -> None:
        if self.is_closed:
            self.close()
        self.rc = rc

    def take_note(self, note: str) -> None:
        if self.is_closed:
            self.close()
        self.notes.append(note)

    def take_line(self, line: str) -> None:
        if self.is_closed and line.strip():
            self.close()
        self.lines.append(line)


def blocks(capture: str) -> list[Block]:
    """The commands of a capture in order; text without any note is one block.

    >>> [(b.command, b.rc, b.text) for b in blocks("# $ nvidia-smi -L\\nNo devices found.\\n# rc=6\\n")]
    [('nvidia-smi -L', 6, 'No devices found.\\n')]
    """
    lines = capture.split("\n")
    last_text = max((n for n, line in enumerate(lines) if line.strip()), default=-1)
    builder = _Builder()
    for number, line in enumerate(lines):
        command, rc = _COMMAND.match(line), _RC.match(line)
        if command:
            builder.take_command(command.group("command"))
        elif rc:
            builder.take_rc(int(rc.group("rc")))
        elif _RULE.match(line):
            if builder.has_text:
                builder.close()
        elif _NOTE.match(line) and not _TOOL_HASH.match(line) and (not builder.has_text or builder.is_closed):
            builder.take_note(line.lstrip("#").strip())
        else:
            glued = _GLUED_RC.search(line)
            ends_here = glued and (number == last_text or _starts_block(lines, number + 1))
            builder.take_line(line[: glued.start()] if glued and ends_here else line)
            if glued and ends_here:
                builder.take_rc(int(glued.group("rc")))
    builder.close()
    return builder.done or [Block("")]


def _starts_block(lines: list[str], start: int) -> bool:
    """Whether the next line that is not blank is a command note."""
    for line in lines[start:]:
        if line.strip():
            return _COMMAND.match(line) is not None
    return False
