"""Building ahead must never hold up or break the task that does it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from gpu_seats.controller.prebuilt import build_meanwhile


def test_every_module_is_built_in_another_process_and_a_failing_one_does_not_stop_the_next(tmp_path: Path) -> None:
    def build(name: str) -> None:
        if name == "bad":
            raise RuntimeError(name)
        (tmp_path / name).write_text(str(os.getpid()))

    child = build_meanwhile(build, ["a", "bad", "b"])
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert {file.name: int(file.read_text()) for file in tmp_path.iterdir()} == {"a": child, "b": child}


def test_the_caller_goes_on_at_once() -> None:
    began = time.monotonic()
    child = build_meanwhile(lambda _name: time.sleep(1), ["slow"])
    assert time.monotonic() - began < 0.5
    os.waitpid(child, 0)
