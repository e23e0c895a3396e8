"""`make lint`, `make unit`, `make test`: the checks in order, fastest first, each timed.

The first step that fails ends the run. The last line sums up what the test runners counted: `N passed, N failed`.
"""

from __future__ import annotations

import argparse
import sys
import time

from .steps import BIN, PROJECT, Counts, banner, run_step

Step = tuple[str, list[str], float]  # name, command, time limit in seconds


def lint_steps() -> list[Step]:
    """Static checks."""
    return [
        ("ruff", [str(BIN / "ruff"), "check", "."], 120),
        ("ruff format", [str(BIN / "ruff"), "format", "--check", "."], 120),
        ("mypy gpu_seats", [str(BIN / "mypy")], 600),
        (
            "mypy lab, scripts",
            [str(BIN / "mypy"), "-p", "lab", "-p", "scripts", "--exclude", "lab/(sim|engines)/"],
            600,
        ),
        ("yamllint", [str(BIN / "yamllint"), "--strict", "."], 120),
        ("ansible-lint", [str(BIN / "ansible-lint"), "--offline", "--strict", "--profile", "production"], 900),
    ]


def unit_steps() -> list[Step]:
    """Tests that need no host."""
    return [("unit tests", [str(BIN / "python"), "-m", "pytest", "-q", "tests/unit"], 1800)]


def lab_steps() -> list[Step]:
    """Tests against the lab host: its own Compose, then one molecule scenario a verb."""
    found = {path.parent.name for path in (PROJECT / "molecule").glob("*/molecule.yml")}
    scenarios = sorted({"deploy-seat", *found})  # the main verb's scenario is never left out silently
    start = ("lab host", [str(BIN / "python"), "-m", "lab", "up"], 1800)
    compose = ("lab tests", [str(BIN / "python"), "-m", "pytest", "-q", "tests/lab"], 900)
    return [
        start,
        compose,
        *((f"molecule {name}", [str(BIN / "molecule"), "test", "-s", name], 2400) for name in scenarios),
    ]


def run(steps: list[Step], *, counted: bool = True) -> int:
    """Run steps until one fails; 0 when all went well. `counted` says whether test runners are among them."""
    begun, total = time.monotonic(), Counts()
    failed = None
    for name, argv, limit_s in steps:
        rc, counts = run_step(name, argv, limit_s=limit_s)
        total += counts
        if rc != 0:
            failed = name
            total += Counts(failed=0 if counts.failed else 1)
            break
    verdict = f"stopped at '{failed}'" if failed else f"all {len(steps)} steps went well"
    banner(f"{verdict}, {time.monotonic() - begun:.0f} s")
    if counted:
        print(total.closing_line(), flush=True)
    return 1 if failed else 0


def main() -> int:
    """Choose the steps by name."""
    groups = {"lint": lint_steps, "unit": unit_steps, "lab": lab_steps}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("group", nargs="+", choices=groups, help="which steps, in this order")
    chosen = parser.parse_args().group
    return run([step for group in chosen for step in groups[group]()], counted=chosen != ["lint"])


if __name__ == "__main__":
    sys.exit(main())
