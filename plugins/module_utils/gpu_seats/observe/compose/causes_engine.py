"""Failure texts about images, the engine itself and its networks, most specific first."""

from __future__ import annotations

from .cause import NAME, cause

IMAGE_CAUSES = (
    cause(
        "image.rate_limited",
        r"toomanyrequests|pull rate limit|429 Too Many Requests",
        "the registry refuses more pulls for now",
        True,
    ),
    cause(
        "image.no_platform",
        r"no matching manifest for (?P<name>\S+)"
        r"|requested image's platform \((?P<other>[^)]*)\) does not match|exec format error",
        "the image is not made for this machine",
    ),
    cause(
        "image.access_denied",
        r"pull access denied for (?P<name>[^\s,]+)",
        "the registry gives no access to {name}, or it does not exist",
    ),
    cause(
        "image.access_denied",
        r"unauthorized(?:: |$)|401 Unauthorized|denied: (?:requested access|permission|installation|denied)"
        r"|no basic auth credentials|403 Forbidden",
        "the registry gives no access to an image",
    ),
    cause("compose.image_missing", r"No such image: (?P<name>\S+)", "the host has no image {name}"),
    cause(
        "image.missing",
        r"manifest for (?P<name>\S+) not found"
        r"|failed to resolve reference \"(?P<third>[^\"]+)\".*not found|manifest unknown",
        "the image {name} does not exist",
    ),
    cause(
        "image.reference_invalid",
        r"invalid reference format|invalid reference: |repository name .*must be lowercase",
        "an image name is not valid",
    ),
    cause(
        "image.registry_unreachable",
        r"(?:Get|Head|Post) \"?(?P<name>https?://[^\s\"/]+)[^\n]*(?:no such host|i/o timeout"
        r"|connection refused|TLS handshake|deadline exceeded|request canceled|no route"
        r"|network is unreachable|server misbehaving|EOF|x509|certificate|reset by peer|proxyconnect)",
        "the registry {name} can't be reached",
        True,
    ),
    cause(
        "image.registry_unreachable",
        r"failed to (?:do request|copy|fetch|authorize|resolve source metadata).*(?:dial tcp|lookup"
        r"|deadline|EOF|timeout|oauth)",
        "a registry can't be reached",
        True,
    ),
    cause(
        "image.registry_unreachable",
        r"received unexpected HTTP status: 5\d\d(?P<name>.*)$|error from registry: (?:Internal|Bad Gateway|Service)",
        "the registry answers with an error of its own",
        True,
    ),
    cause(
        "image.damaged",
        r"failed to register layer: (?!.*no space)(?P<name>.*)|filesystem layer verification failed"
        r"|unexpected EOF|unexpected commit digest|layer does not exist",
        "an image arrived damaged",
        True,
    ),
)

ENGINE_CAUSES = (
    cause("host.disk_full", r"(?:(?P<name>/\S+?): )?no space left on device|disk quota exceeded", "the disk is full"),
    cause("host.read_only", r"read-only file system", "a file system is mounted read-only"),
    cause(
        "compose.engine_denied",
        r"permission denied while trying to connect to the (?:Docker daemon socket|docker API)"
        r"|Got permission denied|docker\.sock: connect: permission denied",
        "this user may not talk to Docker Engine",
    ),
    cause(
        "compose.engine_unreachable",
        r"Cannot connect to the Docker daemon|Is the docker daemon running"
        r"|failed to connect to the docker API|docker\.sock: (?:connect: )?(?:no such file"
        r"|connection refused)|error during connect",
        "Docker Engine does not answer",
    ),
    cause(
        "compose.plugin_missing",
        r"'compose' is not a docker command|unknown command: docker compose"
        r"|unknown shorthand flag: '.' in -\w+|unknown flag: --(?:project-name|file|project-directory"
        r"|env-file|progress)\b|docker-compose: (?:command )?not found|docker-compose: No such file",
        "the docker command here has no compose v2",
    ),
    cause(
        "compose.command_missing",
        r"\bdocker: (?:command )?not found|docker: No such file or directory"
        r"|No such file or directory: 'docker'|executable file not found.*\bdocker\"?$",
        "the docker command is not installed",
    ),
    cause(
        "compose.api_version",
        r"client version (?P<name>[\d.]+) is too (?:new|old).*?API version is (?P<other>[\d.]+)",
        "client and engine speak different API versions ({name} and {other})",
    ),
    cause(
        "compose.container_wedged",
        r"did not receive an exit event|is zombie and can not be killed|cannot (?:stop"
        r"|kill) container.*(?:timeout|deadline|permission denied)|could not kill",
        "a container can't be stopped: its process hangs, often in the driver",
    ),
    cause(
        "container.removal_in_progress",
        r"removal of container \S+ is already in progress|container is marked for removal",
        "a container is being removed",
        True,
    ),
    cause(
        "compose.firewall_failed",
        r"exec: \"docker-proxy\": executable file not found|[Tt]imed out proxy starting the userland proxy",
        "the engine could not start its userland proxy (docker-proxy)",
    ),
    cause("container.not_found", r"No such (?:container|object): (?P<name>\S+)", "there is no container {name}"),
    cause(
        "compose.firewall_chains_gone",
        r"No chain/target/match by that name|Chain '(?P<name>DOCKER[^']*)' does not exist"
        r"|DOCKER(?:-\w+)? chain.*(?:missing|not exist)|table `(?:nat|filter)' is incompatible",
        "the engine's firewall chains are gone",
    ),
    cause(
        "compose.firewall_failed",
        r"iptables failed: |Failed to Setup IP tables|failed to (?:add|apply) nftables|nft: .*Error",
        "the engine could not write its firewall rules",
    ),
)

NETWORK_CAUSES = (
    cause(
        "compose.network_pool",
        r"Pool overlaps with other one|non-overlapping IPv[46] address pool"
        r"|address pools have been fully subnetted|invalid pool request",
        "no address range is free for a network",
    ),
    cause(
        "compose.network_foreign",
        r"network (?P<name>\S+) was found but has incorrect label"
        r"|a network with name (?P<other>\S+) exists but was not created",
        "network {name} exists and belongs to somebody else",
    ),
    cause(
        "compose.network_missing",
        rf"network {NAME}\S* declared as external, but could not be found|(?:Could not attach to network"
        rf"|network) (?P<other>\S+?):? (?:not found|could not be found)",
        "network {name} does not exist",
    ),
    cause(
        "compose.network_in_use",
        r"network[^\n]{0,300}has active endpoints",
        "a network can't be removed, containers are still on it",
    ),
    cause(
        "compose.endpoint_stale",
        r"endpoint with name (?P<name>\S+) already exists in network (?P<other>\S+?)\.?$",
        "network {other} still lists an old endpoint of {name}",
    ),
    cause(
        "compose.volume_missing",
        rf"(?:external )?volume {NAME}\S* (?:declared as external, but could not be found|not found)",
        "volume {name} does not exist",
    ),
)
