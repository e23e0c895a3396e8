"""``sample``: what the cards and the BMC draw, every few seconds, into a file that a power cut cannot take.

A line is on the disk before the next sample is taken. Made to run beside a bench: ``--stop-above-watts`` ends it with 3
when the host draws more, so that a script can end its load.
"""

from __future__ import annotations

import argparse
import json
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SUMMARY = "Write what every card and the BMC draw to an append-only file, every few seconds."

FINE, UNWRITABLE, WRONG, ABOVE = 0, 1, 2, 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--out", type=Path, metavar="FILE", help="one file, whatever the day")
    target.add_argument("--folder", type=Path, metavar="DIR", help="one file a day (UTC) in this folder")
    parser.add_argument("--every-s", type=float, default=10.0, metavar="S", help="between two samples (default 10)")
    parser.add_argument("--until-s", type=float, metavar="S", help="end after this long; without it: until ended")
    parser.add_argument("--stop-above-watts", type=float, metavar="W", help="end with 3 when the host draws more")
    parser.add_argument("--keep-days", type=int, default=90, help="with --folder: older files are removed (default 90)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="JSON: host, cards {number: uuid}, bmc, limits")
    parser.add_argument("--note", default="", help="stands in every line: what the host does meanwhile")


def run(options: argparse.Namespace) -> int:
    """0: ended as told. 1: the file took no line. 2: wrong arguments. 3: above --stop-above-watts."""
    from ..apply.power_measure.log_file import LogFileError
    from ..observe.bmc_reader import bmc_reader
    from ..observe.command import run as run_command
    from ..observe.power_sample import BmcWatch, Sampler

    try:
        config = _config(options.config)
        read_bmc = bmc_reader(config.get("bmc") or {})
    except (OSError, ValueError) as error:
        print(f"{options.config}: {error}")
        return WRONG
    if options.every_s <= 0:
        print(f"--every-s {options.every_s}: a time above 0 is needed")
        return WRONG
    bmc = BmcWatch(read_bmc, min(options.every_s, 5.0)) if read_bmc is not None else None
    samples = Sampler(run_command, list(config.get("cards", {}).values()), bmc)
    try:
        return sample(options, config, samples)
    except LogFileError as error:
        print(error)
        return UNWRITABLE
    finally:
        samples.close()


def sample(options: argparse.Namespace, config: Mapping[str, Any], samples: Any) -> int:
    """Sample until the time is over, a signal comes or the host draws too much. Raises LogFileError."""
    from ..apply.power_measure.day_files import DayFiles
    from ..apply.power_measure.judgement import host_total
    from ..apply.power_measure.plan import Limits

    ended: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda got, _frame: ended.append(got))
    stop_at = options.stop_above_watts
    declared = {"machine_watts": 0.0, **(config.get("limits") or {})}
    limits = Limits(**{**declared, "stop_at_watts": stop_at or float("inf")})
    head = {"host": config.get("host"), "cards": config.get("cards") or {}, "note": options.note}
    files = DayFiles(options.out, options.folder, options.keep_days, head)
    until = None if options.until_s is None else time.monotonic() + options.until_s
    try:
        while not ended and (until is None or time.monotonic() < until):
            began = time.monotonic()
            taken = samples.sample(**({"note": options.note} if options.note else {}))
            total = host_total(taken, limits)
            files.append({**taken, "total_watts": None if total.watts is None else round(total.watts, 1)})
            if stop_at is not None and total.watts is not None and total.watts > stop_at:
                print(f"{total.words} is above {stop_at:.0f} W", flush=True)
                return ABOVE
            _wait(options.every_s - (time.monotonic() - began), ended, until)
    finally:
        files.close()
    return FINE


def _wait(seconds: float, ended: list[int], until: float | None) -> None:
    """In small steps: a signal handler of Python does not end a sleep."""
    to = time.monotonic() + seconds
    to = to if until is None else min(to, until)
    while not ended and time.monotonic() < to:
        time.sleep(min(0.2, max(0.0, to - time.monotonic())))


def _config(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    config = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(config, dict):
        raise ValueError("a JSON object is needed, with host, cards, bmc and limits")
    return config
