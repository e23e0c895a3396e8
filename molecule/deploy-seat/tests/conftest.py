"""The seats that every test here starts from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from outside.plays import deployed

SEATS = {"flash-next": 8022, "smol": 8090}


@pytest.fixture(scope="module", autouse=True)
def standing(lab) -> Iterator[None]:
    """Both seats serve before a module's tests, whatever the one before it left; no simulated failure stays on."""
    lab.sh("nvidia-smi -pl 275")  # the declared caps, without which a status is not green; molecule/power is about them
    ensure_standing(lab)
    yield
    lab.clear_faults()


def ensure_standing(lab) -> None:
    """Deploys where a seat does not answer, so that one failing test does not fail those after it."""
    if any(lab.get(port, "/health") != "200" for port in SEATS.values()):
        deployed(",".join(SEATS))
