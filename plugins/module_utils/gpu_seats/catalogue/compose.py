"""Findings about Docker Engine and Compose."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {
    "compose.stranger_in_project": FindingKind(
        "info",
        "A container of the stack's Compose project belongs to no declared service and was not made by "
        "gpu-seats. It is never touched.",
        "Declare it in the stack's stack.yml, or remove it by hand.",
    ),
    "compose.project_other_spelling": FindingKind(
        "error",
        "The stack runs under another Compose project name: old Compose dropped the dots of a "
        "directory's name. A second copy would fight for the same names and ports.",
        "Set project: in stack.yml to the name that is running, or let this one take over with -e take_over=true.",
    ),
    "compose.container_name_taken": FindingKind(
        "error",
        "Container names are unique on a host, and one that a service is to have is held by a container "
        "of somebody else.",
        "Remove or rename the other container, or set container_name in stack.yml.",
    ),
    "compose.container_missing": FindingKind(
        "error",
        "Compose ended without an error and the container it was to make is not there.",
        "Look for another tool that removes containers on this host (docker events), then deploy again.",
    ),
    "compose.labels_stale": FindingKind(
        "error",
        "Labels attach only when a container is made, and this one was not made anew.",
        "Remove the container (docker rm -f NAME) and deploy again.",
    ),
    "compose.locked": FindingKind(
        "error",
        "Another run works on this host, or a Compose call of a killed run is not done yet.",
        "Wait for it to end and run again; the message names the process.",
    ),
    "compose.engine_unreachable": FindingKind(
        "error",
        "Docker Engine gives no answer, so nothing could be looked at and nothing was touched.",
        "systemctl status docker; journalctl -u docker -n 50. A mount that Docker requires may be missing.",
    ),
    "compose.engine_refused": FindingKind(
        "error",
        "Docker Engine refused a request.",
        "Read its words in the message; journalctl -u docker -n 50 tells more.",
    ),
    "compose.container_wedged": FindingKind(
        "critical",
        "Docker did not stop or start a container within its limit: a process in it hangs in the driver.",
        "Do not force it. nvidia-smi and the kernel log (Xid) tell which card; a process in state D needs a reboot.",
    ),
    "compose.image_missing": FindingKind(
        "error",
        "A service is to be made of an image that the host does not have, and pulling is switched off.",
        "Deploy with -e pull=missing, or load the image (docker load).",
    ),
    "compose.image_to_pull": FindingKind(
        "info",
        "The image is not on the host yet (or is asked for anew) and would be pulled before anything is touched.",
        "Nothing to do; a pull of an engine image takes minutes.",
    ),
    "compose.command_missing": FindingKind(
        "error",
        "The docker command line is not installed.",
        "Install the packages docker-cli and docker-compose (Debian), or docker-ce-cli and docker-compose-plugin.",
    ),
    "compose.timeout": FindingKind(
        "critical",
        "A Docker command did not end within its time limit and was ended. The next run repairs what it left.",
        "Look at the engine (journalctl -u docker) and at the cards (nvidia-smi), then deploy again.",
    ),
    "compose.failed": FindingKind(
        "error",
        "A Docker command failed with a text that is not known.",
        "Read stderr in the evidence; run the command of the evidence by hand.",
    ),
    "compose.file_not_written": FindingKind(
        "error",
        "A file could not be read or written; the one that was there still stands, and the stack was not "
        "touched further.",
        "Make room or fix the path that the message names, then deploy again.",
    ),
    "compose.no_last_good": FindingKind(
        "error",
        "There is no earlier deploy of this stack that was verified, so there is nothing to go back to.",
        "Deploy what is declared; a deploy that verifies is kept for the next rollback.",
    ),
}
