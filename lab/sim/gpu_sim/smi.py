"""Command line of the simulated nvidia-smi."""

from __future__ import annotations

import sys
from typing import Callable

from . import faults as failures
from .faults import Fault, ToolError
from .fields import apps_csv, gpu_csv
from .machine import Card, Machine, card_named, load_machine, visible_cards
from .power import drop_unheld_limits
from .reading import Reading, read_card
from .report import power_report, text_report, xml_report
from .settings import MIXED, set_limits, set_persistence
from .table import table

HELP = """\
NVIDIA System Management Interface -- SIMULATOR of the gpu-seats lab: no GPU is behind these figures.

nvidia-smi [-i INDEX|UUID|BUSID[,...]] [-L | -q [-x | -d POWER] | -pm 0|1 | -pl WATTS | --version]
nvidia-smi --query-gpu=FIELDS --format=csv[,noheader][,nounits] [-i ...]
nvidia-smi --query-compute-apps=FIELDS --format=csv[,noheader][,nounits] [-i ...]

Failures are switched on and off with gpu-sim.
"""
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


def report_writer(options: dict[str, str]) -> Callable[[list[Reading], str, str, int], str]:
    """-q as it is asked for. Of the sections that -d can choose, POWER alone is there; any other shows everything."""
    if "xml" in options:
        return xml_report
    return power_report if options.get("display", "").upper() == "POWER" else text_report


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
    drop_unheld_limits(machine, active)
    listed = failures.with_swapped_index(active, visible_cards(machine))
    cards = chosen_cards(listed, options.get("id"), active)
    if "pm" in options:
        return set_persistence(cards, options["pm"], active)
    if "pl" in options:
        return set_limits(cards, options["pl"], active)
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
        return report_writer(options)(readings, driver, cuda, len(listed))
    return table(readings, driver, cuda)


def main(arguments: list[str]) -> int:
    try:
        sys.stdout.write(answer(arguments))
    except ToolError as failure:
        sys.stdout.write(failure.text)
        return failure.code
    return 0
