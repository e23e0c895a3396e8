"""explain answers from the catalogue and never leaves a reader without a next step."""

from __future__ import annotations

import json
from collections.abc import Callable

from small_project import Outcome

from gpu_seats.catalogue import CATALOGUE

Command = Callable[..., Outcome]


def test_a_code_is_explained_with_its_remedy(gpu_seats: Command) -> None:
    outcome = gpu_seats("explain", "port.unpublished")
    words = " ".join(outcome.out.split())
    assert outcome.code == 0
    assert CATALOGUE["port.unpublished"].meaning in words
    assert f"do: {CATALOGUE['port.unpublished'].remedy}" in words


def test_a_near_miss_names_the_code_that_was_meant(gpu_seats: Command) -> None:
    outcome = gpu_seats("explain", "port.unpublishd")
    assert outcome.code == 2
    assert "port.unpublished" in outcome.err


def test_without_a_code_all_are_listed(gpu_seats: Command) -> None:
    assert set(json.loads(gpu_seats("explain", "--json").out)) == set(CATALOGUE)
    text = gpu_seats("explain").out
    assert all(len(line) <= 100 for line in text.splitlines())
