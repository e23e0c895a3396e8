"""The fleet that a verb works on, and the options that name it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .answer import CommandError

if TYPE_CHECKING:
    from ..declare.fleet import Fleet
    from ..declare.problems import DeclarationError
    from ..declare.project import Project


def add_project_arguments(parser: argparse.ArgumentParser) -> None:
    """--root, --inventory and --stacks-dir, the same for every verb that reads declarations."""
    where = parser.add_argument_group("declarations")
    where.add_argument(
        "--root",
        type=Path,
        metavar="DIR",
        help="the project (default: from here upwards, with stacks/ and inventories/)",
    )
    where.add_argument(
        "--inventory", type=Path, metavar="DIR", help="inventory with host_vars/ (default: inventories/production)"
    )
    where.add_argument(
        "--stacks-dir",
        type=Path,
        metavar="DIR",
        action="append",
        default=[],
        help="where stack folders are; may be given several times (default: what the inventory names, or stacks)",
    )


def chosen_project(chosen: argparse.Namespace) -> Project:
    """The project that the options name. Raises CommandError where there is none."""
    from ..declare.project import ProjectNotFoundError, project_at, project_root

    for option, path in (("--root", chosen.root), ("--inventory", chosen.inventory)):
        if path is not None and not path.exists():
            raise CommandError(f"{option} {path}: there is no such directory")
    for path in chosen.stacks_dir:
        if not path.is_dir():
            raise CommandError(f"--stacks-dir {path}: there is no such directory")
    try:
        root = chosen.root.resolve() if chosen.root else project_root(Path.cwd())
    except ProjectNotFoundError as error:
        raise CommandError(str(error)) from None
    return project_at(root, chosen.inventory, [path.resolve() for path in chosen.stacks_dir])


def load_declarations(chosen: argparse.Namespace) -> Fleet:
    """The fleet. Raises CommandError with all problems of all files at once."""
    from ..declare.fleet import load_fleet
    from ..declare.problems import DeclarationError

    project = chosen_project(chosen)
    try:
        return load_fleet(project.root, project.inventory, project.stacks_dirs)
    except DeclarationError as error:
        raise declaration_refusal(error) from None


def declaration_refusal(error: DeclarationError) -> CommandError:
    """A count where there are several, then one line a problem."""
    texts = [str(problem) for problem in error.problems]
    head = texts if len(texts) == 1 else [f"{len(texts)} problems in the declarations:", *texts]
    return CommandError("\n  ".join(head), [problem.as_dict() for problem in error.problems])
