"""What the verbs take with ``-e``, so that a misspelt one is not silently passed over."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from .declared_faults import PlayHostError

TAKEN = (
    "seat", "rollback", "pull", "take_over", "json", "prometheus", "host", "site", "picture", "load_command",
    "cards", "stop_at_watts", "clamp", "clamp_watts", "clamp_at", "fresh", "settle_s", "hold_s", "every_s", "out",
    "sampler",
)  # fmt: skip
_ALIKE = 0.75


def refuse_misspelt(names: Iterable[str]) -> None:
    """Raises PlayHostError for a name that is no variable of the verbs and close to one: ``rolback``.

    Other names are the operator's own variables.
    """
    for name in sorted(set(names) - set(TAKEN)):
        near = difflib.get_close_matches(name, TAKEN, 1, _ALIKE)
        if near:
            raise PlayHostError(f"-e {name}=...: is no variable of this verb; did you mean {near[0]}?")
