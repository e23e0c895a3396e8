"""Fixtures of the scenario: the lab host, a copy of the project to spoil, and seats that stand before every test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from outside.lab_host import LabHost
from outside.plays import deployed
from outside.scratch import ScratchProject

SEATS = {"flash-next": 8022, "smol": 8090}


@pytest.fixture(scope="session")
def lab() -> LabHost:
    """The lab host, looked at by ssh."""
    return LabHost()


@pytest.fixture(scope="session")
def _copy(tmp_path_factory) -> ScratchProject:
    return ScratchProject(tmp_path_factory.mktemp("project") / "gpu-seats")


@pytest.fixture
def scratch(_copy) -> Iterator[ScratchProject]:
    """A copy of the project; what the test changed in its declarations is undone."""
    yield _copy
    _copy.restore_all()


@pytest.fixture
def untouched(lab) -> Callable[[], AbstractContextManager[None]]:
    """`with untouched():` nothing on the host may change meanwhile."""

    @contextmanager
    def guarded() -> Iterator[None]:
        before = lab.snapshot()
        yield
        assert lab.snapshot() == before

    return guarded


@pytest.fixture
def standing(lab) -> Iterator[None]:
    """Both seats serve before the test, whatever the one before it left; simulated failures are off afterwards."""
    ensure_standing(lab)
    yield
    lab.clear_faults()


def ensure_standing(lab) -> None:
    """Deploys where a seat does not answer, so that one failing test does not fail those after it."""
    if any(lab.get(port, "/health") != "200" for port in SEATS.values()):
        deployed(",".join(SEATS))
