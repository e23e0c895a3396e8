"""What must be there on the host before anything is touched: Docker, Compose v2, room on the disks, images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings import Finding, finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .observed import Observed

FULL_DISK_MIB = 64
"""Less free room than this and a file may be cut short."""


def docker_findings(host_name: str, observed: Observed) -> list[Finding]:
    """Docker Engine and Compose v2 as the host shows them; nothing where nobody looked."""
    subject = f"host:{host_name}"
    if observed.docker_available is False:
        because = f": {observed.docker_reason}" if observed.docker_reason else ""
        return [
            finding("compose.engine_unreachable", subject, f"Docker Engine does not answer on {host_name}{because}")
        ]
    if observed.docker_available and observed.compose_version is None:
        return [finding("compose.plugin_missing", subject, f"docker compose is not installed on {host_name}")]
    if observed.compose_version is not None and observed.compose_version.lstrip("v").startswith("1."):
        text = f"{host_name} has Compose {observed.compose_version}; version 2 is needed (docker compose)"
        return [finding("compose.plugin_missing", subject, text)]
    return []


def address_findings(host_name: str, address: str | None, observed: Observed) -> list[Finding]:
    """The declared address against what the interfaces hold; a warning, because a host may stand behind another's."""
    if address is None or observed.addresses is None or address in observed.addresses:
        return []
    text = f"{host_name} is declared at {address}, and its interfaces hold {', '.join(observed.addresses) or 'none'}"
    return [finding("host.address_absent", f"host:{host_name}", text, {"declared": address}, severity="warning")]


def disk_findings(host_name: str, observed: Observed) -> list[Finding]:
    """Paths without room for a file."""
    return [
        finding(
            "host.disk_full",
            f"host:{host_name}",
            f"{path} of {host_name} has {float(sizes['free_mib']):,.0f} MiB free; {FULL_DISK_MIB} are needed",
            {"path": path, "free_mib": sizes["free_mib"]},
        )
        for path, sizes in sorted(observed.disks.items())
        if sizes.get("free_mib") is not None and float(sizes["free_mib"]) < FULL_DISK_MIB
    ]


def image_findings(wanted: Mapping[str, str], observed: Observed, pull: str) -> list[Finding]:
    """Images that are not there while nothing may be pulled. wanted: subject of a workload -> its image."""
    if pull != "never" or observed.images is None:
        return []
    images = observed.images
    return [
        finding(
            "compose.image_missing", subject, f"image {image} is not on the host, and pull is never", {"image": image}
        )
        for subject, image in wanted.items()
        if images.get(image) is None
    ]
