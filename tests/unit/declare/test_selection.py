"""What a name on the command line covers, and what is said of names that cover nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from declared_project import write_project

from gpu_seats.declare.fleet import Fleet, load_fleet
from gpu_seats.declare.problems import DeclarationError
from gpu_seats.declare.selection import select

TRIO = """\
stack: trio
host: fv-ml1
summary: several seats
seats:
  embed: &seat {state: serving, engine: other, image: "x:1", gpus: [], port: 8001}
  rerank: {<<: *seat, port: 8002}
  old: {state: retired, reason: replaced by embed, engine: other}
"""
GONE = """\
stack: gone
host: fv-ml1
summary: retired
seats:
  selene: {state: retired, reason: lost to gen, engine: vllm}
"""


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return load_fleet(write_project(tmp_path, {"stacks/trio/stack.yml": TRIO, "stacks/gone/stack.yml": GONE}))


def names(fleet: Fleet, asked: str) -> list[str]:
    return [one.workload for one in select(fleet, asked).selected]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("flash-next", ["flash-next"]),
        ("flash-next-seat", ["flash-next"]),
        ("rerank", ["rerank"]),
        ("trio", ["embed", "rerank"]),
        ("blender", ["blender"]),
        (" rerank , flash-next,,rerank", ["rerank", "flash-next"]),
        ("trio,embed", ["embed", "rerank"]),
        ("all", ["blender", "flash-next", "embed", "rerank"]),
    ],
)
def test_what_a_name_covers(fleet: Fleet, asked: str, expected: list[str]) -> None:
    assert names(fleet, asked) == expected


def test_a_name_counts_as_asked_for_and_all_does_not(fleet: Fleet) -> None:
    """on_demand workloads start only when they are named."""
    assert [one.named for one in select(fleet, "blender").selected] == [True]
    assert not any(one.named for one in select(fleet, "all").selected)


def test_retired_members_are_passed_over_with_their_reason(fleet: Fleet) -> None:
    assert select(fleet, "trio").passed_over == {"old": "retired: replaced by embed"}
    assert select(fleet, "all").passed_over == {"old": "retired: replaced by embed", "selene": "retired: lost to gen"}


@pytest.mark.parametrize("asked", ["selene", "gone", "old"])
def test_naming_what_is_retired_is_refused(fleet: Fleet, asked: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        select(fleet, asked)
    text = str(caught.value)
    assert f"{asked} is retired" in text
    assert "playbooks/retire-seat.yml" in text


def test_the_retire_verb_may_name_it(fleet: Fleet) -> None:
    assert [one.workload for one in select(fleet, "gone", retired=True).selected] == ["selene"]


def test_every_unknown_name_comes_with_its_nearest(fleet: Fleet) -> None:
    with pytest.raises(DeclarationError) as caught:
        select(fleet, "flash-nxt,rerank,Embed")
    texts = [str(problem) for problem in caught.value.problems]
    assert len(texts) == 2
    assert any("flash-nxt is no seat, stack or service" in text and "did you mean flash-next" in text for text in texts)
    assert any("did you mean embed?" in text for text in texts)


@pytest.mark.parametrize("asked", ["", ",", "all,rerank"])
def test_nothing_and_all_with_more_are_refused(fleet: Fleet, asked: str) -> None:
    with pytest.raises(DeclarationError, match="a seat, a stack, a list of them joined by commas, or all"):
        select(fleet, asked)


def test_views_of_a_selection(fleet: Fleet) -> None:
    chosen = select(fleet, "rerank,blender")
    assert (chosen.hosts, chosen.stacks) == (["fv-ml1"], ["trio", "blender"])
    assert [one.workload for one in chosen.of("trio")] == ["rerank"]
    assert chosen.find("trio", "embed") is None
    assert len(chosen.on("fv-ml1")) == 2
