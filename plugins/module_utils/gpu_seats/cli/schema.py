"""Print the JSON Schema of stack, host or site files, so that editors complete and check them.

Made from the records that load the files. Without a name all three are printed as one JSON object; --write puts
them into docs/schema/ of the project instead.
"""

from __future__ import annotations

import argparse

from ..report.terminal import Terminal
from .answer import Answer
from .declarations import add_project_arguments, chosen_project

_DIRECTORY = "docs/schema"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", choices=["stack", "host", "site"], help="one schema (default: all three)")
    parser.add_argument("--write", action="store_true", help=f"write to {_DIRECTORY}/<name>.json")
    add_project_arguments(parser)


def run(chosen: argparse.Namespace, terminal: Terminal) -> Answer:
    from ..declare.schema import schema_documents
    from ..report.findings_json import json_text

    every = schema_documents()
    names = [chosen.what] if chosen.what else list(every)
    if not chosen.write:
        document = every[chosen.what] if chosen.what else every
        return Answer(json_text(document), document)
    directory = chosen_project(chosen).root / _DIRECTORY
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for name in names:
        path = directory / f"{name}.json"
        path.write_text(json_text(every[name]), encoding="utf-8")
        written.append(str(path))
    return Answer("".join(f"{path}\n" for path in written), {"written": written})
