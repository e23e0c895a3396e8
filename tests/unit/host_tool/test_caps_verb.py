"""``caps apply`` and ``caps check`` as a unit on a host runs them.

Protects: a lost cap is set again within one run and told once, a broken declaration or a broken hook never ends in a
traceback, and a run that finds everything as declared changes no card and says one line.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from simulated_cards import UUIDS, Cards, cap_data

from gpu_seats.apply.gpu_limits.result import CapsResult
from gpu_seats.apply.host_lock import HostLock
from gpu_seats.findings import finding
from gpu_seats.host_tool import caps_state, caps_verb
from gpu_seats.host_tool.main import main
from gpu_seats.observe import command


class Tool:
    """The command on a host of simulated cards, with its files below one folder."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys
        self.cards = Cards(folder / "cards")
        for card in range(4):
            self.cards.change(card, persistence=True)
        self.hooks = folder / "hooks"
        self.hooks.mkdir()
        self.declare({"host": "ml1", "caps": [cap_data(card) for card in range(4)]})

    def declare(self, data: Any) -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        (self.folder / "caps.json").write_text(text, encoding="utf-8")

    def __call__(self, action: str, *more: str) -> tuple[int, str]:
        self.cards.calls.clear()
        paths = {"--caps": "caps.json", "--state": "state/caps.json", "--textfile": "prom", "--alert-hooks": "hooks"}
        named = [word for name, path in paths.items() for word in (name, str(self.folder / path))]
        code = main(["caps", action, *named, "--lock", str(self.folder / "lock"), *more])
        return code, self.capsys.readouterr().out

    def hook(self, name: str, body: str) -> Path:
        """A shell hook; what it was given is below `given` by its name, one line a call."""
        path = self.hooks / name
        path.write_text(f"#!/bin/sh\ncat >> {self.folder}/given-{name}\n{body}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def given(self, name: str) -> list[dict[str, Any]]:
        path = self.folder / f"given-{name}"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def state(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads((self.folder / "state/caps.json").read_text())
        return data

    @property
    def metrics(self) -> str:
        return (self.folder / "prom/gpu_seats_power.prom").read_text()


@pytest.fixture
def tool(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Tool:
    made = Tool(tmp_path, capsys)
    real = command.run
    monkeypatch.setattr(caps_verb.command, "run", made.cards.run)
    monkeypatch.setattr(caps_verb, "_SPARE", tmp_path / "run" / "alerts.json")
    assert real is not command.run
    return made


class TestApply:
    def test_sets_says_and_keeps_what_it_found(self, tool: Tool) -> None:
        code, printed = tool("apply")
        assert code == 0 and tool.cards.limits == [275.0] * 4
        assert printed.splitlines() == [
            *(f"card {n} {UUIDS[n]}: set from 300 W to 275 W" for n in range(4)),
            "caps hold on 4 of 4 cards (275 W)",
        ]
        assert tool.state["held"] and [one["after_watts"] for one in tool.state["cards"]] == [275.0] * 4
        assert (tool.folder / "state/caps.json").stat().st_mode & 0o777 == 0o644

    def test_the_next_run_says_one_line_and_sets_nothing(self, tool: Tool) -> None:
        tool("apply")
        assert tool("apply") == (0, "caps hold on 4 of 4 cards (275 W)\n")
        assert tool.cards.settings == []

    def test_a_finding_that_stands_is_told_in_full_once(self, tool: Tool) -> None:
        tool.cards.fault("gpu-lost", 2)
        first, second = tool("apply"), tool("apply")
        assert first[0] == second[0] == 1
        assert "critical gpu.lost gpu:2: " in first[1] and "error power.card_not_capped gpu:2: " in first[1]
        assert second[1].splitlines() == [
            "2 as before: gpu.lost gpu:2, power.card_not_capped gpu:2",
            "caps hold on 3 of 4 cards (275 W)",
        ]

    def test_a_lost_cap_is_set_again_and_told_with_the_time_it_last_held(self, tool: Tool) -> None:
        tool("apply")
        held_at = tool.state["time"]
        tool.cards.change(1, limit_w=300.0)
        code, printed = tool("apply")
        assert code == 0 and tool.cards.limits == [275.0] * 4
        assert f"warning power.cap_lost gpu:1: the limit had gone to 300 W since {held_at}" in printed
        assert "It holds again." in tool.state["findings"][0]["remedy"]
        assert "power.cap_lost" not in tool("apply")[1]

    def test_a_boot_takes_the_caps_and_is_no_loss(self, tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
        tool("apply")
        tool.cards.change(1, limit_w=300.0)
        monkeypatch.setattr(caps_state, "boot_id", lambda: "another")
        assert "power.cap_lost" not in tool("apply")[1] and tool.cards.limits == [275.0] * 4

    def test_a_new_declaration_is_no_loss(self, tool: Tool) -> None:
        tool("apply")
        tool.declare({"host": "ml1", "caps": [cap_data(card, 260) for card in range(4)]})
        code, printed = tool("apply")
        assert code == 0 and "power.cap_lost" not in printed and tool.cards.limits == [260.0] * 4

    @pytest.mark.parametrize(
        "damaged",
        [
            b'{"findings": [1], "cards": 7',
            b'{"boot": "now", "findings": [1, {"code": []}], "cards": [2, {"ok": true, "uuid": {}}], "mail": [[1]]}',
            b'{"boot": "now", "findings": {"code": 1}, "cards": 7, "mail": 3}',
            b"[" * 100_000,
            b"\xff\x00\x80",
            b"",
            b"null",
        ],
    )
    def test_damaged_memory_is_no_reason_to_stop(
        self, tool: Tool, monkeypatch: pytest.MonkeyPatch, damaged: bytes
    ) -> None:
        monkeypatch.setattr(caps_state, "boot_id", lambda: "now")
        tool.hook("mail", "")
        (tool.folder / "state").mkdir()
        for name in ("caps.json", "alerts.json"):
            (tool.folder / "state" / name).write_bytes(damaged)
        assert tool("apply")[0] == 0 and tool.state["held"]
        assert tool("apply")[0] == 0 and tool.given("mail") == []

    def test_no_caps_declared_is_fine(self, tool: Tool) -> None:
        tool.declare({"caps": []})
        assert tool("apply") == (0, "no caps are declared\n") and tool.cards.calls == []

    def test_a_state_that_can_not_be_written_is_told_and_the_caps_are_set(self, tool: Tool) -> None:
        (tool.folder / "state").write_text("a file where the folder should be")
        code, printed = tool("apply")
        assert code == 1 and "state" in printed and tool.cards.limits == [275.0] * 4

    def test_another_run_is_awaited_and_then_told(self, tool: Tool) -> None:
        with HostLock("caps apply", str(tool.folder / "lock")):
            code, printed = tool("apply", "--lock-wait-s", "0.1")
        assert code == 1 and "the caps were not looked at: process" in printed and tool.cards.calls == []

    def test_persistence_of_the_file_and_of_the_command_line(self, tool: Tool) -> None:
        tool.cards.change(0, persistence=False)
        tool.declare({"caps": [cap_data(0)], "persistence": "leave"})
        assert "gpu.persistence_off" in tool("apply")[1]
        code, printed = tool("apply", "--persistence", "auto")
        assert code == 0 and f"{UUIDS[0]}: persistence mode turned on" in printed

    def test_json(self, tool: Tool) -> None:
        tool.cards.fault("na-values", 3)
        code, printed = tool("apply", "--json")
        data = json.loads(printed)
        assert code == 1 and data["host"] == "ml1" and not data["held"]
        assert {one["code"] for one in data["findings"]} >= {"power.cap_unreadable"}


class TestCheck:
    def test_tells_what_does_not_hold_and_touches_nothing(self, tool: Tool) -> None:
        code, printed = tool("check")
        assert code == 1 and tool.cards.settings == [] and tool.cards.limits == [300.0] * 4
        assert f"card 0 {UUIDS[0]}: would be set from 300 W to 275 W" in printed
        assert "error power.cap_lost gpu:3: the limit is 300 W, 275 W is declared" in printed
        assert printed.endswith("caps hold on 0 of 4 cards (275 W)\n")
        assert sorted(one.name for one in tool.folder.iterdir()) == ["caps.json", "cards", "hooks", "lock"]

    def test_held_caps_are_0(self, tool: Tool) -> None:
        tool("apply")
        assert tool("check") == (0, "caps hold on 4 of 4 cards (275 W)\n")


class TestUnusableFile:
    @pytest.mark.parametrize(
        ("data", "said"),
        [
            ("{", "is no JSON"),
            ("[]", "an object with caps is needed"),
            ({}, "has no caps"),
            ({"caps": {}}, "a list of caps is needed"),
            ({"caps": [], "watts": 1}, "unknown keys watts"),
            ({"caps": [], "host": 7}, "host is 7"),
            ({"caps": [], "persistence": "on"}, "persistence is 'on': one of auto, daemon, legacy, leave is needed"),
            ({"caps": [7]}, "caps[0] is 7: a mapping is needed"),
            ({"caps": [cap_data(0), cap_data(1, -5)]}, "caps[1].limit_watts is -5: a number of watts above 0"),
            ({"caps": [cap_data(0, 0)]}, "caps[0].limit_watts is 0"),
            ({"caps": [cap_data(0, True)]}, "caps[0].limit_watts is True"),
            ({"caps": [cap_data(0, "275W")]}, "caps[0].limit_watts is '275W'"),
            ('{"caps": [{"card": "0", "uuid": "GPU-1", "reason": "r", "limit_watts": NaN}]}', "limit_watts is nan"),
            ({"caps": [cap_data(0, None)]}, "caps[0].limit_watts is missing"),
            ({"caps": [cap_data(0, reason=" ")]}, "caps[0].reason is missing"),
            ({"caps": [cap_data(0, uuid=None, bus_id=None)]}, "caps[0] (card 0) names no card"),
            ({"caps": [cap_data(0, uuid=["x"])]}, "caps[0].uuid is ['x']: text is needed"),
            ({"caps": [cap_data(0, bus_id="slot 3")]}, "caps[0].bus_id is 'slot 3'"),
            ({"caps": [cap_data(0, wats=3)]}, "caps[0] has unknown keys wats"),
            ({"caps": [{**cap_data(0), "card": 0}]}, "caps[0].card is 0"),
            ({"caps": [cap_data(0), cap_data(1, uuid=UUIDS[0])]}, "cards 0 and 1 both have the uuid"),
            ({"caps": [cap_data(0, above_stock="because")]}, "caps[0].above_stock is 'because': a day and a reason"),
            ({"caps": [cap_data(0, above_stock="2026-02-30: no such day")]}, "a day and a reason are needed"),
            ({"caps": [cap_data(0, above_stock="2026-01-31:")]}, "a day and a reason are needed"),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("action", ["apply", "check"])
    def test_names_the_file_and_the_value(self, tool: Tool, action: str, data: Any, said: str) -> None:
        tool.declare(data)
        code, printed = tool(action)
        assert code == 2 and said in printed and str(tool.folder / "caps.json") in printed
        assert tool.cards.calls == [] and len(printed.splitlines()) == 1

    def test_a_file_that_is_not_there(self, tool: Tool) -> None:
        (tool.folder / "caps.json").unlink()
        code, printed = tool("apply")
        assert code == 2 and "caps.json can't be read: No such file" in printed

    def test_hooks_and_metrics_are_told_and_nothing_counts_as_cleared(self, tool: Tool) -> None:
        """Protects: a watch that can't look must not look like a host on which all is well."""
        tool.hook("mail", "")
        tool.cards.fault("gpu-lost", 2)
        tool("apply")
        whole = (tool.folder / "caps.json").read_text()
        tool.declare("{")
        assert tool("apply")[0] == tool("apply")[0] == 2
        _, blind = tool.given("mail")
        assert [one["code"] for one in blind["new"]] == ["power.caps_not_checked"] and blind["cleared"] == []
        assert "is no JSON" in blind["new"][0]["message"] and blind["host"] == "ml1"
        assert 'code="power.caps_not_checked",host="ml1"' in tool.metrics
        # neither a limit nor a time that nobody looked at
        assert re.findall("^gpu_seats_(?:gpu|power).*", tool.metrics, re.M) == []
        tool.declare(whole)
        tool("apply")
        assert tool.given("mail")[2]["cleared"] == [
            {"code": "power.caps_not_checked", "subject": f"file:{tool.folder}/caps.json"}
        ]

    def test_a_run_that_never_ends_is_told(self, tool: Tool) -> None:
        tool.hook("mail", "")
        with HostLock("set power caps", str(tool.folder / "lock")):
            assert tool("apply", "--lock-wait-s", "0.1")[0] == 1
        (told,) = tool.given("mail")
        assert "(set power caps) holds" in told["new"][0]["message"] and "caps_not_checked" in tool.metrics

    def test_who_only_checks_tells_nobody(self, tool: Tool) -> None:
        tool.hook("mail", "")
        tool.declare("{")
        assert tool("check")[0] == 2 and tool.given("mail") == [] and not (tool.folder / "prom").exists()

    def test_an_unknown_verb_or_option_is_2(self, capsys: pytest.CaptureFixture[str]) -> None:
        for arguments in (["capz"], ["caps", "apply", "--cap"], ["caps"], []):
            with pytest.raises(SystemExit) as ended:
                main(arguments)
            assert ended.value.code == 2


class TestWaitingForTheDriver:
    def results(self, *codes: str) -> Any:
        made = [CapsResult([], [finding(code, "tool:nvidia-smi", "text")] if code else []) for code in codes]
        return lambda: made.pop(0)

    def test_a_driver_that_comes_late_is_awaited(self) -> None:
        slept: list[float] = []
        apply = self.results("gpu.driver_unreachable", "gpu.no_devices", "")
        result = caps_verb.applied_when_there(apply, 60, slept.append)
        assert result.findings == [] and len(slept) == 2

    @pytest.mark.parametrize("code", ["gpu.driver_mismatch", "gpu.lost", "command.hung", "power.cap_not_held"])
    def test_what_waiting_does_not_cure_is_not_awaited(self, code: str) -> None:
        slept: list[float] = []
        caps_verb.applied_when_there(self.results(code), 60, slept.append)
        assert slept == []

    def test_the_wait_has_an_end(self) -> None:
        result = caps_verb.applied_when_there(self.results("gpu.driver_unreachable"), 0)
        assert [one.code for one in result.findings] == ["gpu.driver_unreachable"]


class TestMetrics:
    def test_series_of_every_card_and_finding(self, tool: Tool) -> None:
        tool.cards.fault("na-values", 3)
        tool("apply")
        lines = tool.metrics.splitlines()
        of_card = f'{{host="ml1",card="0",uuid="{UUIDS[0]}"}}'
        assert f"gpu_seats_gpu_power_limit_watts{of_card} 275.0" in lines
        assert f"gpu_seats_gpu_power_cap_watts{of_card} 275.0" in lines
        assert f"gpu_seats_power_cap_held{of_card} 1" in lines
        finding_labels = 'code="power.cap_unreadable",host="ml1",severity="error",source="caps",subject="gpu:3"'
        assert f"gpu_seats_finding{{{finding_labels}}} 1" in lines

    def test_a_value_that_is_not_known_has_no_series_and_is_not_zero(self, tool: Tool) -> None:
        tool.cards.fault("na-values", 3)
        tool("apply")
        assert f'gpu_seats_power_cap_held{{host="ml1",card="3",uuid="{UUIDS[3]}"}} 0' in tool.metrics
        assert re.findall(r'^gpu_seats_gpu_power_(?:limit|draw)_watts\{.*card="3"', tool.metrics, re.M) == []

    def test_the_text_has_one_help_a_family_and_only_whole_lines(self, tool: Tool) -> None:
        tool.cards.fault("gpu-lost", 1)
        tool("apply")
        helps = re.findall(r"^# HELP (\S+)", tool.metrics, re.M)
        assert len(helps) == len(set(helps)) and tool.metrics.endswith("\n")
        for line in tool.metrics.splitlines():
            assert line.startswith("# ") or re.match(r"^[a-z_]+\{[^{}]*\} -?[\d.]+$", line), line
        assert (tool.folder / "prom/gpu_seats_power.prom").stat().st_mode & 0o777 == 0o644


class TestAlertHooks:
    def test_a_hook_is_told_of_what_is_new_and_of_what_is_cleared_and_of_nothing_else(self, tool: Tool) -> None:
        tool.hook("mail", "")
        tool("apply")
        assert tool.given("mail") == []
        tool.cards.fault("gpu-lost", 2)
        for _ in range(3):
            tool("apply")
        (told,) = tool.given("mail")
        assert (told["host"], told["source"]) == ("ml1", "caps")
        assert {one["code"] for one in told["new"]} == {"gpu.lost", "power.card_not_capped"} and told["cleared"] == []
        (tool.cards.folder / "state/faults/gpu-lost.json").unlink()
        tool("apply")
        tool("apply")
        _, cleared = tool.given("mail")
        assert cleared["new"] == [] and cleared["findings"] == []
        assert {one["code"] for one in cleared["cleared"]} == {"gpu.lost", "power.card_not_capped"}

    def test_a_cap_that_was_lost_and_set_again_is_told(self, tool: Tool) -> None:
        tool.hook("mail", "")
        tool("apply")
        tool.cards.change(1, limit_w=300.0)
        tool("apply")
        assert [one["code"] for one in tool.given("mail")[0]["new"]] == ["power.cap_lost"]

    def test_a_hook_that_fails_is_told_again_and_the_others_are_not(self, tool: Tool) -> None:
        tool.hook("good", "")
        broken = tool.hook("broken", "echo no route to host >&2\nexit 3")
        tool.cards.fault("gpu-lost", 2)
        first, second = tool("apply"), tool("apply")
        assert f"alert hook {broken} ended with 3: no route to host" in first[1] and first[0] == second[0] == 1
        assert len(tool.given("good")) == 1 and len(tool.given("broken")) == 2

    def test_a_failing_hook_does_not_keep_the_caps_from_being_set(self, tool: Tool) -> None:
        tool.hook("broken", "exit 1")
        tool.cards.fault("gpu-lost", 2)
        tool("apply")
        assert [watts for n, watts in enumerate(tool.cards.limits) if n != 2] == [275.0] * 3

    def test_a_hook_that_hangs_is_ended(self, tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
        from gpu_seats.host_tool.alert_hooks import call_hooks, hooks_in

        tool.hook("slow", "sleep 60")
        about = {"host": "ml1", "time": "t", "source": "caps"}
        lost = [finding("gpu.lost", "gpu:1", "gone")]
        after, problems = call_hooks(hooks_in(str(tool.hooks)), about, lost, {}, limit_s=0.3)
        assert after == {"slow": []} and "did not end within 0.3 s" in problems[0]

    def test_one_that_hangs_keeps_no_other_waiting(self, tool: Tool) -> None:
        from gpu_seats.host_tool.alert_hooks import call_hooks, hooks_in

        for number in range(4):
            tool.hook(f"{number}-slow", "sleep 60")
        tool.hook("9-mail", "")
        began = time.monotonic()
        lost = [finding("gpu.lost", "gpu:1", "gone")]
        after, problems = call_hooks(hooks_in(str(tool.hooks)), {}, lost, {}, limit_s=1.0)
        assert time.monotonic() - began < 3.5 and len(problems) == 4
        assert after["9-mail"] == [("gpu.lost", "gpu:1")] and len(tool.given("9-mail")) == 1

    def test_one_that_can_not_be_started_says_why(self, tool: Tool) -> None:
        tool.hook("mail", "").write_bytes(b"\x00\x01")
        tool.cards.fault("gpu-lost", 2)
        code, printed = tool("apply")
        assert code == 1 and re.search(r"^alert hook \S+/mail: Exec format error$", printed, re.M)

    def test_a_flood_of_words_is_cut_and_a_loop_of_links_is_no_hook(self, tool: Tool) -> None:
        tool.hook("loud", "yes 'no route' | head -c 30000000\nexit 2")
        (tool.hooks / "loop").symlink_to("loop")
        (tool.hooks / "folder").mkdir(mode=0o755)
        tool.cards.fault("gpu-lost", 2)
        code, printed = tool("apply")
        assert code == 1 and "loud ended with 2: no route\n" in printed and len(printed) < 2000

    def test_a_disk_that_takes_nothing_makes_no_alarm_of_every_minute(self, tool: Tool) -> None:
        tool.hook("mail", "")
        (tool.folder / "state").write_text("a file where the folder should be")
        tool.cards.fault("gpu-lost", 2)
        for _ in range(3):
            assert f"cannot read {tool.folder}/state/alerts.json" in tool("apply")[1]
        assert len(tool.given("mail")) == 1 and (tool.folder / "run/alerts.json").exists()
        (tool.folder / "state").unlink()
        tool("apply")
        assert len(tool.given("mail")) == 1 and not (tool.folder / "run/alerts.json").exists()
        assert json.loads((tool.folder / "state/alerts.json").read_text())["mail"]

    @pytest.mark.parametrize("name", [".hidden", "mail~", "mail.bak", "mail.dpkg-old", "mail.swp"])
    def test_leftovers_are_no_hooks(self, tool: Tool, name: str) -> None:
        tool.hook(name, "")
        tool.hook("notify.sh", "")
        (tool.hooks / "README").write_text("not executable")
        tool.cards.fault("gpu-lost", 2)
        tool("apply")
        assert tool.given(name) == [] and len(tool.given("notify.sh")) == 1
