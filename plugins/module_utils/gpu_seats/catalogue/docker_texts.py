"""Findings about what Docker Engine and Compose print or show of containers, images, networks and files.

Where it matters the remedy says whether trying again without a change is right.
"""

from __future__ import annotations

from .kind import FindingKind

_CONTAINERS = {
    "container.exited": FindingKind(
        "error",
        "A container is not running although its restart policy wants it to, or it ended with an error.",
        "Read the cause in the message and the container's log; deploy again once it is gone.",
    ),
    "container.never_started": FindingKind(
        "error",
        "A container was created and could not be started. Docker leaves it behind, without its networks.",
        "Remove it and deploy again; docker start on it may bring it up without ports.",
    ),
    "container.restart_loop": FindingKind(
        "error",
        "A container starts and ends again and again.",
        "Read the first error of its log, not the last line; set restart to no while you look.",
    ),
    "container.dead": FindingKind(
        "critical",
        "Docker could not remove a container; often its process or a mount hangs.",
        "Look for processes in state D and for the card's Xid lines; a reboot may be needed.",
    ),
    "container.paused": FindingKind(
        "warning",
        "A container is paused: it keeps its memory and answers nothing.",
        "docker unpause NAME, or find out who paused it.",
    ),
    "container.oom_killed": FindingKind(
        "error",
        "The kernel ended a container because its memory limit, or the host's memory, was used up.",
        "Raise mem_limit above the seat's claim, or move a tenant away; count pinned tables of the engine in.",
    ),
    "container.unhealthy": FindingKind(
        "error",
        "The container's health check fails.",
        "Read the last outputs of the check in the evidence and the container's log.",
    ),
    "container.health_stale": FindingKind(
        "info",
        "The health word of a container that does not run is from before it ended.",
        "Ignore it; look at the state.",
    ),
    "container.recreate_leftover": FindingKind(
        "warning",
        "A container is left over from a recreate that was interrupted: its labels may be half old, half new.",
        "Deploy the stack again; it removes the leftover and compares the labels.",
    ),
    "container.not_found": FindingKind(
        "error",
        "There is no container, image or network of this name.",
        "Compare the name with docker ps -a; the project name may have another spelling.",
    ),
    "container.removal_in_progress": FindingKind(
        "warning",
        "A container is just being removed.",
        "Try again in a few seconds; a retry is right. When it stays, look for a hanging mount.",
    ),
    "container.start_failed": FindingKind(
        "error",
        "The container runtime could not start a container, for a reason that is not known here.",
        "Read the text; docker events and journalctl -u docker tell more.",
    ),
    "container.command_missing": FindingKind(
        "error",
        "The image has not the program that the container is to run.",
        "Compare command and entrypoint with the image's; an image bump may have moved it. Do not retry.",
    ),
    "container.rlimit_refused": FindingKind(
        "error",
        "The engine may not raise a limit that ulimits asks for.",
        "Lower the ulimit, or raise the engine's own (LimitMEMLOCK, LimitNOFILE of docker.service).",
    ),
    "container.cgroup_failed": FindingKind(
        "error",
        "The engine could not set a container's resources or devices.",
        "Read the text: a limit may be out of range, or the cgroup driver of Docker and systemd differ.",
    ),
    "container.mode_conflict": FindingKind(
        "error",
        "Options of a container exclude each other.",
        "Remove one of the options that the text names.",
    ),
}

_IMAGES = {
    "image.missing": FindingKind(
        "error",
        "The registry has no image of this name and tag. Nightly tags live about two weeks.",
        "Correct the tag; pin by digest and mirror what must stay. Do not retry.",
    ),
    "image.access_denied": FindingKind(
        "error",
        "The registry gives no access, or there is no such image: it does not tell which.",
        "Check the spelling, then docker login on the host with an account that may pull it.",
    ),
    "image.rate_limited": FindingKind(
        "warning",
        "The registry limits pulls from this address.",
        "Log in, or pull through a mirror. A retry is right, but later.",
    ),
    "image.registry_unreachable": FindingKind(
        "error",
        "The registry can't be reached from the host.",
        "Check DNS, proxy and route of the host. A retry is right once they work.",
    ),
    "image.no_platform": FindingKind(
        "error",
        "The image is not made for this machine's processor.",
        "Choose a tag for linux/amd64.",
    ),
    "image.reference_invalid": FindingKind(
        "error",
        "An image name is not valid: an empty variable, a space, or a capital letter.",
        "Correct image: in stack.yml.",
    ),
    "image.damaged": FindingKind(
        "error",
        "An image arrived damaged or incomplete.",
        "Pull it again; when it repeats check the disk of Docker's data root.",
    ),
}

_ENGINE = {
    "compose.engine_denied": FindingKind(
        "error",
        "The user may not talk to Docker Engine.",
        "Run as root (become: true), or put the user into the group docker.",
    ),
    "compose.plugin_missing": FindingKind(
        "error",
        "The docker command has no compose v2 plugin.",
        "Install docker-compose (Debian 13) or docker-compose-plugin (Docker's packages). Do not retry.",
    ),
    "compose.api_version": FindingKind(
        "error",
        "The docker command and the engine speak different API versions.",
        "Bring both to releases that fit; a stale DOCKER_API_VERSION or another context may be set.",
    ),
    "compose.firewall_chains_gone": FindingKind(
        "error",
        "Docker's firewall chains were wiped by another tool, so no port can be published.",
        "systemctl restart docker writes them again; then keep the other tool away from them. Do not retry compose.",
    ),
    "compose.firewall_failed": FindingKind(
        "error",
        "Docker could not write its firewall rules.",
        "Read the text; restart Docker after the firewall was changed. Do not retry compose before.",
    ),
    "compose.network_setup_failed": FindingKind(
        "error",
        "A container's network could not be set up.",
        "Read the text. Remove the container before the next try: it was left without networks.",
    ),
    "compose.network_pool": FindingKind(
        "error",
        "No address range is free for a new network, or the wanted one overlaps.",
        "docker network prune on unused ones, or set default-address-pools in daemon.json.",
    ),
    "compose.network_missing": FindingKind(
        "error",
        "A network that a stack uses and does not make is not there.",
        "Create it (docker network create NAME) or deploy the stack that makes it first.",
    ),
    "compose.network_foreign": FindingKind(
        "error",
        "A network of the wanted name exists and was made by somebody else.",
        "Declare it as external, or remove it once nothing uses it.",
    ),
    "compose.network_in_use": FindingKind(
        "warning",
        "A network can't be removed because containers are on it.",
        "Leave it, or take the named containers off it first.",
    ),
    "compose.endpoint_stale": FindingKind(
        "error",
        "A network lists an endpoint of a container that is gone.",
        "docker network disconnect -f NETWORK NAME, then deploy again.",
    ),
    "compose.volume_missing": FindingKind(
        "error",
        "A volume that a stack uses and does not make is not there.",
        "Create it (docker volume create NAME), or check which host holds its data.",
    ),
    "compose.volume_foreign": FindingKind(
        "warning",
        "A volume was made by another project.",
        "Declare it as external when it is meant to be shared.",
    ),
    "compose.device_missing": FindingKind(
        "error",
        "A device that a container is to have is not there.",
        "Check the path on the host; load its driver.",
    ),
}

_FILES = {
    "compose.project_name_invalid": FindingKind(
        "error",
        "A project name may hold lower-case letters, digits, - and _ only, and starts with a letter or digit.",
        "Set name: in the Compose file; old Compose dropped dots, so look for containers under that spelling.",
    ),
    "compose.file_missing": FindingKind(
        "error",
        "There is no Compose file where it was looked for.",
        "Check the project directory; deploy the stack to write it.",
    ),
    "compose.env_file_missing": FindingKind(
        "error",
        "An env file that the stack names is not there.",
        "Deploy the stack's secrets, or mark the file required: false.",
    ),
    "compose.env_file_invalid": FindingKind(
        "error",
        "An env file can't be read as one.",
        "Write NAME='value' lines; only single quotes keep a $ as it is.",
    ),
    "compose.variable_required": FindingKind(
        "error",
        "The Compose file requires a variable that has no value.",
        "Set it in the env file of the project.",
    ),
    "compose.variable_unset": FindingKind(
        "warning",
        "A variable is not set and Compose puts nothing in its place; a value with a $ in it may be broken so.",
        "Escape a literal $ as $$ in the Compose file, or put the value in single quotes in the env file.",
    ),
    "compose.interpolation_invalid": FindingKind(
        "error",
        "A value holds a $ that is no variable.",
        "Write $$ for a literal $, in exactly one place.",
    ),
    "compose.yaml_invalid": FindingKind(
        "error",
        "The Compose file is no valid YAML.",
        "Look at the named line: tabs are not allowed for indentation, a colon in text needs quotes.",
    ),
    "compose.schema_invalid": FindingKind(
        "error",
        "The Compose file has a key or a type that Compose does not take.",
        "Correct the key that the text names.",
    ),
    "compose.service_unknown": FindingKind(
        "error",
        "A service is named that the Compose file does not have.",
        "Compare the name with the services of the file.",
    ),
    "compose.mount_source_missing": FindingKind(
        "error",
        "A path that a container is to mount is not there.",
        "Check that its file system is mounted before you create it: an empty directory hides a missing mount.",
    ),
    "compose.mount_not_a_directory": FindingKind(
        "error",
        "A mount joins a file and a directory. Docker creates a directory where the file was missing at first start.",
        "Remove the wrong directory on the host, put the file there, then deploy again.",
    ),
    "compose.creates_host_path": FindingKind(
        "info",
        "A bind mount makes its host path when it is missing, so a missing file system goes unnoticed.",
        "Use the long form of the mount without create_host_path.",
    ),
    "compose.dependency_failed": FindingKind(
        "error",
        "A service that another waits for did not come up.",
        "Look at the named container's log; right after a restart its health word may be stale, then a retry is right.",
    ),
    "compose.version_obsolete": FindingKind(
        "info",
        "The key version has no meaning any more.",
        "Remove it from the Compose file.",
    ),
    "compose.orphans": FindingKind(
        "warning",
        "The project has containers without a service in its file.",
        "Look at them by project and service; remove them by hand when nothing needs them.",
    ),
    "compose.warning": FindingKind(
        "info",
        "Compose printed a warning.",
        "Read it.",
    ),
}

_HOST = {
    "host.disk_full": FindingKind(
        "critical",
        "A file system of the host is full.",
        "df -h; make room in Docker's data root (docker image prune) or move it. Do not retry before.",
    ),
    "host.read_only": FindingKind(
        "critical",
        "A file system is mounted read-only, often after a disk error.",
        "Read the kernel log before you remount it.",
    ),
}

KINDS: dict[str, FindingKind] = {**_CONTAINERS, **_IMAGES, **_ENGINE, **_FILES, **_HOST}
