"""What every test here starts from: caps that hold, and a seat on card 2."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from outside.caps import CAPPED, TIMER, WATCH
from outside.plays import CARDS_ONLY, deployed, power


@pytest.fixture(scope="session")
def seat(lab) -> str:
    """A seat that serves on card 2, and its container's name."""
    deployed("flash-next")
    return "flash-next"


@pytest.fixture(scope="module", autouse=True)
def capped(lab) -> Iterator[None]:
    """The caps hold before a module's tests, whatever the one before it left; no simulated failure stays on."""
    lab.clear_faults()
    if lab.limits() != CAPPED or lab.sh(f"systemctl is-active {TIMER}", ok=False) != "active":
        ensured = power(*CARDS_ONLY)
        assert ensured.rc == 0, ensured.out
    yield
    lab.clear_faults()


@pytest.fixture
def nobody_watches(lab) -> Iterator[None]:
    """The minute's look is off, so that what a test does to a limit is found by what the test runs."""
    lab.sh(f"systemctl stop {TIMER} {WATCH}")
    yield
    lab.sh(f"systemctl start {TIMER}")
