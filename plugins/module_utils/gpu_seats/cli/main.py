"""``gpu-seats``: reads declarations and tool outputs, never a host."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from ..report.terminal import terminal_of
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
    try:
        chosen = command_parser().parse_args(arguments)
        exit_code = _run(chosen)
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes stdout once more at its end, which would complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    return exit_code


def _run(chosen: argparse.Namespace) -> int:
    try:
        answer: Answer = chosen.run(chosen, terminal_of(sys.stdout, os.environ))
    except CommandError as error:
        _refuse(error, chosen.json)
        return USAGE
    if chosen.json:
        from ..report.findings_json import json_text

        sys.stdout.write(json_text(answer.document))
    else:
        sys.stdout.write(answer.text)
    return answer.exit_code


def _refuse(error: CommandError, as_json: bool) -> None:
    if as_json:
        from ..report.findings_json import json_text

        sys.stdout.write(json_text(error.as_dict()))
    else:
        sys.stderr.write(f"gpu-seats: {error.message}\n")


if __name__ == "__main__":
    sys.exit(main())
