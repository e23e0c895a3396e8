"""Errors that are the declaration's or the command line's, told apart from faults of this program."""

from __future__ import annotations

from ..declare.problems import DeclarationError
from ..declare.project import ProjectNotFoundError
from ..render.refusal import RenderError


class PlayHostError(Exception):
    """The named seats stand on a host that this play cannot reach; the message says which and why."""


REFUSALS = (DeclarationError, ProjectNotFoundError, RenderError, PlayHostError)
"""What a plugin turns into a plain task failure; anything else keeps its traceback."""


def refusal_of(error: Exception) -> str:
    """The message for the operator."""
    return f"refused, nothing was touched:\n{error}"
