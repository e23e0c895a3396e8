"""`make test` ends with one line that sums what the test runners counted; a run without a count must not look green."""

from __future__ import annotations

import pytest

from scripts.check import run
from scripts.steps import Counts, counts_in


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("12 passed in 0.31s", Counts(12, 0, 0)),
        ("======== 3 failed, 10 passed, 2 skipped in 61.02s (0:01:01) ========", Counts(10, 3, 2)),
        ("\x1b[32m\x1b[1m5 passed\x1b[0m\x1b[32m in 1.00s\x1b[0m", Counts(5, 0, 0)),
        ("1 passed, 2 errors in 0.1s", Counts(1, 2, 0)),
        ("  │ ======== 4 passed in 8.31s ========                    ", Counts(4, 0, 0)),
        ("fv-ml1 : ok=5 changed=1 unreachable=0 failed=0", Counts()),
        ("loaded 5 passed tests in the cache", Counts()),
    ],
)
def test_closing_lines_of_pytest_are_counted(line: str, expected: Counts) -> None:
    assert counts_in(line) == expected


def test_sums_and_last_line(capsys: pytest.CaptureFixture[str]) -> None:
    rc = run([("one", ["echo", "2 passed in 0.1s"], 10), ("two", ["echo", "3 passed, 1 skipped in 0.1s"], 10)])
    assert rc == 0
    assert capsys.readouterr().out.splitlines()[-1] == "5 passed, 0 failed, 1 skipped"


def test_a_failed_step_ends_the_run_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    rc = run([("lint", ["false"], 10), ("never", ["echo", "9 passed in 0.1s"], 10)])
    out = capsys.readouterr().out
    assert rc == 1
    assert "stopped at 'lint'" in out
    assert out.splitlines()[-1] == "0 passed, 1 failed"


def test_a_step_past_its_limit_is_ended(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([("hangs", ["sleep", "30"], 0.3)]) == 1
    assert "no end within" in capsys.readouterr().out
