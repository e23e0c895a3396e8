"""Watts: what each protective device carries at its worst, what gives first, and what would change it."""

from __future__ import annotations

from .admission import admission_findings
from .caps import DeclaredCap, declared_caps
from .site import SitePower, site_power
from .what_if import WhatIf, WhatIfError, parse_what_if

__all__ = [
    "DeclaredCap",
    "SitePower",
    "WhatIf",
    "WhatIfError",
    "admission_findings",
    "declared_caps",
    "parse_what_if",
    "site_power",
]
