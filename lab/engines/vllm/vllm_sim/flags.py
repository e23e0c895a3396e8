"""The argument parser of one vLLM version, built from its flag table."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from typing import Any, NoReturn

from .values import converter
from .versions import Row

USAGE = "vllm [-h] [-v] {chat,complete,serve,launch,bench,collect-env,run-batch} ..."


class BooleanFlag(argparse.Action):
    """A flag without value; the spelling says yes or no."""

    def __init__(self, option_strings: list[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=None)

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        negative = str(option_string).startswith(("--no-", "--disable-"))
        setattr(namespace, self.dest, not negative)


def serve_parser(rows: list[Row]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vllm serve",
        usage="vllm serve [model_tag] [options]",
        description="SIMULATOR of the gpu-seats lab: accepts this vLLM version's flags and serves no model.",
        add_help=False,
    )
    for row in rows:
        add_flag(parser, row)
    return parser


def add_flag(parser: argparse.ArgumentParser, row: Row) -> None:
    spellings, action = row["accepted"], row["action"]
    if not spellings:
        parser.add_argument(row["dest"], nargs="?", default=None)
    elif action == "help":
        parser.add_argument(*spellings, action="help")
    elif action == "store_true":
        parser.add_argument(*spellings, dest=row["dest"], action="store_true", default=None)
    elif action == "boolean":
        parser.add_argument(*spellings, dest=row["dest"], action=BooleanFlag)
    else:
        kind = converter(row.get("type"))
        choices = typed_choices(row)
        options: dict[str, Any] = {"dest": row["dest"], "type": kind, "choices": choices, "action": action}
        parser.add_argument(*spellings, nargs=row.get("nargs"), **options)


def typed_choices(row: Row) -> list[Any] | None:
    """Choices as the converter delivers them (``None`` in an optional flag's list means no value)."""
    choices = row.get("choices")
    if choices is None:
        return None
    optional = str(row.get("type", "")).startswith("optional[")
    return [None if optional and c == "None" else c for c in choices]


def with_dashes(argument: str) -> str:
    """Underscores of a flag's name become dashes; its value and dotted keys stay."""
    if not argument.startswith("--"):
        return argument
    name, equals, value = argument.partition("=")
    flag, dot, keys = name.partition(".")
    return flag.replace("_", "-") + dot + keys + equals + value


def nested(keys: list[str], value: Any) -> dict[str, Any]:
    for key in reversed(keys):
        value = {key: value}
    return dict(value)


def merge(into: dict[str, Any], more: dict[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value


def joined_dotted(arguments: list[str]) -> list[str]:
    """Replace dotted flags by one JSON value: ``--a.b 1 --a.c=x`` -> ``--a '{"b": 1, "c": "x"}'``."""
    kept: list[str] = []
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        name, equals, text = argument.partition("=")
        if not re.match(r"--?[A-Za-z][\w-]*\.", name):
            kept.append(argument)
            continue
        if not equals:
            text = rest.pop(0) if rest else ""
        if name.endswith("+"):
            name, text = name[:-1], json.dumps(text.split(","))
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        flag, *keys = name.split(".")
        merge(found[flag], nested(keys, value))
    return kept + [part for flag, value in found.items() for part in (flag, json.dumps(value))]


def model_first(arguments: list[str]) -> list[str]:
    """`--model X` is still taken in the place of the positional argument."""
    for i, argument in enumerate(arguments):
        if argument.startswith("--model="):
            return [argument.partition("=")[2], *arguments[:i], *arguments[i + 1 :]]
        if argument == "--model" and i + 1 < len(arguments):
            return [arguments[i + 1], *arguments[:i], *arguments[i + 2 :]]
    return arguments


def refuse(message: str) -> NoReturn:
    print(f"usage: {USAGE}\nvllm: error: {message}", file=sys.stderr)
    raise SystemExit(2)


def parse_serve(arguments: list[str], rows: list[Row]) -> argparse.Namespace:
    """The parsed flags; an error is printed as vLLM prints it and ends the program with rc 2."""
    prepared = joined_dotted(model_first([with_dashes(a) for a in arguments]))
    options, unknown = serve_parser(rows).parse_known_args(prepared)
    if unknown:
        refuse(f"unrecognized arguments: {' '.join(unknown)}")
    return options


def non_default(options: argparse.Namespace) -> dict[str, Any]:
    """Flags that were given, for the log's `non-default args` line."""
    return {key: value for key, value in vars(options).items() if value is not None}
