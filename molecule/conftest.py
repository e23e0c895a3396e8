"""Fixtures of every scenario: the lab host and a copy of the project to spoil."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from outside.lab_host import LabHost
from outside.scratch import ScratchProject


@pytest.fixture(scope="session")
def lab() -> Iterator[LabHost]:
    """The lab host, looked at by ssh."""
    with tempfile.TemporaryDirectory(prefix="ssh-") as sockets:  # a socket's path must be short
        yield LabHost(Path(sockets))


@pytest.fixture(scope="session")
def _copy(new_copy) -> ScratchProject:
    return new_copy()


@pytest.fixture
def scratch(_copy) -> Iterator[ScratchProject]:
    """A copy of the project; what the test changed in its declarations is undone."""
    yield _copy
    _copy.restore_all()


@pytest.fixture(scope="session")
def new_copy(tmp_path_factory) -> Callable[[], ScratchProject]:
    """Makes further copies, each for a run that several tests of a module read."""
    return lambda: ScratchProject(tmp_path_factory.mktemp("project") / "gpu-seats")


@pytest.fixture(scope="session")
def untouched(lab) -> Callable[[], AbstractContextManager[None]]:
    """`with untouched():` nothing that a deploy makes may change meanwhile."""
    return lambda: _unchanged(lab.snapshot)


@pytest.fixture(scope="session")
def power_untouched(lab) -> Callable[[], AbstractContextManager[None]]:
    """`with power_untouched():` no limit, unit or file of the caps may change meanwhile."""
    return lambda: _unchanged(lab.power_snapshot)


@contextmanager
def _unchanged(snapshot: Callable[[], str]) -> Iterator[None]:
    before = snapshot()
    yield
    assert snapshot() == before
