"""Groups of a match, for the message of a cause."""

from __future__ import annotations


class NamedGroups(dict[str, str]):
    """For `str.format_map`: a group that did not take part in the match reads as "?"."""

    def __missing__(self, _key: str) -> str:
        return "?"
