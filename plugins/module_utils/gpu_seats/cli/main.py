"""``gpu-seats``: reads declarations and tool outputs, never a host."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from ..report.terminal import PLAIN, terminal_of
from . import explain, lint, parse, plan, power, power_plot, render, schema
from .answer import BROKEN_PIPE, FINDINGS, FINE, INTERRUPTED, USAGE, Answer, CommandError

_VERBS = {
    "lint": lint,
    "plan": plan,
    "power": power,
    "power-plot": power_plot,
    "render": render,
    "parse": parse,
    "schema": schema,
    "explain": explain,
}
_EPILOG = f"""\
exit codes:
  {FINE}    fine
  {FINDINGS}    at least one finding of severity critical or error
  {USAGE}    wrong usage, or a declaration that cannot be read
  {BROKEN_PIPE}  the reader of a pipe has gone

No verb connects to a host. `gpu-seats VERB --help` says more about one verb.
"""


class _VerbParser(argparse.ArgumentParser):
    """Takes options between its positionals, as people write them: ``parse TOOL --json FILE``."""

    _is_mixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._is_mixing:
            return super().parse_known_args(args, namespace)
        self._is_mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_mixing = False


def command_parser() -> argparse.ArgumentParser:
    """The whole command line. Verbs import what they need only when they run, so that --help answers at once."""
    parser = argparse.ArgumentParser(
        prog="gpu-seats",
        description="Declarations of GPU seats, offline: check, plan, render, explain.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=_VerbParser)
    for name, module in _VERBS.items():
        summary = (module.__doc__ or "").strip().splitlines()[0]
        verb = verbs.add_parser(
            name,
            help=summary,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(verb)
        verb.add_argument("--json", action="store_true", help="print JSON instead of text")
        verb.set_defaults(run=module.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one verb and gives its exit code; everything that is wrong with the input is one clear error."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that cannot show a line of the tree still gets the text
    try:
        return _run(command_parser().parse_args(arguments))
    except BrokenPipeError:
        _silence_stdout()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except _OutputError as error:
        _silence_stdout()
        sys.stderr.write(f"gpu-seats: the answer cannot be written: {error}\n")
        return USAGE


class _OutputError(Exception):
    """Standard output takes nothing: it is closed, or what it leads to is full."""


def _run(chosen: argparse.Namespace) -> int:
    stream: TextIO | None = sys.stdout
    try:
        answer: Answer = chosen.run(chosen, PLAIN if stream is None else terminal_of(stream, os.environ))
    except CommandError as error:
        _refuse(error, chosen.json)
        return USAGE
    _print(_json(answer.document) if chosen.json else answer.text)
    return answer.exit_code


def _refuse(error: CommandError, as_json: bool) -> None:
    if as_json:
        _print(_json(error.as_dict()))
    else:
        sys.stderr.write(f"gpu-seats: {error.message}\n")


def _json(document: Any) -> str:
    from ..report.findings_json import json_text

    return json_text(document)


def _print(text: str) -> None:
    stream: TextIO | None = sys.stdout
    if stream is None:
        raise _OutputError("standard output is closed")
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _OutputError(error.strerror or str(error)) from None


def _silence_stdout() -> None:
    """The interpreter flushes stdout once more at its end, which would complain again."""
    stream: TextIO | None = sys.stdout
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
