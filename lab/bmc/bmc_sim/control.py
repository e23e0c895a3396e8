"""`bmc-sim`: runs the SIMULATED BMC of the gpu-seats lab, logs power events, switches failures on and off."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import event_log, state
from .meter import HostWatts, cards_watts
from .server import read_config, serve

LAID = Path("/etc/gpu-seats-lab")


def listed(names: dict[str, str]) -> str:
    return "\n".join(f"  {name:20}{text}" for name, text in names.items())


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="bmc-sim", description=__doc__)
    top.add_argument("--config", type=Path, default=LAID / "bmc.json", help="address, user, declared watts")
    verbs = top.add_subparsers(dest="verb", required=True)
    server = verbs.add_parser("serve", help="answer ipmitool (bmc-sim.service does this)")
    server.add_argument("--password-file", type=Path, default=LAID / "bmc-password")
    verbs.add_parser("status", help="watts, failures and conditions that are on")
    raw = argparse.RawDescriptionHelpFormatter
    fault = verbs.add_parser("fault", help="switch a failure on", epilog=listed(state.FAULTS), formatter_class=raw)
    fault.add_argument("name", choices=sorted(state.FAULTS), metavar="NAME")
    fault.add_argument("value", nargs="?", type=float)
    clear = verbs.add_parser("clear", help="switch off one failure; without a name all, and every condition")
    clear.add_argument("name", nargs="?")
    events = {name: event.help for name, event in event_log.EVENTS.items()}
    event = verbs.add_parser("event", help="log a power event", epilog=listed(events), formatter_class=raw)
    event.add_argument("name", choices=sorted(events), metavar="NAME")
    event.add_argument("--supply", type=int, default=1, help="number of the power supply")
    event.add_argument("--back", action="store_true", help="the condition is over")
    flags = verbs.add_parser("chassis", help="set a chassis flag", epilog=listed(state.CHASSIS), formatter_class=raw)
    flags.add_argument("name", choices=sorted(state.CHASSIS), metavar="NAME")
    flags.add_argument("--off", action="store_true")
    return top


def log_event(name: str, supply: int, back: bool) -> str:
    """Log it; a condition of a power supply shows in its sensor too."""
    event_log.log(event_log.EVENTS[name], supply, back)
    condition = name.removeprefix("supply-")
    if name.startswith("supply-"):
        board = state.load_board()
        on = set(board.supplies.get(str(supply), []))
        board.supplies[str(supply)] = sorted(on - {condition} if back else on | {condition})
        state.save_board(board)
    return f"{name}{f' of supply {supply}' if name.startswith('supply-') else ''} {'is over' if back else 'logged'}"


def set_chassis(name: str, on: bool) -> str:
    board = state.load_board()
    board.chassis = sorted({*board.chassis, name} if on else set(board.chassis) - {name})
    state.save_board(board)
    return f"chassis flags: {', '.join(board.chassis) or 'none'}"


def clear(name: str | None) -> str:
    gone = state.clear_faults(name)
    if name is None:
        state.save_board(state.BoardState())
    return "off: " + (", ".join(gone) or "nothing was on")


def status_text(config: Path) -> str:
    declared = read_config(config)
    cards, busy_above = cards_watts()
    total = HostWatts(declared.baseline_watts, declared.under_load_watts).total(cards, busy_above)
    board = state.load_board()
    on = [name if value is None else f"{name} {value:g}" for name, value in state.active_faults().items()]
    supplies = [f"{number}: {', '.join(names)}" for number, names in board.supplies.items() if names]
    return (
        f"SIMULATED BMC on {declared.address} port {declared.port}, user {declared.user}\n"
        f"now {total:.0f} W, of it cards {', '.join(f'{watts:.1f}' for watts in cards)}\n"
        f"failures on: {', '.join(on) or 'none'}\n"
        f"chassis flags: {', '.join(board.chassis) or 'none'}; supplies: {'; '.join(supplies) or 'all in order'}; "
        f"{len(event_log.entries())} events logged"
    )


def main(arguments: list[str]) -> int:
    options = parser().parse_args(arguments)
    if options.verb == "serve":
        serve(read_config(options.config), options.password_file.read_text(encoding="ascii").strip())
    elif options.verb == "fault":
        state.set_fault(options.name, options.value)
        print(options.name if options.value is None else f"{options.name} ({options.value:g})")
    elif options.verb == "event":
        print(log_event(options.name, options.supply, options.back))
    elif options.verb == "chassis":
        print(set_chassis(options.name, not options.off))
    elif options.verb == "clear":
        print(clear(options.name))
    else:
        print(status_text(options.config))
    return 0
