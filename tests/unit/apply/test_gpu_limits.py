"""Caps against the lab's simulated nvidia-smi: set, read back, and every fault told as what it is.

Protects: a card that runs above its cap is never reported as capped, one bad card never keeps the others from their
caps, and a run that finds everything as declared sets nothing.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_cards import UUIDS, Cards, cap_data, capped, codes, persistent_cards, told

from gpu_seats.apply.gpu_limits import persistence
from gpu_seats.apply.gpu_limits.capping import apply_caps
from gpu_seats.apply.gpu_limits.caps import caps_from
from gpu_seats.apply.gpu_limits.card_reading import read_cards
from gpu_seats.apply.gpu_limits.result import lost_findings
from gpu_seats.observe.command import CommandResult
from gpu_seats.observe.nvidia import card_query


@pytest.fixture
def cards(tmp_path: Path) -> Cards:
    return persistent_cards(tmp_path)


class TestSetting:
    def test_every_card_is_capped_and_read_back(self, cards: Cards) -> None:
        result = capped(cards)
        assert cards.limits == [275.0] * 4
        assert result.held and result.changed and result.findings == []
        assert [(one.before_watts, one.after_watts, one.changed) for one in result.cards] == [(300, 275, True)] * 4
        assert cards.settings == [f"nvidia-smi -i {uuid} -pl 275" for uuid in UUIDS]

    def test_the_same_with_nvidia_smi_as_a_process(self, cards: Cards) -> None:
        cards.as_process = True
        result = capped(cards)
        assert result.held and result.findings == [] and cards.limits == [275.0] * 4

    def test_a_second_run_sets_nothing(self, cards: Cards) -> None:
        capped(cards)
        cards.calls.clear()
        again = capped(cards)
        assert again.held and not again.changed and cards.settings == [] and again.findings == []
        assert len(cards.calls) == 2, "one query of the cards and one of the daemon"

    def test_only_what_differs_is_set(self, cards: Cards) -> None:
        capped(cards)
        cards.change(2, limit_w=300.0)
        cards.calls.clear()
        result = capped(cards)
        assert cards.settings == [f"nvidia-smi -i {UUIDS[2]} -pl 275"]
        assert [one.changed for one in result.cards] == [False, False, True, False]

    def test_a_limit_that_the_board_rounds_is_held(self, cards: Cards) -> None:
        cards.change(1, limit_w=274.4)
        assert not capped(cards, check=True).cards[1].changed

    @pytest.mark.parametrize("watts", [250.0, 300.0])
    def test_a_limit_below_the_cap_is_set_too(self, cards: Cards, watts: float) -> None:
        cards.change(0, limit_w=watts)
        assert capped(cards).cards[0].changed and cards.limits[0] == 275.0

    def test_broken_watts_are_set_as_declared(self, cards: Cards) -> None:
        assert capped(cards, limit_watts=272.5).held and cards.limits == [272.5] * 4

    def test_a_card_without_a_declared_uuid_is_found_by_its_bus_id(self, cards: Cards) -> None:
        result = capped(cards, uuid=None)
        assert result.held and [one.uuid for one in result.cards] == list(UUIDS)
        assert cards.settings[0] == f"nvidia-smi -i {UUIDS[0]} -pl 275"

    def test_a_run_that_was_killed_halfway_is_finished_by_the_next(self, cards: Cards) -> None:
        """Protects: no state of ours is needed to go on."""

        class PulledPlug(BaseException):
            pass

        def dying(argv: Any, limit_s: float) -> Any:
            if f"{UUIDS[2]} -pl" in " ".join(argv):
                raise PulledPlug
            return cards.run(argv, limit_s)

        with pytest.raises(PulledPlug):
            apply_caps(dying, caps_from([cap_data(card) for card in range(4)]))
        assert cards.limits == [275.0, 275.0, 300.0, 300.0]
        result = capped(cards)
        assert result.held and [one.changed for one in result.cards] == [False, False, True, True]


class TestCheckMode:
    def test_says_what_would_be_set_and_sets_nothing(self, cards: Cards) -> None:
        cards.change(3, limit_w=275.0)
        result = capped(cards, check=True)
        assert result.changed and not result.held and result.findings == [] and cards.settings == []
        assert [one.changed for one in result.cards] == [True, True, True, False]
        diff = result.diff()
        assert diff["before"].splitlines() == [f"card {n} {UUIDS[n]}: 300 W" for n in range(3)]
        assert diff["after"].splitlines() == [f"card {n} {UUIDS[n]}: 275 W" for n in range(3)]

    def test_a_lost_cap_is_an_error_and_a_lower_limit_a_warning(self, cards: Cards) -> None:
        capped(cards)
        cards.change(1, limit_w=300.0)
        cards.change(2, limit_w=250.0)
        found = lost_findings(capped(cards, check=True))
        assert [(one.code, one.subject, one.severity) for one in found] == [
            ("power.cap_lost", "gpu:1", "error"),
            ("power.cap_lost", "gpu:2", "warning"),
        ]

    def test_it_promises_what_the_run_then_does(self, cards: Cards) -> None:
        cards.change(0, persistence=False)
        promised = capped(cards, check=True)
        done = capped(cards)
        assert promised.diff() == done.diff()
        assert [one.changed for one in promised.cards] == [one.changed for one in done.cards]


class TestRefused:
    @pytest.mark.parametrize(
        ("more", "code"),
        [
            ({"limit_watts": 240, "min_watts": 200}, "power.cap_below_min"),
            ({"limit_watts": 310}, "power.cap_above_ceiling"),
            ({"limit_watts": 310, "ceiling_watts": None}, "power.cap_above_stock"),
            ({"limit_watts": 310, "ceiling_watts": 305, "above_stock": "2026-01-31: test"},
             "power.cap_above_ceiling"),
            ({"limit_watts": 330, "ceiling_watts": None, "max_watts": 400}, "gpu.power_limit_refused"),
        ],
    )  # fmt: skip
    def test_a_cap_that_may_not_be_is_not_tried(self, cards: Cards, more: dict[str, Any], code: str) -> None:
        result = capped(cards, **more)
        assert told(result) == {(code, f"gpu:{card}") for card in range(4)}
        assert cards.settings == [] and cards.limits == [300.0] * 4 and not result.changed and not result.held

    def test_above_stock_with_a_dated_reason_is_set(self, cards: Cards) -> None:
        result = capped(cards, limit_watts=310, ceiling_watts=325, above_stock="2026-01-31: burn-in")
        assert result.held and cards.limits == [310.0] * 4

    def test_one_bad_cap_does_not_keep_the_others(self, cards: Cards) -> None:
        data = [cap_data(0), cap_data(1, 240), cap_data(2), cap_data(3)]
        result = apply_caps(cards.run, caps_from(data))
        assert cards.limits == [275.0, 300.0, 275.0, 275.0]
        assert told(result) == {("power.cap_below_min", "gpu:1")}


ONE_CARD_FAULTS = [
    ("pl-ignored", {"power.cap_not_held"}),
    ("pl-unsupported", {"gpu.power_limit_unsupported"}),
    ("pl-unsupported-scope", {"gpu.power_limit_unsupported"}),
    ("gpu-lost", {"gpu.lost", "power.card_not_capped"}),
    ("gpu-unknown-error", {"gpu.lost", "power.card_not_capped"}),
    ("gpu-unknown-error-noblank", {"gpu.lost", "power.card_not_capped"}),
    ("na-values", {"power.cap_unreadable"}),
    ("deprecated-values", {"power.cap_unreadable"}),
    ("pl-permission", {"gpu.permission_denied"}),
    ("pl-partly", {"gpu.power_limit_refused"}),
    ("enforced-differs", {"power.cap_not_held"}),
]


class TestFaultsOfOneCard:
    @pytest.mark.parametrize(("fault", "expected"), ONE_CARD_FAULTS)
    def test_is_told_of_that_card_and_the_others_are_capped(self, cards: Cards, fault: str, expected: set[str]) -> None:
        cards.fault(fault, 2)
        result = capped(cards)
        assert told(result) == {(code, "gpu:2") for code in expected}
        assert [one.ok for one in result.cards] == [True, True, False, True]
        assert [watts for card, watts in enumerate(cards.limits) if card != 2] == [275.0] * 3
        assert result.cards[2].reason and not result.held

    @pytest.mark.parametrize("fault", ["na-values", "deprecated-values"])
    def test_a_limit_without_a_value_is_not_zero_and_not_tried(self, cards: Cards, fault: str) -> None:
        cards.fault(fault, 1)
        result = capped(cards)
        assert result.cards[1].before_watts is None and result.cards[1].after_watts is None
        assert not any(UUIDS[1] in call for call in cards.settings)
        reason = next(one for one in result.findings if one.code == "power.cap_unreadable").evidence["reason"]
        assert reason.startswith("[")

    def test_all_done_without_effect_quotes_what_was_said(self, cards: Cards) -> None:
        cards.fault("pl-ignored")
        result = capped(cards)
        assert told(result) == {("power.cap_not_held", f"gpu:{card}") for card in range(4)}
        assert not result.changed
        assert "was set to 275.00 W" in result.findings[0].evidence["said"]

    def test_readings_that_fail_beside_a_limit_that_reads_do_not_keep_it_from_being_set(self, cards: Cards) -> None:
        cards.fault("err-values", 3)
        result = capped(cards)
        assert cards.limits == [275.0] * 4 and result.held
        assert told(result) == {("gpu.handle_error", "gpu:3")}
        # the query told of every card, so that none was asked alone
        asked = [call for call in cards.calls if "--query-gpu" in call]
        assert asked and not [call for call in asked if " -i " in call]

    def test_a_card_in_mig_mode_is_capped_as_a_whole(self, cards: Cards) -> None:
        cards.fault("mig-enabled", 0)
        result = capped(cards)
        assert result.held and result.cards[0].mig == "Enabled"
        assert [(one.code, one.subject) for one in result.findings] == [("gpu.mig_enabled", "gpu:0")]

    def test_a_swapped_index_changes_nothing(self, cards: Cards) -> None:
        cards.fault("index-swap", 2)
        result = apply_caps(cards.run, caps_from([cap_data(card, 260 + card) for card in range(4)]))
        assert result.held and result.findings == [] and cards.limits == [260.0, 261.0, 262.0, 263.0]

    def test_two_lost_cards_are_both_told(self, cards: Cards) -> None:
        cards.fault("gpu-lost", 0)
        cards.fault("gpu-unknown-error", 3)
        result = capped(cards)
        assert {subject for _, subject in told(result)} == {"gpu:0", "gpu:3"}
        assert cards.limits == [300.0, 275.0, 275.0, 300.0]


class TestFaultsOfTheDriver:
    @pytest.mark.parametrize(
        ("fault", "code"),
        [
            ("nvml-mismatch", "gpu.driver_mismatch"),
            ("nvml-mismatch-oneline", "gpu.driver_mismatch"),
            ("driver-down", "gpu.driver_unreachable"),
            ("no-devices", "gpu.no_devices"),
            ("nvml-unknown-error", "gpu.container_lost_device"),
        ],
    )
    def test_has_its_own_code_and_one_word_on_all_caps(self, cards: Cards, fault: str, code: str) -> None:
        cards.fault(fault)
        result = capped(cards)
        assert codes(result) == {code, "power.card_not_capped"} and len(result.findings) == 2
        assert not result.held and not result.changed
        assert all(one.after_watts is None and one.reason for one in result.cards)
        assert cards.settings == []
        assert result.driver_is_absent == (fault in ("driver-down", "no-devices"))

    def test_a_hang_ends_in_time_and_is_not_tried_again(self, cards: Cards, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(card_query, "LIMIT_S", 0.5)
        cards.as_process = True
        cards.fault("hang")
        result = capped(cards)
        assert codes(result) == {"command.hung", "power.card_not_capped"}
        assert len(cards.calls) == 1

    def test_a_hang_while_one_card_is_set_leaves_the_rest_alone(self, cards: Cards) -> None:
        def hanging(argv: Any, limit_s: float) -> Any:
            if f"{UUIDS[1]} -pl" in " ".join(argv):
                cards.calls.append(" ".join(argv))
                return CommandResult(tuple(argv), None, "", "", limit_s, timed_out=True)
            return cards.run(argv, limit_s)

        result = apply_caps(hanging, caps_from([cap_data(card) for card in range(4)]))
        assert told(result) == {
            ("command.hung", "gpu:1"),
            ("power.card_not_capped", "gpu:2"),
            ("power.card_not_capped", "gpu:3"),
        }
        assert cards.limits == [275.0, 300.0, 300.0, 300.0]

    def test_a_field_that_the_driver_does_not_know_is_done_without(self, cards: Cards) -> None:
        path = cards.folder / "state/faults/invalid-field.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"card": null, "value": "enforced.power.limit"}')
        result = capped(cards)
        assert result.held and cards.limits == [275.0] * 4
        assert codes(result) == {"gpu.query_field_unknown"}

    def test_no_nvidia_smi_at_all(self, cards: Cards) -> None:
        (cards.bin / "nvidia-smi").unlink()
        assert codes(capped(cards)) == {"command.missing", "power.card_not_capped"}


class TestIdentity:
    def test_a_moved_card_keeps_its_cap(self, cards: Cards) -> None:
        result = apply_caps(cards.run, caps_from([cap_data(0, bus_id="00000000:99:00.0")]))
        assert result.held and cards.limits[0] == 275.0
        assert ("gpu.identity_mismatch", "warning") in {(one.code, one.severity) for one in result.findings}

    def test_a_strange_card_in_the_slot_is_not_set(self, cards: Cards) -> None:
        gone = "GPU-00000000-0000-4000-8000-000000000000"
        result = apply_caps(cards.run, caps_from([cap_data(0, uuid=gone), *(cap_data(n) for n in (1, 2, 3))]))
        assert told(result) == {("gpu.identity_mismatch", "gpu:0"), ("power.card_not_capped", "gpu:0")}
        assert cards.limits == [300.0, 275.0, 275.0, 275.0]
        assert [one.subject for one in result.findings if one.code == "power.card_undeclared"] == [f"gpu:{UUIDS[0]}"]

    def test_a_card_that_no_cap_names_is_told(self, cards: Cards) -> None:
        result = apply_caps(cards.run, caps_from([cap_data(n) for n in range(3)]))
        assert [(one.code, one.severity) for one in result.findings] == [("power.card_undeclared", "warning")]
        assert result.held and "300 W" in result.findings[0].message

    def test_a_card_that_is_gone_beside_a_lost_one_does_not_read_as_no_cards(self, cards: Cards) -> None:
        """Protects: "No devices were found" for one UUID is not said of the whole host."""
        cards.fault("gpu-lost", 1)
        gone = "GPU-00000000-0000-4000-8000-000000000000"
        data = [cap_data(0), cap_data(1), cap_data(2, uuid=gone, bus_id="00000000:99:00.0"), cap_data(3)]
        result = apply_caps(cards.run, caps_from(data))
        assert "gpu.no_devices" not in codes(result)
        assert {("gpu.not_listed", "gpu:2"), ("gpu.lost", "gpu:1")} <= told(result)
        assert (cards.limits[0], cards.limits[3]) == (275.0, 275.0)


FAULTS_OF_A_CARD = [fault for fault, _ in ONE_CARD_FAULTS] + [
    "err-values",
    "mig-enabled",
    "index-swap",
    "persistence-refused",
    "no-persistence-loses-limits",
]


@settings(max_examples=40, deadline=None)
@given(
    limits=st.lists(st.sampled_from([250.0, 274.4, 275.0, 300.0, 325.0]), min_size=4, max_size=4),
    wanted=st.lists(st.sampled_from([240, 250, 275, 290, 301, 330]), min_size=4, max_size=4),
    persistent=st.lists(st.booleans(), min_size=4, max_size=4),
    faults=st.dictionaries(st.sampled_from(FAULTS_OF_A_CARD), st.integers(0, 3), max_size=3),
    way=st.sampled_from(persistence.WAYS),
)
def test_whatever_is_wrong_ok_means_that_the_card_keeps_its_cap(
    limits: list[float], wanted: list[int], persistent: list[bool], faults: dict[str, int], way: str
) -> None:
    """Protects: "ok" is never said of a card above its cap, every other card has a failing finding that names it, check
    mode touches nothing and promises what a run does, and a second run changes nothing that the first one could set.
    """
    with tempfile.TemporaryDirectory() as folder:
        host = Cards(Path(folder) / "host")
        for n in range(4):
            host.change(n, limit_w=limits[n], persistence=persistent[n])
        for fault, card in faults.items():
            host.fault(fault, card)
        caps = caps_from([cap_data(n, wanted[n], ceiling_watts=None) for n in range(4)])
        promised = apply_caps(host.run, caps, True, way)
        assert host.settings == []
        done = apply_caps(host.run, caps, False, way)
        failing = {one.subject for one in done.findings if one.fails}
        for n, row in enumerate(done.cards):
            assert not row.ok or abs(host.limits[n] - wanted[n]) <= 1, row
            assert row.ok or f"gpu:{n}" in failing, (row, done.findings)
            assert row.ok or row.reason
            assert promised.cards[n].changed or not row.changed
            assert row.changed == (row.before_watts is not None and row.after_watts not in (None, row.before_watts))
        again = apply_caps(host.run, caps, False, way)
        assert [one.ok for one in again.cards] == [one.ok for one in done.cards]
        assert not any(one.changed for one in again.cards)


class TestReading:
    def test_a_lost_card_does_not_hide_the_others(self, cards: Cards) -> None:
        cards.fault("gpu-lost", 0)
        read = read_cards(cards.run, UUIDS)
        assert sorted(read.cards) == list(UUIDS[1:]) and not read.whole
        assert read.as_dict()["card_count"] is None

    def test_no_card_is_a_count_and_an_unreachable_driver_is_none(self, cards: Cards) -> None:
        cards.fault("no-devices")
        assert read_cards(cards.run).as_dict()["card_count"] == 0
        cards.fault("driver-down")
        assert read_cards(cards.run).as_dict()["card_count"] is None
