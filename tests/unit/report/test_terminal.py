"""What is written fits where it is written to, and carries no control characters."""

import io

import pytest

from gpu_seats.report.terminal import PLAIN, Terminal, printable, terminal_of, wrapped


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_file_gets_no_colour_and_full_width() -> None:
    assert terminal_of(io.StringIO(), {"TERM": "xterm-256color", "COLUMNS": "70"}) == PLAIN == Terminal(100, False)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"COLUMNS": "72"}, Terminal(72, True)),
        ({"COLUMNS": "300"}, Terminal(100, True)),
        ({"COLUMNS": "12"}, Terminal(40, True)),
        ({"COLUMNS": "72", "NO_COLOR": "1"}, Terminal(72, False)),
        ({"COLUMNS": "72", "NO_COLOR": ""}, Terminal(72, True)),
        ({"COLUMNS": "72", "TERM": "dumb"}, Terminal(72, False)),
    ],
)
def test_a_terminal_says_its_width_and_whether_colour_is_wanted(environ: dict[str, str], expected: Terminal) -> None:
    assert terminal_of(Screen(), environ) == expected


def test_tool_output_cannot_move_the_cursor_or_change_colours() -> None:
    assert printable("\x1b[31mred\x1b[0m\x1b]0;title\x07 a\rb\x00c") == "red0;title abc"


def test_a_long_command_is_kept_whole_when_the_line_is_shorter() -> None:
    path = "/opt/docker/compose/charrp-reasoning-nvfp4/compose.yaml"
    lines = wrapped(f"look at {path} first", 30, "do: ", "    ")
    assert "    " + path in lines
    assert all(len(line) <= 30 for line in lines if path not in line)


def test_line_breaks_of_a_message_stay() -> None:
    assert wrapped("one\n\ntwo", 40, "> ", "  ") == ["> one", "", "  two"]
