"""What an answer to an IPMI request is, and its completion codes."""

from __future__ import annotations

from typing import Callable

Reply = tuple[int, bytes]
"""Completion code, data."""
Handler = Callable[[bytes], Reply]
Commands = dict[tuple[int, int], Handler]
"""(network function, command) -> what answers it."""

OK = 0x00
NODE_BUSY = 0xC0
INVALID_COMMAND = 0xC1
WRONG_LENGTH = 0xC7
OUT_OF_RANGE = 0xC9
TOO_MANY_BYTES = 0xCA
NOT_PRESENT = 0xCB
INVALID_FIELD = 0xCC
NOT_IN_THIS_STATE = 0xD5
