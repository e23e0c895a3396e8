"""Project names: the ones that Compose once gave, so that a dotted stack keeps its containers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_cases import codes, fleet, host, seat, stack

from gpu_seats.plan.fleet_plan import plan_fleet
from gpu_seats.plan.names import compose_name, container_name, project_aliases, project_name


@pytest.mark.parametrize(
    ("directory", "project"),
    [
        ("qwen3.5-122b", "qwen35-122b"),
        ("mistral-medium-3.5", "mistral-medium-35"),
        ("gpu01.lan", "gpu01lan"),
        ("01-llm", "01-llm"),
        ("a_b", "a_b"),
        ("_x", "x"),
        ("-_-X.Y", "xy"),
        ("...", ""),
    ],
)
def test_project_name_of_a_directory(directory, project):
    assert compose_name(directory) == project


@given(st.text(max_size=40))
def test_every_made_name_is_one_that_compose_takes(directory):
    made = compose_name(directory)
    assert made == "" or re.fullmatch(r"[a-z0-9][a-z0-9_-]*", made)
    assert compose_name(made) == made


def test_declared_project_wins_and_other_spellings_are_known():
    dotted = stack("qwen3.5-122b", {"q": seat()})
    assert project_name(dotted) == "qwen35-122b"
    assert project_aliases(dotted) == ["qwen3-5-122b", "qwen3_5-122b", "qwen3.5-122b"]
    renamed = stack("qwen3.5-122b", {"q": seat()}, project="qwen3-5-122b")
    assert project_name(renamed) == "qwen3-5-122b"
    assert "qwen35-122b" in project_aliases(renamed)
    assert project_aliases(stack("plain", {"q": seat()})) == []


def test_container_has_its_declared_name_or_the_workloads():
    one = stack("a", {"x": seat(), "y": seat(container_name="vllm-y")})
    assert container_name("x", one.seats["x"]) == "x"
    assert container_name("y", one.seats["y"]) == "vllm-y"


def test_two_stacks_with_one_project_name_are_refused_naming_both():
    first, second = stack("a.b", {"x": seat()}), stack("ab", {"y": seat(port=8001)})
    found = plan_fleet(fleet(first, second))
    assert codes(found) == ["stack.project_collision"]
    assert "a.b and ab" in found[0].message and "project ab" in found[0].message
    elsewhere = fleet(first, stack("ab", {"y": seat()}, host="other"), hosts=[host(), host("other")])
    assert codes(plan_fleet(elsewhere)) == []
    gone = fleet(first, stack("ab", {"y": seat(state="retired", reason="lost", port=8001)}))
    assert codes(plan_fleet(gone)) == []
