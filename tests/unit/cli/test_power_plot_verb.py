"""Protects: `gpu-seats power-plot` draws a file of the project's host and says clearly what it cannot draw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_seats.cli.main import main
from gpu_seats.observe.power_log import log_line

PROJECT = str(Path(__file__).parents[3])
UUID = "GPU-5e7a0002-c0de-4000-8000-000000000002"


def lines(host="fv-ml1"):
    head = {"kind": "sampler", "t": "2026-12-01T10:00:00.000Z", **({"host": host} if host else {})}
    card = {"uuid": UUID, "draw_watts": 62.7, "limit_watts": 275.0}
    samples = [
        {
            "kind": "sample",
            "t": f"2026-12-01T10:00:{n:02d}.000Z",
            "cards": [card],
            "cards_watts": 62.7,
            "bmc_watts": 390.0,
        }
        for n in (1, 11, 21)
    ]
    return b"".join(map(log_line, [head, *samples]))


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "samples-2026-12-01.jsonl"
    path.write_bytes(lines() + b'{"kind":"sample","t":"2026-12-01T10:0')
    return path


def run(capsys, *arguments):
    code = main(["power-plot", *map(str, arguments), "--root", PROJECT])
    return code, capsys.readouterr()


def test_both_pictures_are_written_and_named_after_the_file(capsys, log, tmp_path):
    code, said = run(capsys, log, "--site", "fv", "--out", tmp_path / "out")
    assert code == 0
    assert "fv-ml1   2026-12-01   peak 390 W at the BMC   3 samples, 1 torn lines passed over" in said.out
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "samples-2026-12-01.png",
        "samples-2026-12-01.svg",
    }
    svg = (tmp_path / "out" / "samples-2026-12-01.svg").read_text()
    assert "card 2" in svg and "1770 W: fv-20a for hours" in svg


def test_as_json(capsys, log, tmp_path):
    code, said = run(capsys, log, "--out", tmp_path, "--json")
    answer = json.loads(said.out)
    assert code == 0 and answer["host"] == "fv-ml1" and answer["samples"] == 3 and answer["torn_lines"] == [5]


@pytest.mark.parametrize(
    "odd",
    [
        {"kind": "sample", "t": "2026-12-01T10:00:31.000Z", "cards": [{"draw_watts": 3.0}]},
        {"kind": "sample", "t": "2026-12-01T10:00:31.000Z", "cards": 4},
        {"kind": "sample", "t": "2026-12-01T10:00:31.000Z", "cards": ["a card"]},
        {"kind": "sample", "t": "2026-12-01T10:00:31.000Z", "bmc_watts": "many"},
        {"kind": "run", "host": "fv-ml1"},
        {"kind": "run", "host": "fv-ml1", "plan": {"cards": []}},
        {"kind": "sampler", "host": "fv-ml1", "cards": [1]},
    ],
)
def test_whole_lines_of_another_shape_are_named_and_no_traceback(capsys, tmp_path, odd):
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines() + log_line(odd))
    code, said = run(capsys, path)
    assert code == 2 and "a.jsonl: its lines are whole, but not of this version's shape" in said.err


@pytest.mark.parametrize(
    ("content", "more", "says"),
    [
        (None, (), "No such file"),
        (b"nothing\n", (), "no sample in it; 0 lines hold, 1 are torn"),
        (lines(host=""), (), "does not say whose samples these are: add --host"),
        (lines(host="other"), (), "no host other is declared"),
        (lines(), ("--site", "nowhere"), "--site nowhere: no such site"),
    ],
)
def test_what_cannot_be_drawn(capsys, tmp_path, content, more, says):
    path = tmp_path / "a.jsonl"
    if content is not None:
        path.write_bytes(content)
    code, said = run(capsys, path, *more)
    assert code == 2 and says in said.err


def test_the_host_can_be_named(capsys, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(host=""))
    code, _ = run(capsys, path, "--host", "fv-ml1", "--out", tmp_path)
    assert code == 0
