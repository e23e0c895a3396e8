"""While a model loads there is a line every few seconds, and never a flood of them."""

from gpu_seats.report.progress import Pace, Waiting, progress_line
from gpu_seats.report.terminal import Terminal


def test_the_line_reads_as_documented() -> None:
    assert progress_line(Waiting("flash-next", "loading weights 5/9"), 12.4) == "flash-next   12 s  loading weights 5/9"
    assert (
        progress_line(Waiting("a", "loading weights 5/9", "engine log"), 143)
        == "a  143 s  loading weights 5/9 (engine log)"
    )


def test_a_long_log_line_stays_one_line() -> None:
    line = progress_line(Waiting("a", "x\n" * 200), 5, terminal=Terminal(60, False))
    assert len(line) <= 60 and "\n" not in line and line.endswith("...")


def test_a_standing_step_is_repeated_every_few_seconds_and_not_more_often() -> None:
    pace = Pace(every_s=5, at_most_every_s=1)
    printed = [second for second in range(21) if pace.due([Waiting("a", "starting")], {"a": float(second)})]
    assert printed == [0, 5, 10, 15, 20]


def test_a_new_step_is_shown_at_once_but_fast_counters_do_not_flood() -> None:
    pace = Pace(every_s=5, at_most_every_s=1)
    assert pace.due([Waiting("a", "starting")], {"a": 0.0})
    assert pace.due([Waiting("a", "loading weights 1/9")], {"a": 1.2})
    assert not pace.due([Waiting("a", "loading weights 2/9")], {"a": 1.4})
    assert pace.due([Waiting("a", "loading weights 3/9")], {"a": 2.4})


def test_seats_that_wait_together_are_aligned_and_paced_apart() -> None:
    pace = Pace(every_s=5)
    both = [Waiting("flash-next", "starting"), Waiting("smol", "starting")]
    assert pace.due(both, {"flash-next": 0.0, "smol": 0.0}) == [
        "flash-next    0 s  starting",
        "smol          0 s  starting",
    ]
    assert pace.due(both, {"flash-next": 5.0, "smol": 3.0}) == ["flash-next    5 s  starting"]
