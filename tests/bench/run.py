"""`make bench`: how fast, as ratios from one run on this machine. Measures, not tests: a slow ratio is no failure.

Needs the lab host (it is started when it does not run). The bench's own containers are removed at the end.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench_fleet import HOST, apply_variables, lay_fleet, peer_variables, rendered_stacks, stack_names
from lab_plays import PROJECT, PlayFailedError, on_lab_host, run_play
from planning import planning_seconds

from gpu_seats.declare.fleet import Fleet, load_fleet
from gpu_seats.report.styled import Cell, Column, table_text
from gpu_seats.report.terminal import PLAIN

STACKS = 24
FLEET = PROJECT / ".build" / "bench" / "fleet"
INVENTORY = PROJECT / "inventories" / "lab"
DEPLOY = PROJECT / "deploy-seat.yml"


class Measure(NamedTuple):
    """value and bound as text; met None: nothing is promised."""

    what: str
    value: str
    bound: str = ""
    met: bool | None = None


def say(text: str) -> None:
    print(f"bench: {text}", flush=True)


class Play(NamedTuple):
    """A playbook with its variables that has nothing to change."""

    name: str
    path: Path
    variables: Mapping[str, Any]

    def seconds(self) -> float:
        """Wall time of one run. Raises PlayFailedError, also where something changed."""
        run = run_play(self.path, self.variables)
        if run.changed:
            raise PlayFailedError(
                f"{self.name}: {run.changed} tasks changed something; there was to be nothing to change"
            )
        return run.seconds


def median_seconds(plays: Sequence[Play], times: int) -> list[float]:
    """Median of `times` runs of each play, run in turn: what else the machine does then meets all of them alike."""
    taken: list[list[float]] = [[] for _ in plays]
    for _ in range(times):
        for play, of_it in zip(plays, taken):
            of_it.append(play.seconds())
    medians = [statistics.median(seconds) for seconds in taken]
    for play, median in zip(plays, medians):
        say(f"{play.name}: {median:.2f} s (median of {times})")
    return medians


def ratio(what: str, value: float, bound: float, at_least: bool = False) -> Measure:
    met = value >= bound if at_least else value <= bound
    return Measure(what, f"{value:.2f} x", f"at {'least' if at_least else 'most'} {bound:g} x", met)


def planning_measures() -> list[Measure]:
    """Planning of 1,000 hosts with 10 seats each, and of a tenth of the seats."""
    planning_seconds(20, 10)  # imports and caches
    small = min(planning_seconds(100, 10) for _ in range(3))
    few = min(planning_seconds(100, 1) for _ in range(3))
    whole = min(planning_seconds(1000, 10) for _ in range(3))
    say(f"planning 1,000 seats: {small:.3f} s, 10,000 seats: {whole:.2f} s")
    return [
        Measure("planning 1,000 hosts x 10 seats", f"{whole:.2f} s", "under 3 s", whole < 3),
        ratio("1,000 hosts x 10 seats / 100 hosts x 10 seats", whole / small, 12),
        ratio("100 hosts x 10 seats / 100 hosts x 1 seat", small / few, 12),
    ]


def small_image(fleet: Fleet) -> str:
    """An image that the lab host has and that starts at once: of a declared service that serves no model."""
    present = set(on_lab_host("docker image ls --format '{{.Repository}}:{{.Tag}}'").split())
    services = [service for stack in fleet.stacks.values() for service in stack.services.values()]
    images = [service.image for service in services if service.image and not service.gpus]
    usable = [image for image in images if image in present]
    if not usable:
        raise PlayFailedError("no image of a declared service is on the lab host; run `make lab-reset`")
    return usable[0]


def ping_play() -> Play:
    return Play("one ping", FLEET / "plays" / "ping.yml", {})


def stacks_measures(times: int) -> list[Measure]:
    """24 stacks with nothing to change: the module alone, with the plan before it, and the peer."""
    whole = Play("plan and compose_stacks", FLEET / "plays" / "plan_and_apply.yml", {"bench_seat": "all"})
    say(f"{STACKS} stacks are put on {HOST} ...")
    run_play(whole.path, whole.variables)
    rendered = rendered_stacks(FLEET, INVENTORY)
    apply = Play("compose_stacks", FLEET / "plays" / "apply.yml", apply_variables(rendered))
    peer = Play("file, template, docker_compose_v2", FLEET / "plays" / "peer.yml", peer_variables(FLEET, rendered))
    ping_s, apply_s, whole_s = median_seconds([ping_play(), apply, whole], times)
    say(f"{peer.name}: one run, about a minute ...")
    (peer_s,) = median_seconds([peer], 1)
    one = run_play(whole.path, {"bench_seat": stack_names(1)[0]}, verbose=True).module_runs
    all_of_them = run_play(whole.path, whole.variables, verbose=True).module_runs
    return [
        ratio("file, template, docker_compose_v2 in loops / compose_stacks", peer_s / apply_s, 15, at_least=True),
        ratio("compose_stacks / one ping", apply_s / ping_s, 1.5),
        Measure("the same with host_info and the plan before it / one ping", f"{whole_s / ping_s:.2f} x"),
        Measure(f"module runs with 1 and {STACKS} stacks", f"{one} and {all_of_them}", "equal", one == all_of_them),
    ]


def seat_measures(times: int, seat: str) -> list[Measure]:
    """One seat through deploy-seat.yml, verified, with nothing to change."""
    deploy = Play(f"deploy-seat.yml -e seat={seat}", DEPLOY, {"seat": seat})
    say(f"{seat} is deployed ...")
    run_play(deploy.path, deploy.variables)
    ping_s, seat_s = median_seconds([ping_play(), deploy], times)
    runs = run_play(deploy.path, deploy.variables, verbose=True).module_runs
    return [
        ratio("one seat through deploy-seat.yml, verified / one ping", seat_s / ping_s, 2.5),
        Measure("module runs of that", str(runs)),
    ]


def remove_bench_stacks() -> None:
    """Containers and files of the bench's stacks only."""
    names = " ".join(stack_names(STACKS))
    on_lab_host(
        f"for name in {names}; do\n"
        '  ids=$(docker ps -aq --filter "label=gpu-seats.stack=$name")\n'
        '  [ -z "$ids" ] || docker rm -f $ids >/dev/null\n'
        '  rm -rf "/opt/docker/compose/$name" "/opt/docker/conf/$name"\n'
        "done\n"
    )


def lab_measures(times: int, seat: str) -> list[Measure]:
    """Everything that needs the lab host; its stacks are removed even when a play fails."""
    say("lab host ...")
    subprocess.run([sys.executable, "-m", "lab", "up"], cwd=PROJECT, check=True, timeout=1800)
    image = small_image(load_fleet(PROJECT))
    lay_fleet(FLEET, image, STACKS)
    run_play(ping_play().path, {})  # opens the connection that the following plays share
    try:
        measures = stacks_measures(times)
    finally:
        say("the bench's stacks are removed ...")
        remove_bench_stacks()
    return [*measures, *seat_measures(times, seat)]


def measures_text(measures: list[Measure]) -> str:
    columns = (Column("measure"), Column("value", right=True), Column("bound"), Column(""))
    words = {True: "met", False: "MISSED", None: ""}
    rows = [(Cell(m.what), Cell(m.value), Cell(m.bound), Cell(words[m.met])) for m in measures]
    return table_text(columns, rows, PLAIN)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5, help="runs of each fast play; the median counts (default 5)")
    parser.add_argument(
        "--seat",
        default="flash-next",
        help="the seat that is deployed (default flash-next, whose simulated engine answers at once)",
    )
    parser.add_argument("--no-lab", action="store_true", help="only what needs no host")
    chosen = parser.parse_args()
    measures = planning_measures()
    if not chosen.no_lab:
        try:
            measures = [*lab_measures(chosen.times, chosen.seat), *measures]
        except (PlayFailedError, subprocess.SubprocessError) as error:
            print(f"bench: {error}", file=sys.stderr)
            return 1
    print(f"\nNothing to change, {STACKS} stacks or one seat on {HOST}; plays by wall time, planning by CPU time.\n")
    print(measures_text(measures), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
