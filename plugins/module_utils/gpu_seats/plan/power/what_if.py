"""``gpus=4,limit=300``: what is asked beyond the declaration, and the site as it would be then."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ...declare.problems import did_you_mean, listed
from ...units import UnitError, watts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_Value = TypeVar("_Value")
KEYS = {
    "gpus": "gpus=<number>: cards of the host",
    "limit": "limit=<watts>: limit of every card",
    "loaded": "loaded=<number>: cards under load",
    "host": "host=<host>: the host that the three are about",
    "in_use": "in_use=<device>+<device>: devices that come in use, with what feeds them",
    "out": "out=<name>+<name>: devices, hosts or loads that go",
    "load": "load=<name>:<watts> or load=<name>@<device>:<watts>: what a load takes; a new one hangs below the device",
}
_MOST_WATTS = 1e9
_LOAD = re.compile(r"^([a-z0-9][a-z0-9._/-]*)(?:@([a-z0-9][a-z0-9._-]*))?:(.+)$")


class WhatIfError(ValueError):
    """A question that cannot be asked; the message says what is allowed."""


class AskedLoad(NamedTuple):
    """device: where a new load hangs, None where the question does not say."""

    name: str
    watts: float
    device: str | None = None


@dataclass(frozen=True)
class WhatIf:
    """One question; everything that is None or empty stays as declared. text: the question as it was asked."""

    gpus: int | None = None
    limit_watts: float | None = None
    loaded: int | None = None
    host: str | None = None
    in_use: tuple[str, ...] = ()
    out: tuple[str, ...] = ()
    loads: tuple[AskedLoad, ...] = field(default_factory=tuple)
    text: str = ""

    def __bool__(self) -> bool:
        return self != WhatIf(text=self.text)

    @property
    def asks_of_cards(self) -> bool:
        return any(value is not None for value in (self.gpus, self.limit_watts, self.loaded))


def parse_what_if(text: str) -> WhatIf:
    """The question of a command line. Raises WhatIfError with what is allowed."""
    found: dict[str, str] = {}
    loads: dict[str, AskedLoad] = {}
    for part in (one.strip() for one in text.split(",")):
        if not part:
            continue
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise WhatIfError(f"{part!r} asks nothing: write key=value; allowed: {'; '.join(KEYS.values())}")
        if key not in KEYS:
            near = did_you_mean(key, KEYS)
            raise WhatIfError(
                f"{key!r} cannot be asked; {f'{near} ' if near else ''}allowed: {'; '.join(KEYS.values())}"
            )
        if key == "load":
            asked = _load(value)
            if asked.name in loads:
                raise WhatIfError(f"load={asked.name} is asked twice; ask it once")
            loads[asked.name] = asked
        elif key in found:
            raise WhatIfError(f"{key} is asked twice: {found[key]!r} and {value!r}; ask it once")
        else:
            found[key] = value
    both = sorted(set(_names(found.get("in_use", ""))) & set(_names(found.get("out", ""))))
    if both:
        raise WhatIfError(f"in_use={both[0]} and out={both[0]} ask for opposites; ask for one of them")
    return WhatIf(
        gpus=_asked(found, "gpus", _count),
        limit_watts=_asked(found, "limit", _limit),
        loaded=_asked(found, "loaded", _count),
        host=found.get("host"),
        in_use=_names(found.get("in_use", "")),
        out=_names(found.get("out", "")),
        loads=tuple(loads.values()),
        text=text.strip(),
    )


def _asked(found: dict[str, str], key: str, parse: Callable[[str, str], _Value]) -> _Value | None:
    return parse(key, found[key]) if key in found else None


def _count(key: str, value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,3}", value):
        raise WhatIfError(f"{key}={value} is no number of cards; allowed: 0 to 999")
    return int(value)


def _watts(asked: str, value: str) -> float:
    """Watts, with their unit or without: a question on a command line is about watts anyway. asked: ``limit=``."""
    text = f"{value}W" if re.fullmatch(r"[0-9]+(\.[0-9]+)?", value) else value
    try:
        found = watts(text)
    except UnitError:
        raise WhatIfError(f"{asked}{value} is no power; allowed: watts of 0 or more, like {asked}300W") from None
    if found > _MOST_WATTS:
        raise WhatIfError(f"{asked}{value} is more than a site has; allowed: up to {_MOST_WATTS:,.0f} W")
    return found


def _limit(key: str, value: str) -> float:
    """Watts of a card: at 0 W it would count as nothing, and none works there."""
    found = _watts(f"{key}=", value)
    if found == 0:
        raise WhatIfError(f"{key}={value} is no limit of a card; allowed: more than 0 W; out=<host> takes a host away")
    return found


def _names(value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in value.split("+") if name.strip()))


def _load(value: str) -> AskedLoad:
    match = _LOAD.match(value)
    if match is None:
        raise WhatIfError(f"load={value} is no load with its watts; allowed: {KEYS['load']}")
    return AskedLoad(match.group(1), _watts(f"load={match.group(1)}:", match.group(3).strip()), match.group(2))


def unknown_name(key: str, name: str, known: Iterable[str]) -> WhatIfError:
    """The refusal of a name that the site does not have."""
    every = list(known)
    near = did_you_mean(name, every)
    return WhatIfError(f"{key}={name} names nothing of this site; {f'{near} ' if near else ''}allowed: {listed(every)}")
