"""`python -m lab VERB`: the lab host's front door."""

from __future__ import annotations

import argparse
import sys

from . import verbs
from .command import LabError


def main() -> int:
    """Run one verb; 0 when it did what it says, 1 with one message when not."""
    parser = argparse.ArgumentParser(prog="python -m lab", description="The lab's GPU host: a system container.")
    verb = parser.add_subparsers(dest="verb", required=True)
    verb.add_parser("up", help="start the host, or bring a running one up to date (2 to 3 min the first time)")
    verb.add_parser("reset", help="a fresh host from the caches, nothing deployed")
    reboot = verb.add_parser("reboot", help="shut the running host down and boot it again; what is deployed stays")
    reboot.add_argument("--crash", action="store_true", help="kill every process of it at once instead")
    down = verb.add_parser("down", help="remove the host, keep the caches")
    down.add_argument("--all", action="store_true", help="remove the cached images and volumes too")
    verb.add_parser("status", help="what runs; rc 1 when the host is not up and healthy")
    verb.add_parser("build", help="make what is cached (base images, engine images) and start nothing")
    chosen = parser.parse_args()
    try:
        if chosen.verb == "status":
            return 0 if verbs.status() else 1
        with verbs.alone():
            if chosen.verb == "down":
                verbs.down(everything=chosen.all)
            elif chosen.verb == "reboot":
                verbs.reboot(crash=chosen.crash)
            else:
                {"up": verbs.up, "reset": verbs.reset, "build": verbs.build}[chosen.verb]()
    except LabError as error:
        print(f"lab: ERROR: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("lab: stopped; the next run picks up from here", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
