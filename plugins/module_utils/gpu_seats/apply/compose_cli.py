"""Calls of `docker compose` and `docker pull`: how they are written, and what a failed one means."""

from __future__ import annotations

from collections.abc import Sequence

from .held_command import CommandResult

STOP_GRACE_S = 30
EVIDENCE_CHARACTERS = 4000


def up_command(project: str, directory: str, services: Sequence[str], force_recreate: bool) -> list[str]:
    """Create and start exactly these services of one project; no other service, no other project, no pull, no build."""
    command = [*_compose(project, directory), "up", "--detach", "--no-deps", "--no-build", "--pull", "never"]
    command += ["--timeout", str(STOP_GRACE_S)]
    if force_recreate:
        command.append("--force-recreate")
    return [*command, *services]


def config_command(project: str, directory: str) -> list[str]:
    """Let Compose read the file; it prints nothing unless the file is wrong."""
    return [*_compose(project, directory), "config", "--quiet"]


def pull_command(image: str) -> list[str]:
    return ["docker", "pull", "--quiet", image]


def _compose(project: str, directory: str) -> list[str]:
    # -f switches off override files and COMPOSE_FILE, -p whatever name a file or .env gives
    file = f"{directory}/compose.yaml"
    return ["docker", "compose", "--project-name", project, "--project-directory", directory, "--file", file]


def evidence(result: CommandResult) -> dict[str, object]:
    """What a finding about a failed call carries."""
    return {
        "cmd": " ".join(result.argv),
        "rc": result.rc,
        "stdout": result.stdout[-EVIDENCE_CHARACTERS:],
        "stderr": result.stderr[-EVIDENCE_CHARACTERS:],
    }


__all__ = ["STOP_GRACE_S", "config_command", "evidence", "pull_command", "up_command"]
