"""Times as ipmitool prints them: its releases and the locale decide the layout."""

from __future__ import annotations

import re
from datetime import datetime

_ZONE = re.compile(r"\s+(?!AM\b|PM\b)([A-Z]{2,5}|[+-]\d{4})$")
_UTC = ("UTC", "GMT", "+0000", "-0000")
_DATES = ("%m/%d/%Y", "%m/%d/%y", "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%d/%m/%y")
_LAYOUTS = (
    "%a %b %d %H:%M:%S %Y",
    "%a %d %b %Y %H:%M:%S",
    "%a %d %b %Y %I:%M:%S %p",
    *(f"{day} %H:%M:%S" for day in _DATES),
    *(f"{day} %I:%M:%S %p" for day in _DATES),
)
_UNSET_BEFORE = datetime(1995, 1, 1)
"""A BMC that was never told the time counts from 1970."""


def bmc_time(text: str) -> str | None:
    """ISO time of the BMC's own clock, with +00:00 where it says UTC; None for text that is no time, or a clock unset.

    >>> bmc_time("Sun Mar  6 15:13:42 2022"), bmc_time("08/28/26 07:12:06 UTC"), bmc_time("10/08/2026 06:02:12 PM EDT")
    ('2022-03-06T15:13:42', '2026-08-28T07:12:06+00:00', '2026-10-08T18:02:12')
    """
    plain = " ".join(text.split())
    zones = []
    while (match := _ZONE.search(plain)) is not None:
        zones.append(match.group(1))
        plain = plain[: match.start()]
    for layout in _LAYOUTS:
        try:
            moment = datetime.strptime(plain, layout)
        except ValueError:
            continue
        if moment < _UNSET_BEFORE:
            return None
        return moment.isoformat() + ("+00:00" if any(zone in _UTC for zone in zones) else "")
    return None
