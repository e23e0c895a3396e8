"""Protects: what a power cut tears of a sample file never costs more than the line it tore, and is never taken for a
sample; what goes into the file comes out of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_seats.apply.power_measure.log_file import LogFile
from gpu_seats.observe.power_log import epoch_of, log_line, read_power_log, record_of_line, time_text

watts = st.none() | st.floats(0, 5000, allow_nan=False).map(lambda value: round(value, 2))
records = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["sample", "step", "stop"]),
        "t": st.floats(0, 4e9).map(time_text),
        "bmc_watts": watts,
        "cards": st.lists(st.fixed_dictionaries({"uuid": st.text(max_size=20), "draw_watts": watts}), max_size=4),
        "note": st.text(max_size=40),
    }
)


@given(st.lists(records, max_size=5))
def test_what_is_written_is_read(written):
    assert read_power_log(b"".join(map(log_line, written))).records == written


@given(st.lists(records, min_size=1, max_size=4), st.lists(records, min_size=1, max_size=2), st.data())
def test_cut_off_at_any_byte_and_gone_on_with(tmp_path_factory, first, later, data):
    whole = [log_line(one) for one in first]
    content = b"".join(whole)
    cut = data.draw(st.integers(0, len(content)))
    path = tmp_path_factory.mktemp("log") / "a.jsonl"
    path.write_bytes(content[:cut])
    log = LogFile(path)
    for one in later:
        log.append(one)
    log.close()
    ends = [sum(map(len, whole[: n + 1])) for n in range(len(whole))]
    # a line that lacks only its newline is whole
    kept = [one for one, end in zip(first, ends) if end - 1 <= cut]
    read = read_power_log(path.read_bytes())
    assert read.records == [*kept, *later]
    assert len(read.torn) == (0 if cut in (0, *ends, *(end - 1 for end in ends)) else 1)


@given(st.lists(records, min_size=1, max_size=3), st.data())
def test_every_single_changed_byte_is_seen(written, data):
    content = bytearray(b"".join(map(log_line, written)))
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    read = read_power_log(bytes(content))
    for one in read.records:
        assert one in written
    assert len(read.records) >= len(written) - 2  # a newline that is gone takes the line behind it along


@given(st.binary(max_size=400))
def test_no_content_makes_the_reader_raise(content):
    read = read_power_log(content)
    assert len(read.records) + len(read.torn) <= content.count(b"\n") + 1


def test_zeros_of_a_file_system_that_lost_its_data_are_one_torn_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(log_line({"kind": "sample", "n": 1}) + bytes(4096))
    log = LogFile(path)
    log.append({"kind": "sample", "n": 2})
    log.close()
    read = read_power_log(path.read_bytes())
    assert [one["n"] for one in read.records] == [1, 2]
    assert [(one.number, one.offset) for one in read.torn] == [(2, len(log_line({"kind": "sample", "n": 1})))]


def test_lines_are_json_that_other_tools_read():
    line = log_line({"kind": "sample", "bmc_watts": 1482.0})
    assert json.loads(line)["bmc_watts"] == 1482.0 and line.endswith(b'"}\n') and line.count(b"\n") == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_reading_is_not_written(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        log_line({"bmc_watts": value})


def test_a_record_cannot_bring_its_own_checksum():
    with pytest.raises(ValueError, match="crc"):
        log_line({"crc": "00000000"})
    assert record_of_line(b'{"kind":"sample","crc":"00000000"}') is None


@given(st.integers(0, 4_000_000_000_000))
def test_times_come_back(milliseconds):
    assert round(epoch_of(time_text(milliseconds / 1000)) * 1000) in (milliseconds - 1, milliseconds)
