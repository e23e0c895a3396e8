"""Errors that are the declaration's or the command line's, told apart from faults of this program."""

from __future__ import annotations

from ..apply.atomic_files import FileError
from ..declare.problems import DeclarationError
from ..declare.project import ProjectNotFoundError
from ..render.refusal import RenderError


class PlayHostError(Exception):
    """The named seats stand on a host that this play cannot reach; the message says which and why."""


REFUSALS = (DeclarationError, ProjectNotFoundError, RenderError, PlayHostError)
"""What a plugin turns into a plain task failure; anything else keeps its traceback."""


def unwritten_of(error: FileError) -> str:
    """The message for a report that can't be written where -e picture, -e json or -e prometheus say."""
    return f"{error}; -e picture=DIR, -e json=FILE and -e prometheus=FILE say where reports go on this machine"


def refusal_of(error: Exception) -> str:
    """The message for the operator."""
    return f"refused, nothing was touched:\n{error}"
