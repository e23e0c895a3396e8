"""Tools run with a time limit.

Protects: a run is never held up, nor its memory filled, by a tool that hangs, prints without an end, does not read its
input or leaves a process behind; and of what it printed before it was ended nothing is lost.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from gpu_seats.observe import command, command_pipes
from gpu_seats.observe.command import CommandResult, command_findings, run

LIMIT_S = 20.0


def python(code: str, limit_s: float = LIMIT_S, given: bytes | None = None) -> CommandResult:
    return run([sys.executable, "-I", "-c", code], limit_s, given=given)


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_both_streams_and_the_exit_code() -> None:
    ended = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (ended.rc, ended.stdout, ended.stderr, ended.timed_out) == (3, "out\n", "err\n", False)
    assert ended.text == "out\nerr"


def test_a_tool_without_input_reads_its_end_and_one_with_input_all_of_it() -> None:
    assert python("import sys; print(len(sys.stdin.read()))").stdout == "0\n"
    much = b"x" * 3_000_000
    assert python("import sys; print(len(sys.stdin.buffer.read()))", given=much).stdout == "3000000\n"


def test_input_that_nobody_reads_does_no_harm() -> None:
    ended = python("print('done')", given=b"x" * 3_000_000)
    assert (ended.rc, ended.stdout) == (0, "done\n")


def test_one_that_prints_while_it_is_given_input_does_not_block() -> None:
    echo = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line)"
    lines = b"a line\n" * 200_000
    assert python(echo, given=lines).stdout.encode() == lines


def test_output_without_an_end_is_dropped_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_pipes, "MOST_BYTES", 1000)
    ended = python("import sys\nsys.stdout.write('y' * 10_000_000); print('told', file=sys.stderr)")
    assert ended.rc == 0 and ended.stdout == "y" * 1000 and ended.stderr == "told\n"
    began = time.monotonic()
    forever = python("import sys\nwhile True: sys.stdout.write('y' * 65536)", limit_s=0.5)
    assert forever.timed_out and len(forever.stdout) == 1000 and time.monotonic() - began < 5


def test_what_a_hanging_tool_had_printed_is_kept_and_its_whole_group_ended(tmp_path: Path) -> None:
    note = tmp_path / "child"
    code = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen(['sleep', '300']); open({str(note)!r}, 'w').write(str(child.pid))\n"
        "print('before', flush=True); time.sleep(300)"
    )
    ended = python(code, limit_s=1.5)
    assert (ended.rc, ended.timed_out, ended.stdout) == (None, True, "before\n")
    assert command_findings(ended, "tool:x")[0].code == "command.hung"
    child = Path("/proc", note.read_text(), "stat")
    assert not child.exists() or child.read_text().rpartition(")")[2].split()[0] == "Z"


def test_one_that_does_not_end_when_asked_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_KILL_GRACE_S", 0.3)
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('here', flush=True)\n"
    ended = python(stubborn + "time.sleep(300)", limit_s=1.0)
    assert ended.timed_out and ended.stdout == "here\n" and ended.elapsed_s < 5


def test_a_process_that_left_the_group_and_keeps_the_pipes_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "_KILL_GRACE_S", 0.2)
    note = tmp_path / "stray"
    code = (
        "import subprocess\n"
        "stray = subprocess.Popen(['sleep', '300'], start_new_session=True)\n"
        f"open({str(note)!r}, 'w').write(str(stray.pid)); print('ended')"
    )
    before = open_descriptors()
    ended = python(code, limit_s=1.5)
    os.kill(int(note.read_text()), signal.SIGKILL)
    assert ended.timed_out and ended.stdout == "ended\n" and ended.elapsed_s < 5
    assert open_descriptors() == before


def test_what_can_not_be_started_is_missing_with_the_reason(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("")
    tool.chmod(0o644)
    for name, said in (
        ("no-such-tool", "no-such-tool is not installed here"),
        (str(tool), "tool can't be started: Permission denied"),
    ):
        ended = run([name], 1.0)
        assert ended.missing and ended.rc is None and name in ended.stderr
        (found,) = command_findings(ended, "tool:x")
        assert (found.code, found.message) == ("command.missing", said)


def test_a_stand_in_that_says_nothing_is_not_installed() -> None:
    told = command_findings(CommandResult(("nvidia-smi",), None, "", "", missing=True), "tool:nvidia-smi")
    assert told[0].message == "nvidia-smi is not installed here"
