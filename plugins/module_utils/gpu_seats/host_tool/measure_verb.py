"""``measure --orders FILE``: the unit that a measurement of the host's power runs in."""

from __future__ import annotations

import argparse
from pathlib import Path

SUMMARY = "Measure the host's power with load on its cards, as the orders in a file say; a playbook starts it."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--orders", type=Path, required=True, help="what to measure (JSON)")


def run(options: argparse.Namespace) -> int:
    """0: every step was measured. 3: the load was stopped early. 2: not started."""
    from ..apply.power_measure.watcher import REFUSED, orders_of, watch
    from ..observe.bmc_reader import bmc_reader

    try:
        orders = orders_of(options.orders.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(f"{options.orders}: {error}")
        return REFUSED
    return watch(orders, lambda line: print(line, flush=True), bmc_reader)
