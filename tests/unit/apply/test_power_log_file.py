"""Protects: a line counts as written only when the disk has it, and a disk that hangs or is full is told at once."""

from __future__ import annotations

import errno
import os
import time

import pytest

from gpu_seats.apply.power_measure.day_files import DayFiles
from gpu_seats.apply.power_measure.log_file import LogFile, LogFileError
from gpu_seats.observe.power_log import read_power_log


def test_each_line_is_on_the_disk_before_append_returns(tmp_path, monkeypatch):
    calls = []
    real_write, real_fsync = os.write, os.fsync

    def write(descriptor, data):
        calls.append(("write", bytes(data)))
        return real_write(descriptor, data)

    def fsync(descriptor):
        calls.append(("fsync",))
        real_fsync(descriptor)

    log = LogFile(tmp_path / "a.jsonl")
    monkeypatch.setattr(os, "write", write)
    monkeypatch.setattr(os, "fsync", fsync)
    for number in (1, 2):
        log.append({"n": number})
        assert [call[0] for call in calls] == ["write", "fsync"] * number
        assert calls[-2][1].count(b"\n") == 1, "one line is one write"


def test_the_name_of_a_new_file_is_on_the_disk_too(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("gpu_seats.apply.power_measure.log_file.sync_directory", synced.append)
    LogFile(tmp_path / "new" / "a.jsonl").close()
    assert synced == [tmp_path / "new"]


def test_a_full_disk_is_told_and_its_part_of_a_line_swallows_nothing(tmp_path, monkeypatch):
    log = LogFile(tmp_path / "a.jsonl")
    log.append({"n": 1})
    real_write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real_write(descriptor, data[:7]))
    with pytest.raises(LogFileError, match="7 of 25 bytes were taken"):
        log.append({"n": 2})
    monkeypatch.setattr(os, "write", real_write)
    log.append({"n": 3})
    read = read_power_log((tmp_path / "a.jsonl").read_bytes())
    assert [one["n"] for one in read.records] == [1, 3] and len(read.torn) == 1


def test_a_disk_that_never_answers_does_not_hold_the_watcher(tmp_path, monkeypatch):
    log = LogFile(tmp_path / "a.jsonl", limit_s=0.2)
    monkeypatch.setattr(os, "fsync", lambda descriptor: time.sleep(3))
    began = time.monotonic()
    with pytest.raises(LogFileError, match="did not take it within"):
        log.append({"n": 1})
    assert time.monotonic() - began < 2


def test_the_systems_words_are_told(tmp_path, monkeypatch):
    def refused(descriptor, data):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    log = LogFile(tmp_path / "a.jsonl")
    monkeypatch.setattr(os, "write", refused)
    with pytest.raises(LogFileError, match=r"a\.jsonl takes no line: Read-only file system"):
        log.append({"n": 1})
    with pytest.raises(LogFileError, match="Not a directory"):
        LogFile(tmp_path / "a.jsonl" / "b.jsonl")


def test_one_file_a_day_and_old_days_go(tmp_path):
    now = [1_800_000_000.0]
    (tmp_path / "samples-2020-01-01.jsonl").write_bytes(b"")
    (tmp_path / "measure-20200101T000000Z-abc.jsonl").write_bytes(b"")
    files = DayFiles(None, tmp_path, 2, {"host": "a"}, lambda: now[0])
    for _ in range(4):
        files.append({"kind": "sample", "at": now[0]})
        now[0] += 86400
    files.close()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "measure-20200101T000000Z-abc.jsonl",
        "samples-2027-01-16.jsonl",
        "samples-2027-01-17.jsonl",
        "samples-2027-01-18.jsonl",
    ]
    read = read_power_log((tmp_path / names[-1]).read_bytes())
    assert [one["kind"] for one in read.records] == ["sampler", "sample"] and read.records[0]["host"] == "a"
