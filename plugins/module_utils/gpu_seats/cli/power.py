"""Show what each protective device of a site carries at its worst, what gives first, and what goes with it.

Offline: cards count with their declared caps, all of them loaded. --what-if asks for another case and prints it
beside the declared one: gpus=4,limit=300 or loaded=2,in_use=fv-ups+fv-ups-inlet or load=nas@fv-20a:200W
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..report.terminal import Terminal
from .answer import FINDINGS, FINE, Answer, CommandError
from .declarations import add_project_arguments, load_declarations

if TYPE_CHECKING:
    from ..declare.fleet import Fleet
    from ..plan.power import SitePower


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--site", metavar="SITE", help="the site (default: the one that declares circuits)")
    parser.add_argument(
        "--what-if",
        metavar="KEY=VALUE,...",
        action="append",
        default=[],
        help="gpus, limit, loaded, host, in_use, out, load; may be given several times",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write the picture as a page")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="also write the picture as SVG")
    add_project_arguments(parser)


def run(chosen: argparse.Namespace, terminal: Terminal) -> Answer:
    from ..plan.power import WhatIf, WhatIfError, parse_what_if, site_power
    from ..report.finding_list import count_text, findings_text
    from ..report.power_tree import comparison_text, power_tree_text

    fleet = load_declarations(chosen)
    site = _chosen_site(fleet, chosen.site)
    try:
        what_if = parse_what_if(",".join(chosen.what_if)) if chosen.what_if else WhatIf()
        power = site_power(fleet, site, what_if)
    except WhatIfError as error:
        raise CommandError(f"--what-if {error}") from None
    document = power.as_dict()
    text = ""
    if what_if:
        before = site_power(fleet, site).as_dict()
        text = comparison_text(before, document, terminal) + "\n"
        document = {**document, "before": before}
    text += power_tree_text(document, terminal)
    listed = findings_text(power.findings, terminal)
    text += f"\n{count_text(power.findings)}\n{listed}"
    text += "".join(f"written: {path}\n" for path in _pictures(chosen, power))
    failed = any(one.fails for one in power.findings)
    return Answer(text, document, FINDINGS if failed else FINE)


def _chosen_site(fleet: Fleet, name: str | None) -> str:
    from ..declare.problems import did_you_mean

    with_circuits = [site for site, declared in fleet.sites.items() if declared.circuits]
    if name is None and len(with_circuits) == 1:
        return with_circuits[0]
    known = ", ".join(fleet.sites) or "none is declared"
    if name is None:
        raise CommandError(f"which site? name it with --site; allowed: {known}")
    if name not in fleet.sites:
        near = did_you_mean(name, fleet.sites)
        raise CommandError(f"--site {name}: no such site is declared; {f'{near} ' if near else ''}allowed: {known}")
    return name


def _pictures(chosen: argparse.Namespace, power: SitePower) -> list[str]:
    """Writes the pictures that were asked for; their paths."""
    asked = {option: path for option, path in (("--html", chosen.html), ("--svg", chosen.svg)) if path is not None}
    if not asked:
        return []
    from ..report.power_picture import power_html, power_svg

    made: dict[str, Any] = {"--html": power_html, "--svg": power_svg}
    for option, path in asked.items():
        _write(option, path, made[option](power.as_dict()))
    return [str(path) for path in asked.values()]


def _write(option: str, path: Path, text: str) -> None:
    from ..apply.atomic_files import FileError, WantedFile, file_change, write_file

    if not path.absolute().parent.is_dir():
        raise CommandError(f"{option} {path}: there is no directory {path.absolute().parent}")
    try:
        write_file(file_change(WantedFile(str(path.absolute()), text)))
    except FileError as error:
        raise CommandError(f"{option} {path}: cannot be written: {error.error.strerror or error.error}") from None
