"""`gpu-sim`: boots the simulated cards, holds memory on them, switches failures on and off."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from . import faults
from .claims import claim_text, live_claims
from .machine import Card, boot, card_named, load_machine, state_dir, write_atomically

ENGINE_FAULTS = ("slow_load", "crash_in_load", "out_of_memory", "wrong_model_name", "hangs", "dies_after_ready")


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="gpu-sim", description=__doc__)
    verbs = top.add_subparsers(dest="verb", required=True)
    start = verbs.add_parser("boot", help="limits back to default, persistence off, nothing held")
    start.add_argument("--cards", type=Path, help="JSON list of cards (keys: index, uuid, bus_id, ...)")
    verbs.add_parser("status", help="cards, what holds their memory, failures that are on")
    names = "\n".join(f"  {name:27}{text}" for name, text in faults.CATALOGUE.items())
    fault = verbs.add_parser(
        "fault", help="switch a failure on", epilog=names, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    fault.add_argument("name", choices=sorted(faults.CATALOGUE), metavar="NAME")
    fault.add_argument("argument", nargs="?", help="card (index, UUID, bus id), or the value that NAME takes")
    engine = verbs.add_parser("engine-fault", help="make a simulated engine fail at its next start or request")
    engine.add_argument("seat", help="seat, container or served model name")
    engine.add_argument("name", choices=ENGINE_FAULTS)
    engine.add_argument("--seconds", type=float, help="slow_load, dies_after_ready: how long")
    clear = verbs.add_parser("clear", help="switch off one failure, or all")
    clear.add_argument("name", nargs="?")
    hold = verbs.add_parser("hold", help="a stranger takes memory on a card")
    hold.add_argument("card")
    hold.add_argument("mib", type=int)
    hold.add_argument("process", nargs="?", default="stranger")
    hold.add_argument("--watts", type=float, default=0.0)
    release = verbs.add_parser("release", help="strangers let go")
    release.add_argument("process", nargs="?")
    return top


def found_card(name: str) -> Card:
    card = card_named(load_machine().cards, name)
    if card is None:
        known = ", ".join(f"{c.index} {c.uuid}" for c in load_machine().cards)
        raise SystemExit(f"gpu-sim: no card {name!r}; there are: {known}")
    return card


def switch_on(name: str, argument: str | None) -> str:
    if argument is not None and name in faults.PER_CARD:
        card = found_card(argument)
        faults.set_fault(name, card.uuid, None)
        return f"{name} on card {card.index} ({card.uuid})"
    faults.set_fault(name, None, argument)
    return name if argument is None else f"{name} ({argument})"


def switch_on_engine_fault(seat: str, name: str, seconds: float | None) -> str:
    record: dict[str, object] = {"fault": name}
    if seconds is not None:
        record["seconds"] = seconds
    write_atomically(state_dir() / "engine-faults" / f"{seat}.json", json.dumps(record) + "\n")
    return f"{name} for {seat}"


def hold_memory(card: Card, mib: int, process: str, watts: float) -> str:
    path = state_dir() / "claims" / card.uuid / f"hold-{process}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(claim_text(process, mib, watts, static=True, pid=4242))
    return f"{process} holds {mib} MiB on card {card.index}"


def release_memory(process: str | None) -> str:
    paths = list((state_dir() / "claims").glob(f"*/hold-{process or '*'}.json"))
    for path in paths:
        path.unlink()
    return f"{len(paths)} let go"


def status_text() -> str:
    lines = []
    for card in load_machine().cards:
        claims = live_claims(card.uuid)
        used = sum(c.mib for c in claims)
        lines.append(f"card {card.index}  {card.uuid}  {card.bus_id}  limit {card.limit_w:.0f} W  {used} MiB held")
        lines += [f"    {c.name}  {c.process}  {c.mib} MiB  {c.watts:.0f} W" for c in claims]
    on = [f"{f.name} {f.card or f.value or ''}".rstrip() for f in faults.active_faults().values()]
    on += [f"{p.stem}: {p.read_text().strip()}" for p in sorted((state_dir() / "engine-faults").glob("*.json"))]
    return "\n".join([*lines, "failures on: " + (", ".join(on) or "none")])


def main(arguments: list[str]) -> int:
    options = parser().parse_args(arguments)
    if options.verb == "boot":
        cards = json.loads(options.cards.read_text(encoding="utf-8")) if options.cards else None
        print(f"{len(boot(cards).cards)} simulated cards, limits at their default")
    elif options.verb == "status":
        print(status_text())
    elif options.verb == "fault":
        print(switch_on(options.name, options.argument))
    elif options.verb == "engine-fault":
        print(switch_on_engine_fault(options.seat, options.name, options.seconds))
    elif options.verb == "clear":
        print("off: " + (", ".join(faults.clear_faults(options.name)) or "nothing was on"))
    elif options.verb == "hold":
        print(hold_memory(found_card(options.card), options.mib, options.process, options.watts))
    else:
        print(release_memory(options.process))
    return 0
