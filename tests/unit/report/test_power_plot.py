"""Protects: a plot draws what was sampled and nothing between, against every limit, and costs nothing until it is asked
for."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpu_seats.observe.power_log import PowerLog, time_text
from gpu_seats.plan.power.ladder import HostLimit
from gpu_seats.report.power_figure import _tick_text, _ticks, write_plot
from gpu_seats.report.power_plot import plot_of

BEGAN = 1_800_000_000.0
BREAKER = HostLimit("fv-20a", "breaker", 1770.0, 2250.0, 150.0, "words")
UPS = HostLimit("fv-ups", "ups", 750.0, 750.0, 150.0, "words")


def sample(second, draws=(270.0, 12.0), bmc=700.0, step=None, **more):
    cards = [{"uuid": f"u{n}", "draw_watts": watts} for n, watts in enumerate(draws)]
    total = None if None in draws else sum(draws)
    return {
        "kind": "sample",
        "t": time_text(BEGAN + second),
        "cards": cards,
        "cards_watts": total,
        "bmc_watts": bmc,
        **({"step": step} if step is not None else {}),
        **more,
    }


def run(second=0.0, stop_at=1770.0):
    cards = [{"card": str(n), "uuid": f"u{n}"} for n in range(2)]
    plan = {"cards": cards, "limits": {"stop_at_watts": stop_at}}
    return {"kind": "run", "t": time_text(BEGAN + second), "host": "fv-ml1", "plan": plan}


def step(second, number, *cards):
    return {"kind": "step", "t": time_text(BEGAN + second), "number": number, "cards": list(cards)}


def watts(line):
    return [None if math.isnan(value) else value for _, value in line]


def test_lines_by_card_with_the_names_of_the_file():
    plot = plot_of(PowerLog([run(), sample(0), sample(3)]), [BREAKER], "fv-ml1")
    assert {name: watts(line) for name, line in plot.cards.items()} == {"0": [270.0, 270.0], "1": [12.0, 12.0]}
    assert watts(plot.cards_total) == [282.0, 282.0] and watts(plot.bmc) == [700.0, 700.0]
    assert plot.title == "fv-ml1   2027-01-15   peak 700 W at the BMC"
    named = plot_of(PowerLog([sample(0)]), [], "fv-ml1", {"u0": "7"})
    assert list(named.cards) == ["7", "u1"]


def test_nothing_is_drawn_where_nothing_was_seen():
    seconds = [0, 3, 6, 100, 103]
    gone = [sample(second) for second in seconds]
    gone[1]["bmc_watts"] = None
    plot = plot_of(PowerLog(gone), [], "fv-ml1")
    assert watts(plot.bmc) == [700.0, None, 700.0, None, 700.0, 700.0]
    assert watts(plot.cards_total) == [282.0, 282.0, 282.0, None, 282.0, 282.0]
    lost = plot_of(PowerLog([sample(0), sample(3, draws=(270.0, None)), sample(6)]), [], "fv-ml1")
    assert watts(lost.cards["u1"]) == [12.0, None, 12.0] and watts(lost.cards_total) == [282.0, None, 282.0]


def test_without_a_bmc_the_peak_says_so():
    plot = plot_of(PowerLog([sample(0, bmc=None)]), [], "fv-ml1")
    assert plot.bmc == [] and plot.peak_text == "peak 282 W on the cards (no BMC)"
    assert plot_of(PowerLog([sample(0, draws=(None, None), bmc=None)]), [], "h").peak_text == "no watts were read"


def test_steps_end_where_they_were_cut_off():
    records = [run(), step(0, 1, "0"), sample(1, step=1), sample(4, step=1)]
    records += [
        run(60),
        sample(61, step=1),
        step(62, 1, "0"),
        sample(63, step=1),
        step(66, 2, "0", "1"),
        sample(67, step=2),
    ]
    spans = plot_of(PowerLog(records), [], "fv-ml1").steps
    assert [(one.number, one.begin - BEGAN, one.end - BEGAN) for one in spans] == [(1, 0, 4), (1, 62, 63), (2, 66, 67)]


def test_limits_are_those_of_the_host_and_say_what_they_are():
    plot = plot_of(PowerLog([run(), sample(0)]), [UPS, BREAKER], "fv-ml1")
    assert [(one.watts, one.is_continuous) for one in plot.limits] == [(750, True), (1770, True), (2250, False)]
    assert plot.limits[1].text == "1770 W: fv-20a for hours, less up to 150 W of other loads"
    lower = plot_of(PowerLog([run(stop_at=1200.0), sample(0)]), [BREAKER], "fv-ml1")
    assert lower.limits[0].text == "1200 W: the load is ended"
    assert plot.highest > 750 and plot_of(PowerLog([sample(0, bmc=5000.0)]), [], "h").highest > 5000


def test_what_was_counted_with_is_drawn_where_it_is_another_line():
    raised = [sample(n, total_watts=770.0) for n in (0, 3)]
    assert watts(plot_of(PowerLog(raised), [], "h").at_most) == [770.0, 770.0]
    same = [sample(n, total_watts=700.0) for n in (0, 3)]
    assert plot_of(PowerLog(same), [], "h").at_most == []


def test_png_and_svg_are_written_and_hold_their_words(tmp_path):
    stop = {"kind": "stop", "t": time_text(BEGAN + 12), "message": "BMC 700 W is over <1> & more"}
    records = [run(), step(0, 1, "0"), *(sample(n, step=1, total_watts=770.0) for n in range(0, 12, 3)), stop]
    plot = plot_of(PowerLog(records), [UPS, BREAKER], "fv-ml1")
    png, svg = write_plot(plot, tmp_path / "new", "it")
    assert (png.name, svg.name) == ("it.png", "it.svg")
    assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and len(png.read_bytes()) > 20_000
    text = svg.read_text()
    for words in ("peak 700 W at the BMC", "750 W: fv-ups", "whole machine (BMC)", "card 0", "load ended at 08:00:12"):
        assert words in text, words
    again = write_plot(plot, tmp_path / "again", "it")
    assert again[1].read_bytes() == svg.read_bytes(), "the same samples give the same bytes"


def test_an_end_that_a_later_run_went_on_from_is_marked_and_no_headline(tmp_path):
    """Protects: the picture of a complete measurement does not say that its load was ended early."""
    stop = {"kind": "stop", "t": time_text(BEGAN + 12), "message": "nobody has looked"}
    first = [run(), step(0, 1, "0"), *(sample(n, step=1) for n in range(0, 12, 3)), stop]
    assert plot_of(PowerLog(first), [BREAKER], "fv-ml1").last_stop == (BEGAN + 12, "nobody has looked")
    again = [*first, run(20), step(21, 1, "0"), *(sample(n, step=1) for n in range(21, 33, 3))]
    plot = plot_of(PowerLog(again), [BREAKER], "fv-ml1")
    assert plot.last_stop is None and plot.stops == [(BEGAN + 12, "nobody has looked")]
    text = write_plot(plot, tmp_path, "it")[1].read_text()
    assert "load ended at" not in text and "ended 08:00:12, resumed" in text
    other = {**stop, "t": time_text(BEGAN + 34), "message": "card 1 is lost"}
    ended = plot_of(PowerLog([*again, other]), [BREAKER], "fv-ml1")
    assert ended.last_stop == (BEGAN + 34, "card 1 is lost") and len(ended.stops) == 2


@pytest.mark.parametrize("records", [[], [run()], [sample(0, draws=(), bmc=None)]])
def test_hardly_anything_is_still_a_picture(tmp_path, records):
    assert all(path.exists() for path in write_plot(plot_of(PowerLog(records), [], "h"), tmp_path, "it"))


@settings(deadline=None)
@given(st.floats(0, 4e9), st.floats(0, 1e7))
@example(0.0, 864000.0)
def test_ticks_are_few_round_and_within(first, span):
    ticks = _ticks([first, first + span])
    assert len(ticks) <= 9 and all(first <= at <= first + span for at in ticks)
    assert len({_tick_text(at, ticks) for at in ticks}) == len(ticks)
    assert span < 10 or len(ticks) >= 2


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.floats(0, 1e5), st.none() | st.floats(0, 3000)), max_size=30))
def test_no_point_is_made_up(points):
    taken = [sample(at, bmc=value) for at, value in sorted(points, key=lambda one: one[0])]
    line = plot_of(PowerLog(taken), [], "h").bmc
    drawn = [value for _, value in line if not math.isnan(value)]
    assert drawn == [one["bmc_watts"] for one in taken if one["bmc_watts"] is not None]


def test_matplotlib_is_not_imported_before_a_picture_is_drawn():
    code = (
        "import sys, gpu_seats.cli.main as m, gpu_seats.controller.power_measure_result\n"
        "m.command_parser()\n"
        "sys.exit('matplotlib' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


def test_colours_of_more_cards_than_colours(tmp_path):
    plot = plot_of(PowerLog([sample(0, draws=(100.0,) * 16), sample(3, draws=(100.0,) * 16)]), [], "h")
    assert all(Path(path).exists() for path in write_plot(plot, tmp_path, "it"))
