"""The command line of the host tool.

A verb is a module of this package with ``SUMMARY`` (one line), ``add_arguments(parser)`` and ``run(options) -> int``
(the exit code). It is imported only when its verb is given, because a timer runs this every minute.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from typing import Any

PROGRAM = "gpu-seats-host"

VERBS: dict[str, str] = {
    "caps": "caps_verb",
    "containers": "containers_verb",
    "measure": "measure_verb",
    "sample": "sample_verb",
}
"""Verb -> module of this package. The archive packs every module of this package and all that they import."""

EPILOG = """\
Exit codes: 0 as it should be, 1 something is not (told on standard output), 2 the arguments or a declared file
can't be used.
"""


def main(arguments: Sequence[str]) -> int:
    """Runs one verb; its exit code. argparse ends the program itself on wrong arguments, with 2."""
    first = next((word for word in arguments if not word.startswith("-")), "")
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Keeps what a GPU host declares between deploys.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    wanted = [first] if first in VERBS else list(VERBS)
    for name in wanted:
        verb = _verb(name)
        of_verb = verbs.add_parser(name, help=verb.SUMMARY, description=verb.SUMMARY)
        verb.add_arguments(of_verb)
    options = parser.parse_args(list(arguments))
    return int(_verb(options.verb).run(options))


def _verb(name: str) -> Any:
    return importlib.import_module(f".{VERBS[name]}", __package__)
