"""From the record of a site's power (`plan.power`, `SitePower.as_dict`) to what is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .records import Device, Found, Load, Part, PowerTree, Reading
from .words import in_watts, listed, percent

_CARDS = re.compile(r"^(?P<count>\d+) (?P<idle>idle )?cards?$")
"""Terms of cards in a host's sum."""
_LOSS = "supply loss"
_MOST_NAMES = 5
_SAME = "The same loads, fed as the site file proposes. "
_SURVIVES = "The router and the way in stay up when the cards overload a device."
_GOES_TOO = "The router still goes dark with what overloads a device."


def tree_of(power: Mapping[str, Any]) -> PowerTree:
    """The site as declared, or as asked where the record answers a question."""
    fates = power.get("shared_fate") or ()
    first = power.get("first_to_give") or {}
    return PowerTree(
        site=power["site"],
        summary=power.get("summary") or "",
        question=power.get("what_if") or "",
        devices=tuple(_device(device, power["loads"], first) for device in power["devices"]),
        loads=tuple(_load(load, fates) for load in power["loads"]),
        findings=tuple(map(_found, power.get("findings") or ())),
        unmeasured=tuple((one["load"], one["text"]) for one in power.get("unmeasured") or ()),
    )


def proposal_of(power: Mapping[str, Any]) -> PowerTree | None:
    """The proposed feed with the same loads; None where none is proposed."""
    proposal = power.get("proposal")
    if not proposal:
        return None
    told = {load["name"] for load in power["loads"]}
    terms = {term["name"]: term for device in proposal["devices"] for term in device["terms"]}
    apart = [_fed_apart(term) for name, term in terms.items() if name not in told]
    used = [load for load in power["loads"] if load["name"] in terms]
    return tree_of(
        {
            "site": power["site"],
            "summary": _same_loads(proposal) + (_SURVIVES if proposal["separates"] else _GOES_TOO),
            "what_if": power.get("what_if"),
            "devices": proposal["devices"],
            "loads": [*used, *apart],
            "shared_fate": [fate for fate in proposal["shared_fate"] if fate["locks_out"]],
            "findings": proposal.get("findings"),
        }
    )


def _same_loads(proposal: Mapping[str, Any]) -> str:
    missing = ", ".join(proposal.get("left_out") or ())
    return f"The same loads but {missing}, fed as the site file proposes. " if missing else _SAME


def _fed_apart(term: Mapping[str, Any]) -> dict[str, Any]:
    """A load that only the proposal feeds by itself: a management controller, apart from its host."""
    return {**term, "role": "bmc", "summary": "", "terms": [term]}


def _device(device: Mapping[str, Any], loads: Iterable[Mapping[str, Any]], first: Mapping[str, Any]) -> Device:
    carried = {load["name"]: load for load in loads}
    parts = tuple(part for term in device["terms"] for part in _carried_parts(term, carried.get(term["name"])))
    return Device(
        name=device["name"],
        kind=device["kind"],
        rating=device["rating_text"],
        standing=device.get("standing") or "",
        parents=tuple(device["parents"]),
        in_use=device["in_use"],
        absolute_watts=device["absolute_watts"],
        continuous_watts=device["continuous_watts"],
        watts=device["nominal_watts"],
        low_watts=device["low_watts"],
        high_watts=device["high_watts"],
        loads=tuple(device["loads"]),
        feeds=tuple(device.get("feeds") or ()),
        parts=parts,
        verdict=device["verdict"],
        unknown_loads=tuple(device.get("unknown_loads") or ()),
        gives_first=_gives_first(first) if first.get("device") == device["name"] else "",
        range_reason=_range_reason(parts),
        notes=_notes(device),
    )


def _carried_parts(term: Mapping[str, Any], load: Mapping[str, Any] | None) -> list[Part]:
    """The figures of one load below a device, scaled where a UPS loses some on the way."""
    if load is None or not load["terms"]:
        return [_part(term, load or term)]
    factor = term["watts"] / load["watts"] if load["watts"] else 1.0
    return [_part(one, load, factor) for one in load["terms"]]


def _part(term: Mapping[str, Any], load: Mapping[str, Any], factor: float = 1.0) -> Part:
    return Part(
        load=load["name"],
        group=_group(term["name"], load),
        name=_part_name(term, load),
        watts=term["watts"] * factor,
        low_watts=term["low_watts"] * factor,
        high_watts=term["high_watts"] * factor,
        standing=term["standing"],
        how=term.get("how") or "",
    )


def _group(term: str, load: Mapping[str, Any]) -> str:
    if term == _LOSS:
        return "loss"
    if load.get("role") == "router":
        return "router"
    if load.get("cards") and _CARDS.match(term):
        return "cards"
    return "machine" if load.get("kind") == "host" else "other"


def _part_name(term: Mapping[str, Any], load: Mapping[str, Any]) -> str:
    """``4 cards at their cap of 275 W:``; a load with one figure goes by what it is."""
    cards = _CARDS.match(term["name"]) if load.get("cards") else None
    if cards is None:
        return str(term["name"]) if term["name"] not in ("declared", load["name"]) else _role_words(load)
    each = term["watts"] / int(cards["count"])
    if cards["idle"]:
        return f"{term['name']} of {in_watts(each)}:"
    basis = next((card["basis"] for card in load["cards"] if card["limit_watts"] == each), "limit")
    return f"{term['name']} at their {basis} of {in_watts(each)}:"


def _gives_first(first: Mapping[str, Any]) -> str:
    """``Gives first, at 124 % of its full rating; then fv-20a at 46 %``."""
    text = f"First to give, at {percent(first['share_of_absolute'], 1.0)} of its full rating"
    then = [f"{one['device']} at {percent(one['share_of_absolute'], 1.0)}" for one in first.get("then") or ()]
    return f"{text}; then {', '.join(then)}" if then else text


def _range_reason(parts: Iterable[Part]) -> str:
    """What would have to be so for the high end."""
    wide = [part for part in parts if (part.high_watts or 0.0) > (part.watts or 0.0)]
    reads_dc = any(part.group == "loss" and not part.watts for part in wide)
    others = any(part.group != "loss" or part.watts for part in wide)
    if reads_dc:
        return "if the BMC reads DC and estimates run high" if others else "if the BMC reads DC"
    return "if estimates run high" if others else ""


def _notes(device: Mapping[str, Any]) -> tuple[str, ...]:
    notes = []
    if device.get("unknown_loads"):
        notes.append(f"Not known, so the sum is a lower bound: {listed(device['unknown_loads'])}")
    if device.get("bypass"):
        notes.append(f"On surge-only outlets, past the inverter: {listed(device['bypass'])}")
    if device["in_use"] and device.get("on_battery"):
        notes.append(f"When it gives, these go on from the battery: {_several(device['on_battery'])}")
    return tuple(notes)


def _load(load: Mapping[str, Any], fates: Iterable[Mapping[str, Any]]) -> Load:
    unknown = tuple(load.get("unknown") or ())
    return Load(
        name=load["name"],
        role=_role_words(load),
        summary=load.get("summary") or "",
        parts=tuple(_part(term, load) for term in load["terms"]),
        watts=load["watts"] if load["terms"] else None,
        low_watts=load["low_watts"],
        high_watts=load["high_watts"],
        unknown=unknown,
        measured=_measured(load.get("measured") or {}),
        readings=tuple(Reading(one["source"], one["watts"], one.get("on") or "") for one in load.get("readings") or ()),
        fate=_fate(load["name"], list(fates)),
    )


def _role_words(load: Mapping[str, Any]) -> str:
    role = load.get("role") or "load"
    if load.get("kind") == "host" and role == "other":
        return "host"
    return {"gpu_host": "GPU host", "bmc": "BMC", "other": "load"}.get(role, role)


def _measured(measured: Mapping[str, Any]) -> tuple[Reading, ...]:
    """``cards_watts``, ``bmc_watts`` and ``at`` of a load: what it takes now. What was not read is left out."""
    at = measured.get("at") or ""
    named = (("cards", measured.get("cards_watts")), ("BMC", measured.get("bmc_watts")))
    return tuple(Reading(source, watts, at) for source, watts in named if watts is not None)


def _fate(name: str, fates: list[Mapping[str, Any]]) -> str:
    """What goes dark with what, where a way in is concerned; empty for every other load."""
    router = [one for one in fates if any(way["kind"] == "router" and way["name"] == name for way in one["ways_in"])]
    router = [one for one in router if set(one["overloads"]) - {name}]
    if router:
        others = list(dict.fromkeys(host for one in router for host in one["overloads"] if host != name))
        return f"When {_any_of(router)} gives, it goes dark with {_several(others)}, and the way in with it."
    own_bmc = [one for one in fates if any(way["kind"] == "bmc" and way["host"] == name for way in one["ways_in"])]
    own_bmc = [one for one in own_bmc if name in one["overloads"]]
    return f"When {_any_of(own_bmc)} gives, its BMC goes dark with it." if own_bmc else ""


def _several(names: Sequence[str]) -> str:
    """All of a few; of many the first ones and how many there are."""
    if len(names) <= _MOST_NAMES:
        return listed(names)
    return f"{', '.join(names[: _MOST_NAMES - 1])} and {len(names) - _MOST_NAMES + 1} more"


def _any_of(fates: Iterable[Mapping[str, Any]]) -> str:
    return listed([one["device"] for one in fates], "or")


def _found(found: Mapping[str, Any]) -> Found:
    return Found(found["severity"], found["code"], found["subject"], found["message"], found.get("remedy") or "")
