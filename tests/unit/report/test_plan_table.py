"""The plan for people: the bar is a picture of the numbers, refusals say that nothing is touched."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_seats.report.plan_table import actions_text, host_ram_text, plan_text
from gpu_seats.report.terminal import Terminal
from gpu_seats.report.vram_bars import BAR_WIDTH, vram_bar, vram_text

TOTAL = 97887.0


def card(name: str = "2", before: float = 0.0, after: float = 95232.0, free: float | None = None) -> dict[str, Any]:
    claim = {"workload": "flash-next", "mib": after, "basis": "declared 95,232 MiB"}
    return {
        "card": name,
        "total_mib": TOTAL,
        "driver_reserve_mib": 640.0,
        "before_mib": before,
        "after_mib": after,
        "capacity_mib": TOTAL - 640.0,
        "free_mib": free,
        "after": [claim] if after else [],
    }


def plan(**changes: Any) -> dict[str, Any]:
    workload = {"selected": True, "container": "flash-next", "run": "up", "why": "serving"}
    other = {"selected": False, "container": "other", "run": "keep", "why": "not asked for"}
    base = {
        "host": "fv-ml1",
        "cards": [card()],
        "stacks": [{"stack": "flash-next-seat", "workloads": {"flash-next": workload, "other": other}}],
        "host_ram": {"total_mib": 1024.0 * 512, "reserve_mib": 1024.0 * 64, "available_mib": None,
                     "claimed_mib": 1024.0 * 67, "claims": [{"workload": "flash-next", "mib": 1024.0 * 67},
                                                            {"workload": "gen", "mib": None}]},
        "refusals": [],
        "findings": [],
    }  # fmt: skip
    return {**base, **changes}


def refusal() -> dict[str, Any]:
    text = (
        "card 2 of fv-ml1: 97,887 MiB - 640 driver reserve = 97,247; a 60,000 + b 60,000 = 120,000; over by 22,753 MiB"
    )
    return {"code": "vram.overcommitted", "severity": "error", "subject": "host:fv-ml1/gpu:2", "message": text,
            "evidence": {}, "remedy": "Lower a claim"}  # fmt: skip


mib = st.floats(0, TOTAL * 1.5, allow_nan=False)


@given(before=mib, after=mib, reserve=st.floats(0, 2048))
def test_a_bar_has_its_width_and_shows_overflow(before: float, after: float, reserve: float) -> None:
    bar = vram_bar(TOTAL, reserve, before, after)
    assert len(bar) == BAR_WIDTH + 2
    assert ("!" in bar) == (after > TOTAL - reserve)
    assert set(bar[1:-1]) <= set("=+-.r!")


@pytest.mark.parametrize(
    ("before", "after", "marks"),
    [
        (0, 0, set()),
        (300, 300, {"="}),
        (0, 300, {"+"}),
        (300, 0, {"-"}),
        (50000, 80000, {"=", "+"}),
        (80000, 50000, {"=", "-"}),
    ],
)
def test_even_a_small_change_is_seen(before: float, after: float, marks: set[str]) -> None:
    assert set(vram_bar(TOTAL, 640, before, after)) & set("=+-") == marks


def test_cards_show_before_after_and_what_is_left() -> None:
    (row,) = [line.split() for line in vram_text([card()]).splitlines() if line.startswith("2 ")]
    assert row[:5] == ["2", "95.6", "0.0", "93.0", "2.0"]
    assert "card 2: flash-next 93.0 (declared 95,232 MiB)" in vram_text([card()])


def test_measured_memory_is_shown_only_where_it_was_measured() -> None:
    assert "measured" not in vram_text([card()])
    both = vram_text([card("1", free=None), card("2", free=1024.0)])
    assert "measured free" in both
    assert "?" in both  # a card that did not answer is not a card without free memory


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_every_line_fits(width: int) -> None:
    text = plan_text(plan(refusals=[refusal()]), terminal=Terminal(width, False))
    assert all(len(line) <= width for line in text.splitlines()), text


def test_offline_it_says_what_each_chosen_container_is_meant_to_be() -> None:
    text = plan_text(plan())
    assert "flash-next-seat  flash-next  runs  serving" in text
    assert "other" not in text


def test_what_stays_down_is_one_line_a_reason() -> None:
    names = ["granite", "kokoro"]
    asleep = {name: {"selected": True, "container": name, "run": "stopped", "why": "dormant"} for name in names}
    text = plan_text(plan(stacks=[{"stack": "s", "workloads": asleep}]))
    assert "stays stopped (dormant): granite, kokoro\n" in text


def test_against_a_host_it_says_what_would_be_done_and_why() -> None:
    actions = [
        {
            "service": "flash-next",
            "container": "flash-next",
            "action": "recreate",
            "why": "label gpu-seats.digest differs",
        },
        {"service": "x", "container": "x", "action": "none", "why": ""},
    ]
    text = plan_text(plan(), [{"name": "flash-next-seat", "actions": actions}])
    assert "recreate  label gpu-seats.digest differs" in text
    assert "Nothing to change." in plan_text(plan(), [{"name": "s", "actions": [actions[1]]}])


def test_a_refusal_says_that_nothing_is_touched_and_keeps_the_arithmetic() -> None:
    text = plan_text(plan(refusals=[refusal()]))
    assert "Refused, nothing is touched:" in text
    assert "over by 22,753 MiB" in " ".join(text.split())


def test_host_ram_names_what_nobody_declared() -> None:
    assert host_ram_text(plan()["host_ram"]) == (
        "host RAM, GiB: 67.0 claimed of 448.0 (flash-next 67.0); 1 more declare no claim\n"
    )


def test_a_file_is_named_once_with_its_path() -> None:
    write = {
        "service": "",
        "container": "/opt/docker/compose/x/compose.yaml",
        "action": "write",
        "why": "/opt/docker/compose/x/compose.yaml is new",
    }
    text = actions_text([{"name": "x", "actions": [write]}], Terminal(100, False))
    assert text.count("/opt/docker/compose/x/compose.yaml") == 1 and "compose.yaml  write" in text
