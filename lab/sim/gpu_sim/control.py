"""`gpu-sim`: boots the SIMULATED cards, loads them, holds memory on them, switches failures on and off."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from . import faults
from .claims import claim_text, live_claims
from .load import keep_busy
from .machine import Card, boot, card_named, load_machine, reload_driver, state_dir, write_atomically
from .persistence import is_persistent
from .power import drawn_watts, enforced_watts

ENGINE_FAULTS = ("slow_load", "crash_in_load", "out_of_memory", "wrong_model_name", "hangs", "dies_after_ready")


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="gpu-sim", description=__doc__)
    verbs = top.add_subparsers(dest="verb", required=True)
    start = verbs.add_parser("boot", help="limits back to default, persistence off, nothing held")
    start.add_argument("--cards", type=Path, help="JSON list of cards (keys: index, uuid, bus_id, ...)")
    verbs.add_parser("reset-limits", help="a reload of the driver: limits back to default, persistence off")
    verbs.add_parser("daemon-reloaded", help="what the systemd generator reports; counts with daemon-reload-loses-gpus")
    verbs.add_parser("status", help="cards, their watts, what holds their memory, failures that are on")
    names = "\n".join(f"  {name:27}{text}" for name, text in faults.CATALOGUE.items())
    fault = verbs.add_parser(
        "fault", help="switch a failure on", epilog=names, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    fault.add_argument("name", choices=sorted(faults.CATALOGUE), metavar="NAME")
    fault.add_argument("argument", nargs="?", help="card (index, UUID, bus id), or the value that NAME takes")
    fault.add_argument("--value", help="the value of a NAME whose argument is a card")
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
    load = verbs.add_parser("load", help="keep a card busy until this process ends")
    load.add_argument("card")
    load.add_argument("--watts", type=float, help="above idle; without it as much as the limit lets the card draw")
    load.add_argument("--seconds", type=float, help="end after this time; without it only at a signal")
    release = verbs.add_parser("release", help="strangers let go")
    release.add_argument("process", nargs="?")
    return top


def found_card(name: str) -> Card:
    card = card_named(load_machine().cards, name)
    if card is None:
        known = ", ".join(f"{c.index} {c.uuid}" for c in load_machine().cards)
        raise SystemExit(f"gpu-sim: no card {name!r}; there are: {known}")
    return card


def switch_on(name: str, argument: str | None, value: str | None = None) -> str:
    if argument is not None and name in faults.PER_CARD:
        card = found_card(argument)
        faults.set_fault(name, card.uuid, value)
        return f"{name} on card {card.index} ({card.uuid})"
    value = argument if value is None else value
    faults.set_fault(name, None, value)
    return name if value is None else f"{name} ({value})"


def daemon_reloaded() -> str:
    """systemd was told to reload: some driver and runtime versions take the GPUs from running containers then."""
    if "daemon-reload-loses-gpus" not in faults.active_faults():
        return "nothing happens to the containers"
    faults.set_fault("containers-lost-gpus", None, None)
    return "running containers have lost their GPUs"


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
    active = faults.active_faults()
    for card in load_machine().cards:
        claims = live_claims(card.uuid)
        used = sum(c.mib for c in claims)
        limit = f"limit {enforced_watts(card, active):.0f} W{'' if is_persistent(card) else ' (not persistent)'}"
        draw = f"draws {drawn_watts(card, claims, active):.0f} W"
        lines.append(f"card {card.index}  {card.uuid}  {card.bus_id}  {limit}  {draw}  {used} MiB held")
        lines += [f"    {c.name}  {c.process}  {c.mib} MiB  {c.watts:.0f} W" for c in claims]
    on = [f"{f.name} {f.card or f.value or ''}".rstrip() for f in active.values()]
    on += [f"{p.stem}: {p.read_text().strip()}" for p in sorted((state_dir() / "engine-faults").glob("*.json"))]
    return "\n".join([*lines, "failures on: " + (", ".join(on) or "none")])


def outcome(options: argparse.Namespace) -> str:
    """Do what a verb other than `load` asks for; what it did, in a sentence."""
    if options.verb == "boot":
        cards = json.loads(options.cards.read_text(encoding="utf-8")) if options.cards else None
        return f"{len(boot(cards).cards)} simulated cards, limits at their default"
    if options.verb == "reset-limits":
        return f"driver reloaded: {len(reload_driver().cards)} cards, limits at their default, persistence off"
    if options.verb == "hold":
        return hold_memory(found_card(options.card), options.mib, options.process, options.watts)
    if options.verb == "fault":
        return switch_on(options.name, options.argument, options.value)
    if options.verb == "engine-fault":
        return switch_on_engine_fault(options.seat, options.name, options.seconds)
    if options.verb == "clear":
        return "off: " + (", ".join(faults.clear_faults(options.name)) or "nothing was on")
    if options.verb == "release":
        return release_memory(options.process)
    return daemon_reloaded() if options.verb == "daemon-reloaded" else status_text()


def main(arguments: list[str]) -> int:
    options = parser().parse_args(arguments)
    if options.verb == "load":
        keep_busy(found_card(options.card), options.watts, options.seconds)
    else:
        print(outcome(options))
    return 0
