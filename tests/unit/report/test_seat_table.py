"""The table that a verb ends with: within 100 columns, nothing cut, colour only where it was asked for."""

import pytest

from gpu_seats.findings import Finding
from gpu_seats.report.seat_table import SeatRow, cards_text, seat_table_text
from gpu_seats.report.terminal import Terminal

ROWS = [
    SeatRow(
        "flash-next",
        "serving",
        "2",
        "8022",
        "answers as qwen3.8-flash-next after 143 s, 93.0 of 95.6 GiB claimed",
        True,
    ),
    SeatRow("charrp-reasoning-nvfp4", "on_demand", "0,1", "8018", "stopped, starts when it is named"),
]
REMEDY = "Recreate the container: ansible-playbook deploy-seat.yml -e seat=flash-next --extra-vars pull=never"
FOUND = Finding(
    "port.unpublished", "error", "seat:flash-next", "Port 8022 is declared; nothing is published", {}, REMEDY
)


def test_the_table_reads_as_documented() -> None:
    row = SeatRow(
        "flash-next", "serving", "2", "8022", "answers as qwen3.8-flash-next after 143 s, 93.0 of 95.6 GiB claimed"
    )
    assert seat_table_text([row], []) == (
        "seat        state    card  port  verdict\n"
        "flash-next  serving  2     8022  answers as qwen3.8-flash-next after 143 s, 93.0 of 95.6 GiB claimed\n"
    )


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_every_word_is_there_at_any_width(width: int) -> None:
    text = seat_table_text(ROWS, [FOUND], Terminal(width, False))
    words = text.split()
    for expected in [*REMEDY.split(), *FOUND.message.split(), *ROWS[0].verdict.split(), "charrp-reasoning-nvfp4"]:
        assert expected in words
    assert all(len(line) <= width for line in text.splitlines())
    assert "…" not in text


def test_findings_come_most_severe_first_and_each_once() -> None:
    late = Finding("labels.stale", "warning", "seat:a", "labels differ")
    text = seat_table_text([], [late, FOUND, FOUND])
    assert "1 error, 1 warning" in text
    assert text.index("port.unpublished") < text.index("labels.stale")
    assert text.count("port.unpublished") == 1


def test_colour_is_written_only_when_asked_for() -> None:
    assert "\x1b" not in seat_table_text(ROWS, [FOUND], Terminal(100, False))
    assert "\x1b[31m" in seat_table_text(ROWS, [FOUND], Terminal(100, True))


def test_the_environment_does_not_change_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rich reads FORCE_COLOR, COLUMNS and more by itself; a report that is written to a file must not."""
    plain = seat_table_text(ROWS, [FOUND])
    for name, value in {"FORCE_COLOR": "1", "COLUMNS": "20", "TTY_COMPATIBLE": "1", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    assert seat_table_text(ROWS, [FOUND]) == plain
    assert "\x1b[31m" in seat_table_text(ROWS, [FOUND], Terminal(100, True))


def test_a_seat_without_a_card_says_so() -> None:
    assert cards_text([]) == "cpu"
    assert cards_text(["0", "1"]) == "0,1"


def test_brackets_in_a_message_are_text_and_not_markup() -> None:
    found = Finding("engine.oom", "error", "seat:a", "limit [N/A] of [red]card[/red] :smile:")
    assert "limit [N/A] of [red]card[/red] :smile:" in seat_table_text([], [found])
