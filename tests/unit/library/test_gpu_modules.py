"""The modules gpu_power_limit and gpu_info as Ansible runs them, on simulated cards.

Protects: what a play is told (changed, diff, failed) is what happened to the cards, in check mode and without it.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from simulated_cards import UUIDS, Cards, cap_data, persistent_cards

import gpu_seats

PROJECT = Path(__file__).resolve().parents[3]


@pytest.fixture
def cards(tmp_path: Path) -> Cards:
    return persistent_cards(tmp_path)


class Modules:
    def __init__(
        self, cards: Cards, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch, folder: Path
    ) -> None:
        self.cards, self.capsys, self.patch, self.folder = cards, capsys, patch, folder
        # on a target Ansible puts the package there
        patch.setitem(sys.modules, "ansible.module_utils.gpu_seats", gpu_seats)

    def loaded(self, name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"module_{name}", PROJECT / "library" / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.patch.setattr(module, "run", self.cards.run)
        return module

    def ran(self, name: str, *, check: bool = False, **arguments: Any) -> dict[str, Any]:
        module = self.loaded(name)
        if hasattr(module, "LOCK_PATH"):
            self.patch.setattr(module, "LOCK_PATH", str(self.folder / "lock"))
        self.cards.calls.clear()
        told = {**arguments, "_ansible_check_mode": check, "_ansible_diff": True}
        with patch_module_args(told), pytest.raises(SystemExit) as ended:
            module.main()
        answer: dict[str, Any] = json.loads(self.capsys.readouterr().out)
        assert bool(answer.get("failed")) == bool(ended.value.code)
        return answer

    def capped(self, check: bool = False, **more: Any) -> dict[str, Any]:
        return self.ran("gpu_power_limit", check=check, **{"caps": [cap_data(n) for n in range(4)], **more})


@pytest.fixture
def modules(
    cards: Cards, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Modules:
    return Modules(cards, capsys, monkeypatch, tmp_path)


class TestGpuPowerLimit:
    def test_check_do_check_again_do_again(self, modules: Modules, cards: Cards) -> None:
        would = modules.capped(check=True)
        assert would["changed"] and not would["held"] and cards.limits == [300.0] * 4 and "failed" not in would
        done = modules.capped()
        assert done["changed"] and done["held"] and cards.limits == [275.0] * 4
        assert done["diff"] == would["diff"] and done["diff"]["after"].count("275 W") == 4
        for check in (True, False):
            again = modules.capped(check=check)
            assert not again["changed"] and again["held"] and "diff" not in again and cards.settings == []

    def test_a_failure_is_one_message_with_every_card_that_fails(self, modules: Modules, cards: Cards) -> None:
        cards.fault("gpu-lost", 1)
        cards.fault("pl-ignored", 3)
        answer = modules.capped()
        assert answer["failed"] and answer["msg"].startswith("caps hold on 2 of 4 cards (275 W): ")
        assert "gpu:1: " in answer["msg"] and "gpu:3: " in answer["msg"] and "power.cap_not_held" in answer["msg"]
        assert [one["ok"] for one in answer["cards"]] == [True, False, True, False] and answer["changed"]

    def test_tolerate_returns_the_same_findings(self, modules: Modules, cards: Cards) -> None:
        cards.fault("gpu-lost", 1)
        answer = modules.capped(tolerate=True)
        assert "failed" not in answer and not answer["held"]
        assert {one["code"] for one in answer["findings"]} == {"gpu.lost", "power.card_not_capped"}

    def test_a_bad_cap_is_named_before_a_card_is_touched(self, modules: Modules, cards: Cards) -> None:
        answer = modules.capped(caps=[cap_data(0), cap_data(1, -275)])
        assert answer["failed"] and "caps[1].limit_watts is -275" in answer["msg"] and cards.calls == []

    def test_a_run_beside_another_waits_and_then_says_whose_it_is(self, modules: Modules, tmp_path: Path) -> None:
        from gpu_seats.apply.host_lock import HostLock

        with HostLock("caps apply", str(tmp_path / "lock")):
            answer = modules.capped(lock_wait_s=0.1)
            told = modules.capped(lock_wait_s=0.1, tolerate=True)
        assert answer["failed"] and "no cap was set: process" in answer["msg"] and "caps apply" in answer["msg"]
        assert "failed" not in told and not told["changed"] and not told["held"] and told["cards"] == []
        assert [one["code"] for one in told["findings"]] == ["power.caps_not_checked"]

    def test_persistence_is_a_change_of_its_own(self, modules: Modules, cards: Cards) -> None:
        modules.capped()
        cards.change(2, persistence=False)
        assert modules.capped(persistence="leave")["changed"] is False
        answer = modules.capped()
        assert answer["changed"] and answer["persistence"] == {"daemon": "active", "changed": [UUIDS[2]]}
        assert answer["diff"]["after"] == f"card 2 {UUIDS[2]}: persistence mode on\n"


class TestGpuInfo:
    def test_cards_by_uuid(self, modules: Modules) -> None:
        answer = modules.ran("gpu_info")
        assert sorted(answer["cards"]) == list(UUIDS) and answer["card_count"] == 4
        card = answer["cards"][UUIDS[2]]
        assert (card["enforced_power_limit_watts"], card["max_power_limit_watts"]) == (300.0, 325.0)
        assert None not in card.values() and card["unknown"] == {}
        assert answer["persistence_daemon"] == "active" and answer["findings"] == [] and not answer["changed"]

    def test_values_without_a_value_are_null_with_their_reason(self, modules: Modules, cards: Cards) -> None:
        cards.fault("na-values", 0)
        card = modules.ran("gpu_info")["cards"][UUIDS[0]]
        assert card["power_draw_watts"] is None and card["unknown"]["power_draw_watts"] == "[N/A]"

    def test_a_lost_card_leaves_the_others_and_no_count(self, modules: Modules, cards: Cards) -> None:
        cards.fault("gpu-lost", 0)
        answer = modules.ran("gpu_info", ids=list(UUIDS))
        assert sorted(answer["cards"]) == list(UUIDS[1:]) and answer["card_count"] is None
        assert "gpu.lost" in {one["code"] for one in answer["findings"]}
