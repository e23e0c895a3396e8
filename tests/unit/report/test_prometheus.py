"""The text that node_exporter's textfile collector reads: one bad line there loses the whole file."""

import re

from gpu_seats.findings import Finding
from gpu_seats.report.prometheus import prometheus_text
from gpu_seats.report.seat_table import SeatRow

SAMPLE = re.compile(r'^[a-z_]+\{([a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*\} -?[0-9.e+]+$')
ROWS = [
    SeatRow("a", "serving", "0", "1", "", True),
    SeatRow("b", "serving", "0", "2", "", False),
    SeatRow("c", "dormant", "0", "", ""),
]


def samples(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_a_seat_is_up_or_down_and_an_unverified_one_is_neither() -> None:
    text = prometheus_text("fv-ml1", ROWS, [])
    assert 'gpu_seats_seat_up{host="fv-ml1",seat="a",state="serving"} 1' in samples(text)
    assert 'gpu_seats_seat_up{host="fv-ml1",seat="b",state="serving"} 0' in samples(text)
    assert 'seat="c"' not in text


def test_every_line_is_a_sample_or_a_comment_whatever_the_values_hold() -> None:
    nasty = Finding("host.unknown", "warning", 'file:stacks/"x"\\y\nz', "m")
    lines = samples(prometheus_text("h", ROWS, [nasty], 1789.5))
    assert all(SAMPLE.match(line) for line in lines), lines
    assert any(r'subject="file:stacks/\"x\"\\y\nz"' in line for line in lines)


def test_two_findings_with_the_same_labels_are_one_series() -> None:
    twice = [
        Finding("vram.unknown", "warning", "host:h", "first"),
        Finding("vram.unknown", "warning", "host:h", "second"),
    ]
    lines = samples(prometheus_text("h", [], twice))
    assert len([line for line in lines if line.startswith("gpu_seats_finding{")]) == 1
    assert len({line.split("} ")[0] for line in lines}) == len(lines)


def test_each_family_is_announced_once_before_its_samples() -> None:
    text = prometheus_text("h", ROWS, [], 5)
    announced = re.findall(r"^# TYPE (\S+) gauge$", text, re.MULTILINE)
    assert len(announced) == len(set(announced)) == 4
    assert text.endswith('gpu_seats_checked_timestamp_seconds{host="h"} 5\n')
