"""The one error of rendering."""

from __future__ import annotations


class RenderError(ValueError):
    """A workload lacks what its engine or its secrets need; the message names stack, workload, key and remedy."""
