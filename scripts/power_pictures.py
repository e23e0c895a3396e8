"""`make power`: the power tree of every site that declares circuits, as a page and as SVG, in build/power."""

from __future__ import annotations

import sys

from gpu_seats.declare.fleet import load_fleet
from gpu_seats.declare.problems import DeclarationError

from .steps import BIN, PROJECT, banner, run_step

DIRECTORY = PROJECT / "build" / "power"


def main() -> int:
    """One command a site, printed as it is run, so that it can be copied with a --what-if.

    1 where a site has findings of severity error: its picture is written all the same.
    """
    try:
        sites = [name for name, site in load_fleet(PROJECT).sites.items() if site.circuits]
    except DeclarationError as error:
        print(f"power: ERROR: {error}", file=sys.stderr)
        return 2
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    worst = 0
    for site in sites:
        files = {suffix: str(DIRECTORY / f"{site}.{suffix}") for suffix in ("html", "svg")}
        argv = [str(BIN / "gpu-seats"), "power", "--site", site, "--html", files["html"], "--svg", files["svg"]]
        rc, _ = run_step(f"power of {site}", argv, limit_s=60)
        worst = max(worst, rc)
    banner(f"power: pictures of {', '.join(sites) or 'no site'} in {DIRECTORY.relative_to(PROJECT)}")
    return worst


if __name__ == "__main__":
    sys.exit(main())
