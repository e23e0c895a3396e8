"""The BMC as a sampler asks it: watts alone, by one try, again and again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .power_sample import ReadBmc


def bmc_reader(bmc: Mapping[str, Any]) -> ReadBmc | None:
    """Reads watts as `bmc` says (interface, address, port, username, password_file, cipher_suite).

    None where it says nothing, or interface ``none``. Raises ValueError for options that lead to no BMC.
    """
    if not bmc or bmc.get("interface") == "none":
        return None
    from .command import run
    from .ipmi.reading import bmc_access, power_reader

    return power_reader(run, bmc_access(bmc))


__all__ = ["bmc_reader"]
