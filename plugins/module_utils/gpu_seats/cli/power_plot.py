"""Draw a file of power samples: watts of each card, of all cards and of the machine, against the limits of the site.

Writes a PNG and an SVG named after the file. Limits are what each device above the host leaves to it, by what is
declared now.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..report.terminal import Terminal
from .answer import Answer, CommandError
from .declarations import add_project_arguments, load_declarations

if TYPE_CHECKING:
    from ..declare.fleet import Fleet
    from ..observe.power_log import PowerLog


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", metavar="LOG", type=Path, help="a file of samples (.jsonl)")
    parser.add_argument("--host", metavar="HOST", help="whose samples these are, where the file does not say")
    parser.add_argument("--site", metavar="SITE", help="the site whose limits are drawn; the host's own without it")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path(), help="where to (default: here)")
    add_project_arguments(parser)


def run(chosen: argparse.Namespace, terminal: Terminal) -> Answer:
    from ..observe.power_log import read_power_log
    from ..plan.power.ladder import host_limits
    from ..plan.power.site import site_power
    from ..report.power_figure import write_plot
    from ..report.power_plot import plot_of

    try:
        log = read_power_log(chosen.log.read_bytes())
    except OSError as error:
        raise CommandError(f"{chosen.log}: {error.strerror or error}") from None
    if not log.samples:
        raise CommandError(f"{chosen.log}: no sample in it; {len(log.records)} lines hold, {len(log.torn)} are torn")
    fleet = load_declarations(chosen)
    host = _host(chosen, log, fleet)
    site = chosen.site or fleet.hosts[host].site
    if site not in fleet.sites:
        raise CommandError(f"--site {site}: no such site is declared; there are {', '.join(fleet.sites)}")
    names = {gpu.uuid: card for card, gpu in fleet.hosts[host].gpus.items() if gpu.uuid is not None}
    limits = host_limits(site_power(fleet, site), host)
    try:
        plot = plot_of(log, limits, host, names)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        what = f"{type(error).__name__}: {error}"
        raise CommandError(f"{chosen.log}: its lines are whole, but not of this version's shape ({what})") from None
    try:
        written = [str(path) for path in write_plot(plot, chosen.out, chosen.log.stem)]
    except OSError as error:
        raise CommandError(f"--out {chosen.out}: {error.strerror or error}") from None
    torn = f", {len(log.torn)} torn lines passed over" if log.torn else ""
    text = f"{plot.title}   {len(log.samples)} samples{torn}\n" + "".join(f"wrote {path}\n" for path in written)
    document = {
        "host": host,
        "samples": len(log.samples),
        "torn_lines": [one.number for one in log.torn],
        "peak": plot.peak_text,
        "written": written,
    }
    return Answer(text, document)


def _host(chosen: argparse.Namespace, log: PowerLog, fleet: Fleet) -> str:
    """The declared host that the samples are of."""
    said = [str(one["host"]) for kind in ("run", "sampler") for one in log.of(kind) if one.get("host")]
    name = chosen.host or (said[-1] if said else None)
    if name is None:
        raise CommandError(
            f"{chosen.log} does not say whose samples these are: add --host, one of {', '.join(fleet.hosts)}"
        )
    if name not in fleet.hosts:
        raise CommandError(f"no host {name} is declared; there are {', '.join(fleet.hosts)}")
    return str(name)
