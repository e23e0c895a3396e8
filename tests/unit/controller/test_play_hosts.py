"""The hosts of a play: nothing outside the inventory, nothing that the lab does not run, no empty success."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_seats.controller.declared_faults import PlayHostError
from gpu_seats.controller.play_fleet import project_of_play, seat_names
from gpu_seats.controller.play_hosts import hosts_of_seats, hosts_with_cards
from gpu_seats.declare.problems import DeclarationError

ROOT = Path(__file__).resolve().parents[3]
PRODUCTION = str(ROOT / "inventories" / "production")
LAB = str(ROOT / "inventories" / "lab")


def variables(*hosts: str, not_in_lab: tuple[str, ...] = (), inventory: str = PRODUCTION) -> dict:
    return {
        "playbook_dir": str(ROOT / "playbooks"),
        "ansible_inventory_sources": [inventory],
        "groups": {"all": list(hosts), "not_in_lab": list(not_in_lab)},
    }


def test_a_seat_gives_its_host() -> None:
    assert hosts_of_seats(variables("fv-ml1"), "flash-next") == ["fv-ml1"]


def test_no_seat_at_all_is_an_error_and_not_every_host() -> None:
    with pytest.raises(PlayHostError, match="which seat"):
        hosts_of_seats(variables("fv-ml1"), "")


def test_a_named_seat_whose_host_the_inventory_lacks_is_an_error() -> None:
    with pytest.raises(PlayHostError, match="fv-ml1"):
        hosts_of_seats(variables("other"), "flash-next")


def test_a_named_seat_on_a_host_that_the_lab_does_not_run_is_an_error() -> None:
    with pytest.raises(PlayHostError, match="does not run"):
        hosts_of_seats(variables("fv-ml1", not_in_lab=("fv-ml1",)), "flash-next")


def test_all_leaves_out_hosts_that_the_lab_does_not_run() -> None:
    assert hosts_of_seats(variables("fv-ml1", "irv-ml1", not_in_lab=("irv-ml1",)), "all") == ["fv-ml1"]


def test_looking_at_all_covers_hosts_with_cards_and_no_seat() -> None:
    seen = variables("fv-ml1", "irv-ml1", "ana-docker")
    assert "irv-ml1" not in hosts_of_seats(seen, "all")
    assert hosts_of_seats(seen, "all", idle=True) == ["fv-ml1", "irv-ml1"]


def test_a_retired_seat_is_named_only_by_the_verb_that_retires() -> None:
    with pytest.raises(DeclarationError, match="retire-seat"):
        hosts_of_seats(variables("fv-ml1"), "selene")
    assert hosts_of_seats(variables("fv-ml1"), "selene", retired=True) == ["fv-ml1"]


def test_the_lab_inventory_brings_its_own_stacks() -> None:
    assert hosts_of_seats(variables("fv-ml1", inventory=LAB), "smol") == ["fv-ml1"]
    with pytest.raises(DeclarationError, match="smol"):
        hosts_of_seats(variables("fv-ml1"), "smol")


def test_records_come_from_the_inventory_that_was_given() -> None:
    assert project_of_play(variables(inventory=PRODUCTION)).inventory == Path(PRODUCTION)


@pytest.mark.parametrize("value", [["a", "b"], "a,b"])
def test_seats_may_be_a_text_or_a_list(value: object) -> None:
    assert seat_names(value) == "a,b"


@pytest.mark.parametrize("value", [7, {"a": 1}, [1]])
def test_anything_else_is_refused_with_an_example(value: object) -> None:
    with pytest.raises(PlayHostError, match="-e seat="):
        seat_names(value)


def test_hosts_with_cards_are_those_that_the_inventory_runs() -> None:
    seen = variables("fv-ml1", "irv-ml1", "ana-docker", not_in_lab=("irv-ml1",))
    assert hosts_with_cards(seen) == ["fv-ml1"]
    assert hosts_with_cards(variables("fv-ml1", "irv-ml1", "ana-docker"), site="irv") == ["irv-ml1"]
    assert hosts_with_cards(variables("fv-ml1", "irv-ml1"), host="irv-ml1,fv-ml1") == ["irv-ml1", "fv-ml1"]


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"host": "fv-ml2"}, "did you mean fv-ml1"),
        ({"host": "ana-docker"}, "declares cards"),
        ({"host": "irv-ml1"}, "does not run"),
        ({"site": "fvv"}, "did you mean fv"),
        ({"site": "ana"}, "no host with cards is left"),
        ({"host": "fv-ml1", "site": "irv"}, "no host with cards is left"),
        ({"host": 7}, "-e host=a,b"),
    ],
)
def test_a_choice_that_leaves_no_host_is_an_error_and_never_an_empty_success(chosen: dict, said: str) -> None:
    with pytest.raises(PlayHostError, match=said):
        hosts_with_cards(variables("fv-ml1", "irv-ml1", "ana-docker", not_in_lab=("irv-ml1",)), **chosen)
