"""Persistence mode against the lab's simulated nvidia-smi and a daemon whose state is given.

Protects: a cap that would be lost with the last program on its card is kept or told, the daemon comes before the
deprecated mode, and a driver that hangs is not tried card by card.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from simulated_cards import BUS_IDS, UUIDS, Cards, cap_data, capped, codes, persistent_cards, told

from gpu_seats.apply.gpu_limits import persistence
from gpu_seats.apply.gpu_limits.capping import apply_caps
from gpu_seats.apply.gpu_limits.caps import caps_from
from gpu_seats.observe.command import CommandResult


@pytest.fixture
def cards(tmp_path: Path) -> Cards:
    return persistent_cards(tmp_path)


def off(cards: Cards) -> None:
    for card in range(4):
        cards.change(card, persistence=False)


def test_off_with_a_running_daemon_is_turned_on_through_it(cards: Cards) -> None:
    off(cards)
    result = capped(cards, way="daemon")
    assert result.held and result.findings == [] and result.persistence_changed == list(UUIDS)
    assert not capped(cards, way="daemon").changed


@pytest.mark.parametrize("daemon", ["inactive", "failed", "absent"])
def test_auto_without_the_daemon_falls_back_and_says_so_every_time(cards: Cards, daemon: str) -> None:
    off(cards)
    cards.daemon = daemon
    first, second = capped(cards), capped(cards)
    for result in (first, second):
        assert [(one.code, one.severity) for one in result.findings] == [("gpu.persistence_legacy", "info")] * 4
    assert first.changed and not second.changed


@pytest.mark.parametrize(("way", "daemon"), [("daemon", "inactive"), ("daemon", "absent"), ("leave", "active")])
def test_what_may_not_be_turned_on_is_told_and_the_cap_is_set_all_the_same(cards: Cards, way: str, daemon: str) -> None:
    off(cards)
    cards.daemon = daemon
    result = capped(cards, way=way)
    assert (
        result.held
        and [(one.code, one.severity) for one in result.findings] == [("gpu.persistence_off", "warning")] * 4
    )
    assert not any(" -pm " in call for call in cards.calls)


def test_a_refusal_is_told_with_its_reason(cards: Cards) -> None:
    off(cards)
    said = f"Unable to set persistence mode for GPU {BUS_IDS[0]}: Unknown Error\nTerminating early due to errors.\n"

    def refusing(argv: Any, limit_s: float) -> Any:
        return CommandResult(tuple(argv), 255, said, "") if "-pm" in argv else cards.run(argv, limit_s)

    result = apply_caps(refusing, caps_from([cap_data(0)]))
    found = next(one for one in result.findings if one.code == "gpu.persistence_refused")
    assert "Unknown Error" in found.message and not result.persistence_changed


def test_a_hang_while_one_card_is_turned_on_leaves_the_rest_alone(cards: Cards) -> None:
    off(cards)

    def hanging(argv: Any, limit_s: float) -> Any:
        if f"{UUIDS[1]} -pm" in " ".join(argv):
            cards.calls.append(" ".join(argv))
            return CommandResult(tuple(argv), None, "", "", limit_s, timed_out=True)
        return cards.run(argv, limit_s)

    result = apply_caps(hanging, caps_from([cap_data(card) for card in range(4)]))
    assert [call.split()[2] for call in cards.calls if " -pm " in call] == list(UUIDS[:2])
    assert result.persistence_changed == [UUIDS[0]]
    found = [(one.code, one.subject) for one in result.findings]
    assert found == [("gpu.persistence_refused", f"gpu:{card}") for card in (1, 2, 3)]
    assert result.held and all("no answer" in one.message for one in result.findings)


def test_a_card_that_takes_none_is_capped_and_told(cards: Cards) -> None:
    off(cards)
    cards.fault("persistence-refused", 1)
    result = capped(cards)
    assert result.held and result.persistence_changed == [UUIDS[n] for n in (0, 2, 3)]
    assert [(one.code, one.subject) for one in result.findings] == [("gpu.persistence_refused", "gpu:1")]


def test_a_cap_that_goes_with_the_last_client_does_not_hold(cards: Cards) -> None:
    off(cards)
    cards.fault("no-persistence-loses-limits")
    cards.daemon = "inactive"
    lost = capped(cards, way="daemon")
    assert told(lost) == {("power.cap_not_held", f"gpu:{n}") for n in range(4)}
    assert "gpu.persistence_off" in codes(lost)
    assert capped(cards, way="auto").held


@pytest.mark.parametrize(
    ("rc", "text", "state"),
    [
        (0, "LoadState=not-found\nActiveState=inactive\n", "absent"),
        (0, "LoadState=loaded\nActiveState=active\n", "active"),
        (1, "System has not been booted with systemd as init system (PID 1).\n", "unknown"),
    ],
)
def test_state_of_the_daemon(rc: int, text: str, state: str) -> None:
    assert persistence.daemon_state(lambda argv, _limit: CommandResult(tuple(argv), rc, text, "")) == state
