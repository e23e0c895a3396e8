"""Declarations whose keys are fine one by one and cannot be true together, and texts that no file can carry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from declared_project import HOST, HOST_FILE, STACK, STACK_FILE, TENANT, problems, spoilt, write_project

from gpu_seats.declare.fleet import load_fleet
from gpu_seats.declare.problems import DeclarationError

TENANT_FILE = "stacks/blender/stack.yml"
UUID = "uuid: GPU-5e7a0002-c0de-4000-8000-000000000002"
BUS = 'bus_id: "00000000:41:00.0"'
HOST_CASES = {
    "limits in the wrong order": (
        f"{UUID}}}",
        f"{UUID}, power_limits: {{min: 300W, default: 200W, max: 250W}}}}",
        "gpus.2.power_limits",
        "min, default, max rise",
    ),
    "two cards with one UUID": (
        '"3":\n      model: card',
        f'"3":\n      {UUID}\n      model: card',
        "gpus.3.uuid",
        "also the uuid of card 2 of fv-ml1",
    ),
    "two cards in one slot, spelled in two ways": (
        f'{UUID}}}\n    "3":\n      model: card',
        f'{UUID}, {BUS}}}\n    "3":\n      bus_id: "0000:41:00.0"\n      model: card',
        "gpus.3.bus_id",
        "also the bus_id of card 2",
    ),
    "a reserve for a seat that no card holds": (
        "full_size_from: 90GiB",
        "full_size_from: 900GiB",
        "gpus.3.reserve.full_size_from",
        "at most 97247MiB",
    ),
    "a driver that keeps the whole card": (
        f"{UUID}}}",
        f"{UUID}, driver_reserve: 100GiB}}",
        "gpus.2.driver_reserve",
        "leaves nothing",
    ),
    "a card without memory": ("vram: 97887MiB, uuid", "vram: 0MiB, uuid", "gpus.2.vram", "holds nothing"),
    "an address that lacks a part": ("10.251.50.54", "10.251.50", "address", "without a port"),
    "an address with a port": ("10.251.50.54", '"10.251.50.54:22"', "address", "without a port"),
}


@pytest.mark.parametrize("case", HOST_CASES)
def test_a_host_that_contradicts_itself_is_refused(case: str, tmp_path: Path) -> None:
    old, new, key, told = HOST_CASES[case]
    found = [str(one) for one in problems(tmp_path, {HOST_FILE: spoilt(HOST, old, new)})]
    assert any(f"gpu_seats_host.{key}" in one and told in one for one in found), found


@pytest.mark.parametrize("address", ["10.251.50.54", "fd00::1", "fv-ml1.example.org", "fv-ml1"])
def test_addresses_and_names_are_both_allowed(address: str, tmp_path: Path) -> None:
    assert not problems(tmp_path, {HOST_FILE: spoilt(HOST, "10.251.50.54", address)})


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("14GiB", "0GiB", "vllm.kv_cache_memory"),
        ("14GiB", "0.4B", "vllm.kv_cache_memory"),
        ("93GiB", "0GiB", "claim.vram"),
        ("{LEVEL: info}", '{LEVEL: "a\\0b"}', "environment.LEVEL"),
    ],
)
def test_a_value_that_nothing_can_carry_is_refused_by_its_place(old: str, new: str, key: str, tmp_path: Path) -> None:
    """A KV cache of nothing ended the lint in a traceback; a NUL would have ended the deployment."""
    found = problems(tmp_path, {STACK_FILE: spoilt(STACK, old, new)})
    assert f"seats.flash-next.{key}" in {one.key for one in found}


def test_memory_of_a_card_needs_a_card(tmp_path: Path) -> None:
    text = spoilt(TENANT, 'gpus: ["3"]', "gpus: []\n    claim: {vram: 1GiB}")
    found = problems(tmp_path, {"stacks/blender/stack.yml": text})
    assert [one.key for one in found] == ["services.blender.claim.vram"]


def _linked_file(root: Path) -> None:
    (root / "stacks/z").mkdir()
    (root / "stacks/z/stack.yml").symlink_to("../flash-next-seat/stack.yml")


def _linked_directory(root: Path) -> None:
    (root / "stacks/z").symlink_to("flash-next-seat")


def _dead_link(root: Path) -> None:
    (root / "stacks/z").mkdir()
    (root / "stacks/z/stack.yml").symlink_to("/nonexistent")


def _directory(root: Path) -> None:
    (root / "stacks/z/stack.yml").mkdir(parents=True)


def _link_upwards(root: Path) -> None:
    (root / "stacks/z").symlink_to("..")


def _broken_inventory(root: Path) -> None:
    (root / "inventories/production/hosts.yml").write_text("all: [\n")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (_linked_file, ["remove the link stacks/z/stack.yml"]),
        (_linked_directory, ["remove the link stacks/z/stack.yml"]),
        (_dead_link, ["stacks/z/stack.yml", "a link that leads nowhere"]),
        (_directory, ["stacks/z/stack.yml", "is no file"]),
        (_link_upwards, ["stacks/z", "remove the link"]),
        (_broken_inventory, ["inventories/production/hosts.yml", "is no YAML"]),
    ],
)
def test_what_stands_in_the_wrong_place_is_named_as_it_stands(
    spoil: Callable[[Path], None], told: list[str], tmp_path: Path
) -> None:
    write_project(tmp_path)
    spoil(tmp_path)
    with pytest.raises(DeclarationError) as raised:
        load_fleet(tmp_path)
    found = [str(one) for one in raised.value.problems]
    assert len(found) == 1
    assert all(words in found[0] for words in told), found


@pytest.mark.parametrize(
    ("file", "good", "old", "new", "key"),
    [
        (STACK_FILE, STACK, "revision: be794b99", 'served_name: ""', "seats.flash-next.model.served_name"),
        (STACK_FILE, STACK, "revision: be794b99", 'served_name: "a b"', "seats.flash-next.model.served_name"),
        (STACK_FILE, STACK, "revision: be794b99", 'served_name: "--help"', "seats.flash-next.model.served_name"),
        (STACK_FILE, STACK, "v0.29.1rc0", "v0.29.1rc0@sha256:zz", "seats.flash-next.image"),
        (
            TENANT_FILE,
            TENANT,
            "container: 3000}",
            "container: 3000, address: 300.1.1.1}",
            "services.blender.ports[0].address",
        ),
        (
            TENANT_FILE,
            TENANT,
            "image: blender:4.5",
            "image: blender:4.5\n    mounts: [{source: /x, target: /x}, {source: /y, target: /x/}]",
            "services.blender.mounts[1].target",
        ),
    ],
)
def test_what_docker_or_the_engine_would_refuse_later_is_refused_now(
    file: str, good: str, old: str, new: str, key: str, tmp_path: Path
) -> None:
    assert [one.key for one in problems(tmp_path, {file: spoilt(good, old, new)})] == [key]
