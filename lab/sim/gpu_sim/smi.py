"""Command line of the simulated nvidia-smi."""

from __future__ import annotations

import os
import sys

from . import faults as failures
from .faults import Fault, ToolError, hits
from .fields import apps_csv, gpu_csv
from .machine import Card, Machine, card_named, load_machine, save_machine, visible_cards
from .reading import read_card
from .report import text_report, xml_report
from .table import table

HELP = """\
NVIDIA System Management Interface -- SIMULATOR of the gpu-seats lab: no GPU is behind these figures.

nvidia-smi [-i INDEX|UUID|BUSID[,...]] [-L | -q [-x] | -pm 0|1 | -pl WATTS | --version]
nvidia-smi --query-gpu=FIELDS --format=csv[,noheader][,nounits] [-i ...]
nvidia-smi --query-compute-apps=FIELDS --format=csv[,noheader][,nounits] [-i ...]

Failures are switched on and off with gpu-sim.
"""
MIXED = "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n"
WARNING = (
    "\nWarning: persistence mode is disabled on device {bus}. See the Known Issues section of the nvidia-smi(1) man "
    "page for more information. Run with [--help | -h] switch to get more information on how to enable persistence "
    "mode.\n"
)
FLAGS = {"-L": "list", "--list-gpus": "list", "-q": "query", "--query": "query", "-x": "xml", "--xml-format": "xml",
         "--version": "version", "-h": "help", "--help": "help"}  # fmt: skip
VALUED = {"-i": "id", "--id": "id", "-pm": "pm", "--persistence-mode": "pm", "-pl": "pl", "--power-limit": "pl",
          "--query-gpu": "gpu", "--query-compute-apps": "apps", "--format": "format", "-d": "display"}  # fmt: skip


def parse(arguments: list[str]) -> dict[str, str]:
    """Options by short key. Both ``--format=csv`` and ``-i 2`` forms; an unknown one ends the program, rc 2."""
    options: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word in FLAGS:
            options[FLAGS[word]] = ""
        elif name in VALUED:
            options[VALUED[name]] = value if equals or not rest else rest.pop(0)
        else:
            raise ToolError(f"ERROR: Option {word} is not recognized. Please run 'nvidia-smi -h'.\n\n", 2)
    return options


def chosen_cards(cards: list[Card], ids: str | None, active: dict[str, Fault]) -> list[Card]:
    """The cards that -i names, all without -i; ends the program when one of them can't be opened."""
    chosen = cards
    if ids is not None:
        named = [card_named(cards, part.strip()) for part in ids.split(",")]
        chosen = [card for card in named if card is not None]
        if None in named:
            raise ToolError("No devices were found\n", 6)
    for card in chosen:
        failures.stop_if_card_fails(active, card)
    if not chosen:
        raise ToolError("No devices were found\n", 6)
    return chosen


def require_root() -> None:
    in_container = failures.VISIBLE_FILE.exists()
    if os.geteuid() != 0 or in_container:
        raise ToolError("Insufficient Permissions\nTerminating early due to previous errors.\n", 4)


def set_persistence(machine: Machine, cards: list[Card], value: str) -> str:
    require_root()
    if value not in ("0", "1", "DISABLED", "ENABLED"):
        raise ToolError(MIXED, 2)
    wanted = value in ("1", "ENABLED")
    word = "Enabled" if wanted else "Disabled"
    lines = []
    for card in cards:
        if card.persistence == wanted:
            lines.append(f"Persistence mode is already {word} for GPU {card.bus_id}.\n")
        else:
            lines.append(f"{word} persistence mode for GPU {card.bus_id}.\n")
            card.persistence = wanted
    save_machine(machine)
    return "".join(lines) + "All done.\n"


def set_limits(machine: Machine, cards: list[Card], value: str, active: dict[str, Fault]) -> str:
    """-pl. RequestError as a whole when one card refuses the value, as the real tool does."""
    require_root()
    try:
        watts = float(value)
    except ValueError:
        raise ToolError(MIXED, 2) from None
    text = ""
    for card in cards:
        unsupported = f"Changing power management limit is not supported {{}}for GPU: {card.bus_id}.\n"
        if hits(active, "pl-unsupported-scope", card):
            raise ToolError(unsupported.format("in current scope "), 3)
        if hits(active, "pl-unsupported", card) or hits(active, "na-values", card):
            text += unsupported.format("") + "Treating as warning and moving on.\n"
            continue
        if not card.min_w <= watts <= card.max_w:
            text += (
                f"Provided power limit {watts:.2f} W is not a valid power limit which should be between "
                f"{card.min_w:.2f} W and {card.max_w:.2f} W for GPU {card.bus_id}\n"
                "Terminating early due to previous errors.\n"
            )
            raise ToolError(text, 2)
        text += f"Power limit for GPU {card.bus_id} was set to {watts:.2f} W from {card.limit_w:.2f} W.\n"
        if not card.persistence:
            text += WARNING.format(bus=card.bus_id)
        if not hits(active, "pl-ignored", card):
            card.limit_w = watts
    save_machine(machine)
    return text + "All done.\n"


def version_text(machine: Machine, active: dict[str, Fault]) -> str:
    if "driver-610" in active:
        return (
            "NVIDIA-SMI version  : 610.57.04\nNVML version        : 610.57\n"
            'DRIVER version      : Deprecated, see "KMD version" instead\n'
            'CUDA version        : Deprecated, see "CUDA UMD version" instead\n'
            "KMD version         : 610.57.04\nCUDA UMD version    : 13.3\n"
        )
    return (
        f"NVIDIA-SMI version  : {machine.driver_version}\nNVML version        : {machine.nvml_version}\n"
        f"DRIVER version      : {machine.driver_version}\nCUDA Version        : {machine.cuda_version}\n"
    )


def csv_options(value: str | None) -> set[str]:
    options = {part.strip() for part in (value or "").split(",")}
    if "csv" not in options or options - {"csv", "noheader", "nounits"}:
        raise ToolError(MIXED, 2)
    return options


def answer(arguments: list[str]) -> str:
    """What nvidia-smi prints for these arguments. Raises ToolError with the text and the code of a failure."""
    options = parse(arguments)
    if "help" in options:
        return HELP
    active = failures.active_faults()
    machine = load_machine()
    failures.stop_if_tool_fails(active, machine)
    if "version" in options:
        return version_text(machine, active)
    listed = failures.with_swapped_index(active, visible_cards(machine))
    cards = chosen_cards(listed, options.get("id"), active)
    if "pm" in options:
        return set_persistence(machine, cards, options["pm"])
    if "pl" in options:
        return set_limits(machine, cards, options["pl"], active)
    if "list" in options:
        return "".join(f"GPU {c.index}: {c.name} (UUID: {c.uuid})\n" for c in cards)
    readings = [read_card(card, machine, active) for card in cards]
    if "gpu" in options:
        removed = active["invalid-field"].value if "invalid-field" in active else None
        return gpu_csv(readings, options["gpu"], csv_options(options.get("format")), removed)
    if "apps" in options:
        hide = "compute-apps-na" in active
        return apps_csv(readings, options["apps"], csv_options(options.get("format")), hide)
    driver, cuda = readings[0].driver_version, readings[0].cuda_version
    if "query" in options:
        write = xml_report if "xml" in options else text_report
        return write(readings, driver, cuda, len(listed))
    return table(readings, driver, cuda)


def main(arguments: list[str]) -> int:
    try:
        sys.stdout.write(answer(arguments))
    except ToolError as failure:
        sys.stdout.write(failure.text)
        return failure.code
    return 0
