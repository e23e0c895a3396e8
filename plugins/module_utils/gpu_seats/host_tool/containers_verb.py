"""``containers check [--repair]``: do running containers still have their GPUs?"""

from __future__ import annotations

import argparse
import json

SUMMARY = "Look for lost GPUs inside every running container that was given some."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=["check"])
    parser.add_argument("--repair", action="store_true", help="restart those that lost them, once, and look again")
    parser.add_argument("--settle-s", type=float, default=0.0, help="seconds to wait first (after a daemon-reload: 2)")
    parser.add_argument("--limit-s", type=float, default=20.0, help="limit of nvidia-smi inside a container")
    parser.add_argument("--docker-socket", default="/var/run/docker.sock")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def run(options: argparse.Namespace) -> int:
    """0: every container sees its cards. 1: at least one does not, or Docker could not be asked."""
    from ..observe.command import run as run_command
    from ..observe.engine_api import EngineApi
    from ..verify.container_gpus import check_containers

    checked = check_containers(
        EngineApi(options.docker_socket),
        run_command,
        repair=options.repair,
        settle_s=options.settle_s,
        query_limit_s=options.limit_s,
    )
    if options.json:
        print(json.dumps(checked.as_dict(), indent=1))
    else:
        for look in checked.looks:
            print(look.text)
        for one in checked.findings:
            print(f"{one.severity} {one.code} {one.subject}: {one.message}")
        if not checked.looks and not checked.findings:
            print("no running container has a GPU")
    return 0 if checked.ok else 1
