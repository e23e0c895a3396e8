"""Names, addresses and folders of the lab."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
LAB = PROJECT / "lab"
STATE = PROJECT / ".lab"

HOST = "fv-ml1"
# The host's declared address: it sits on `lo` inside, so that the host "has" it and a real network is never shadowed.
LAN_ADDRESS = "10.251.50.54"

# A second lab beside the first one (another checkout, a test of the lab itself) needs its own name and address.
CONTAINER = os.environ.get("GPU_SEATS_LAB_CONTAINER", f"gpu-seats-{HOST}")
REACH_ADDRESS = os.environ.get("GPU_SEATS_LAB_ADDRESS", "127.0.50.54")
SSH_PORT = 2222

LABEL = "gpu-seats.lab"
HOST_IMAGE = "gpu-seats-lab/host"
PYTHON_IMAGE = "gpu-seats-lab/python"
# The name that engine Dockerfiles build on, inside the lab host.
PYTHON_BASE_TAG = f"{PYTHON_IMAGE}:trixie"
DOCKER_VOLUME = f"{CONTAINER}-docker"
SEED_VOLUME_PREFIX = "gpu-seats-lab-images-"

STACKS_DIRS = (PROJECT / "stacks", LAB / "stacks")
HOST_FILE = PROJECT / "inventories" / "production" / "host_vars" / f"{HOST}.yml"
