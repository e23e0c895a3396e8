"""All known failure texts of Docker Engine, Compose and the NVIDIA runtime, most specific first."""

from __future__ import annotations

from .cause import cause
from .causes_engine import ENGINE_CAUSES, IMAGE_CAUSES, NETWORK_CAUSES
from .causes_hardware import GPU_CAUSES, PORT_CAUSES
from .causes_project import FILE_CAUSES, START_CAUSES

CAUSES = (*PORT_CAUSES, *GPU_CAUSES, *IMAGE_CAUSES, *ENGINE_CAUSES, *NETWORK_CAUSES, *FILE_CAUSES, *START_CAUSES)

GENERIC = (
    cause(
        "container.start_failed",
        r"OCI runtime (?:create|exec) failed: (?P<name>.*)$|failed to create (?:shim task|shim"
        r"|task for container): (?P<other>.*)$",
        "the container could not be started: {name}",
    ),
    cause(
        "compose.network_setup_failed",
        r"failed to set up container networking: (?P<name>.*)$|failed programming external connectivity(?P<other>.*)$",
        "the container's network could not be set up: {name}",
    ),
    cause(
        "compose.engine_refused",
        r"Error response from daemon: (?P<name>.*)$|\(HTTP code \d+\) (?P<other>.*)$",
        "Docker Engine refused: {name}",
    ),
    cause(
        "compose.failed",
        r"^(?:(?=service \"[^\"]*\" )|Error: |ERROR: |error |failed to |unable to )(?P<name>.*)$"
        r"|level=(?:error|fatal) msg=\"?(?P<other>.*?)\"?$",
        "Compose failed: {name}",
    ),
)
"""Reported only where no known cause stands on the same line or the next."""
