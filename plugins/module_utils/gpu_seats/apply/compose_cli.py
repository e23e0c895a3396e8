"""Calls of `docker compose` and `docker pull`: how they are written, and what a failed one means."""

from __future__ import annotations

from collections.abc import Sequence

from ..observe.command import CommandResult

STOP_GRACE_S = 30
EVIDENCE_CHARACTERS = 4000
ENVIRONMENT = {"COMPOSE_ANSI": "never", "COMPOSE_PROFILES": "", "DOCKER_CLI_HINTS": "false"}
"""What the caller's environment must not decide; files and names are given on the command line."""


def up_command(
    project: str, directory: str, services: Sequence[str], force_recreate: bool, file: str = ""
) -> list[str]:
    """Create and start exactly these services of one project; no other service, no other project, no pull, no build.

    file: the Compose file, compose.yaml in `directory` unless given.
    """
    command = [*_compose(project, directory, file), "up", "--detach", "--no-deps", "--no-build", "--pull", "never"]
    command += ["--timeout", str(STOP_GRACE_S)]
    if force_recreate:
        command.append("--force-recreate")
    return [*command, *services]


def pull_command(image: str) -> list[str]:
    return ["docker", "pull", "--quiet", image]


def _compose(project: str, directory: str, file: str = "") -> list[str]:
    # -f switches off override files and COMPOSE_FILE, -p whatever name a file or .env gives
    chosen = file or f"{directory}/compose.yaml"
    return ["docker", "compose", "--project-name", project, "--project-directory", directory, "--file", chosen]


def evidence(result: CommandResult) -> dict[str, object]:
    """What a finding about a failed call carries."""
    return {
        "cmd": " ".join(result.argv),
        "rc": result.rc,
        "stdout": result.stdout[-EVIDENCE_CHARACTERS:],
        "stderr": result.stderr[-EVIDENCE_CHARACTERS:],
    }


__all__ = ["ENVIRONMENT", "STOP_GRACE_S", "evidence", "pull_command", "up_command"]
