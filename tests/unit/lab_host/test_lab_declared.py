"""The lab publishes the ports, lays the models and builds the images that stacks name, and survives wrong files."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.declared import host_ports, images, model_paths, read_stacks, runs_in_lab, with_tag
from lab.layout import LAB, STACKS_DIRS

STACK = {
    "stack": "x",
    "host": "fv-ml1",
    "seats": {
        "a": {"port": 8001, "image": "vllm/vllm-openai:v0.29.0", "model": {"path": "/tank/a"}},
        "b": {"port": 8001, "image": "foo/bar", "model": {"repo": "x/y"}},
    },
    "services": {"c": {"ports": [{"host": 5001, "container": 80}, "127.0.0.1:8081:80/tcp", "8082:80", 8083]}},
}


def test_ports_in_every_spelling_each_once() -> None:
    assert host_ports([STACK]) == [5001, 8001, 8081, 8082, 8083]


@pytest.mark.parametrize("port", [True, "80x", None, -1, 70000, {"container": 80}, [1]])
def test_a_wrong_port_is_left_out(port: object) -> None:
    assert host_ports([{"seats": {"a": {"port": port}}}]) == []


def test_images_carry_the_tag_that_docker_lists_them_under() -> None:
    assert images([STACK, {"services": {"d": {"image": "foo@sha256:00"}}}]) == [
        "foo/bar:latest",
        "vllm/vllm-openai:v0.29.0",
    ]
    assert with_tag("registry:5000/a/b") == "registry:5000/a/b:latest"


def test_only_models_with_a_path() -> None:
    assert model_paths([STACK]) == ["/tank/a"]


@pytest.mark.parametrize(
    "shape", [{"seats": None}, {"seats": ["a"]}, {"seats": {"a": None}}, {"services": {"a": {"ports": 1}}}]
)
def test_stacks_of_a_wrong_shape_stop_nothing(shape: dict[str, object]) -> None:
    assert (host_ports([shape]), images([shape]), model_paths([shape])) == ([], [], [])


def test_files_that_are_no_mapping_are_left_out(tmp_path: Path) -> None:
    for name, text in (("good", "stack: good\n"), ("list", "- a\n"), ("broken", "a: [\n")):
        (tmp_path / f"{name}.yml").write_text(text)
    assert [stack for _, stack in read_stacks(sorted(tmp_path.glob("*.yml")))] == [{"stack": "good"}]


def test_the_lab_runs_its_host_and_its_own_stacks_only() -> None:
    assert runs_in_lab(STACKS_DIRS[0] / "x/stack.yml", {"host": "fv-ml1"})
    assert not runs_in_lab(STACKS_DIRS[0] / "x/stack.yml", {"host": "irv-ml1"})
    assert runs_in_lab(LAB / "stacks/x/stack.yml", {"host": "irv-ml1"})
