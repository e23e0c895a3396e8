"""Labels of a container: whose it is, what it was made from, and its tile on the Homepage dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..declare.workload import Homepage, Workload

STACK_LABEL = "gpu-seats.stack"
SEAT_LABEL = "gpu-seats.seat"
SERVICE_LABEL = "gpu-seats.service"
DIGEST_LABEL = "gpu-seats.digest"


def ownership_labels(stack: str, name: str, *, is_seat: bool) -> dict[str, str]:
    """Labels that say which stack and which seat (or service) a container belongs to."""
    return {STACK_LABEL: stack, SEAT_LABEL if is_seat else SERVICE_LABEL: name}


def homepage_labels(homepage: Homepage | None, address: str | None, port: int | None) -> dict[str, str]:
    """``homepage.*`` labels; the link is made from the host's address, so that a renumbering reaches every tile."""
    if homepage is None:
        return {}
    labels = {"homepage.group": homepage.group, "homepage.name": homepage.name}
    if address is not None and port is not None:
        labels["homepage.href"] = f"http://{_url_host(address)}:{port}{homepage.path}"
    optional = {"icon": homepage.icon, "description": homepage.description, "weight": homepage.weight}
    labels.update({f"homepage.{key}": str(value) for key, value in optional.items() if value is not None})
    return labels


def _url_host(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def service_labels(stack: str, name: str, workload: Workload, address: str | None, port: int | None) -> dict[str, str]:
    """All labels but the digest, sorted; what the operator declared adds to ours and never replaces ownership."""
    is_seat = hasattr(workload, "engine")
    labels = {**workload.labels, **homepage_labels(workload.homepage, address, port)}
    labels.update(ownership_labels(stack, name, is_seat=is_seat))
    return dict(sorted(labels.items()))
