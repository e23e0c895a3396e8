"""Files are whole or untouched, private from their first byte, and their changes are told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpu_seats.apply.atomic_files import (
    TEMPORARY_PREFIX,
    FileError,
    WantedFile,
    file_change,
    remove_leftovers,
    write_file,
)


def wanted(path, content="new\n", **more):
    return WantedFile(str(path), content, **more)


def test_new_file_with_its_directories_and_mode(tmp_path):
    path = tmp_path / "a" / "b" / "x.yaml"
    change = file_change(wanted(path, mode=0o640))
    assert change.differs and change.why == f"{path} is new"
    assert write_file(change) is True
    assert path.read_text() == "new\n" and path.stat().st_mode & 0o777 == 0o640
    assert write_file(file_change(wanted(path, mode=0o640))) is False


def test_same_content_is_not_written_again(tmp_path):
    path = tmp_path / "x"
    path.write_text("new\n")
    path.chmod(0o644)
    before = path.stat().st_ino
    assert write_file(file_change(wanted(path))) is False
    assert path.stat().st_ino == before


def test_only_the_mode_differs(tmp_path):
    path = tmp_path / "x"
    path.write_text("new\n")
    path.chmod(0o666)
    change = file_change(wanted(path, mode=0o600))
    assert change.why.endswith("has mode 0666, 0600 is wanted")
    assert change.diff()["before"].startswith("mode: 0666") and change.diff()["after"].startswith("mode: 0600")
    write_file(change)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("failing", ["fsync", "fchmod"])
def test_a_write_that_fails_leaves_the_old_file_and_no_leftover(tmp_path, monkeypatch, failing):
    path = tmp_path / "x"
    path.write_text("old\n")

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, full)
    with pytest.raises(FileError, match="No space left on device"):
        write_file(file_change(wanted(path)))
    assert path.read_text() == "old\n" and [one.name for one in tmp_path.iterdir()] == ["x"]


def test_secret_is_never_readable_by_others_while_it_is_written(tmp_path, monkeypatch):
    modes = []
    real = os.fdopen

    def spy(descriptor, *arguments, **more):
        modes.append(os.fstat(descriptor).st_mode & 0o777)
        return real(descriptor, *arguments, **more)

    monkeypatch.setattr(os, "fdopen", spy)
    write_file(file_change(wanted(tmp_path / "x.env", "TOKEN='s'\n", mode=0o600, secret=True)))
    assert modes == [0o600]


def test_diff_of_a_secret_says_only_that_it_changed(tmp_path):
    path = tmp_path / "x.env"
    path.write_text("TOKEN='old'\n")
    path.chmod(0o600)
    diff = file_change(wanted(path, "TOKEN='new'\n", mode=0o600, secret=True)).diff()
    assert "old" not in str(diff["before"]) and "new" not in str(diff["after"])
    assert diff["after"] == "(secret content changed)\n" and diff["before"] != diff["after"]


@pytest.mark.parametrize("what", ["directory", "file_in_the_way"])
def test_something_else_in_the_way_is_an_error_that_names_it(tmp_path, what):
    if what == "directory":
        path = tmp_path / "x"
        path.mkdir()
    else:
        (tmp_path / "x").write_text("")
        path = tmp_path / "x" / "y"
    with pytest.raises(FileError) as caught:
        write_file(file_change(wanted(path)))
    assert str(path) in str(caught.value) and caught.value.evidence()["errno"]


def test_a_pipe_is_neither_read_nor_replaced(tmp_path):
    """Reading it would never end, and a file in its place (or that of /dev/null) would spoil the machine."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(FileError, match="Is a device or a pipe, no file"):
        file_change(wanted(path))
    assert path.is_fifo()
    with pytest.raises(FileError, match="/dev/null: Is a device or a pipe"):
        file_change(wanted("/dev/null"))
    with pytest.raises(FileError, match="Is a directory"):
        file_change(wanted(tmp_path))


def test_binary_content_is_replaced_and_not_shown(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\xff\xfe\x00")
    change = file_change(wanted(path))
    assert change.diff()["before"] == ""
    write_file(change)
    assert Path(path).read_text() == "new\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_secret_file_of_another_user_is_taken_back(tmp_path):
    """Mode 0600 keeps everybody out but the owner: of a file given away that is somebody else."""
    path = tmp_path / "x.env"
    one = wanted(path, "TOKEN='s'\n", mode=0o600, secret=True)
    write_file(file_change(one))
    os.chown(path, 65534, 65534)
    change = file_change(one)
    assert "65534" in change.why and write_file(change)
    assert path.stat().st_uid == 0 and not file_change(one).differs
    os.chown(path, 65534, 65534)
    write_file(file_change(wanted(path, "TOKEN='t'\n", mode=0o600, secret=True)))
    assert path.stat().st_uid == 0


def test_a_leftover_goes_and_what_another_run_is_writing_stays(tmp_path):
    """Protects: two runs at once. Without it the one removes the other's file between its writing and its renaming."""
    ours, running = tmp_path / f"{TEMPORARY_PREFIX}x.{os.getpid()}", tmp_path / f"{TEMPORARY_PREFIX}x.{os.getppid()}"
    killed = tmp_path / f"{TEMPORARY_PREFIX}x.{2**22 + 1}"
    for one in (ours, running, killed, tmp_path / "x"):
        one.write_text("")
    assert sorted(remove_leftovers(tmp_path)) == sorted([str(ours), str(killed)])
    assert {one.name for one in tmp_path.iterdir()} == {"x", running.name}


def test_a_leftover_that_can_not_be_removed_is_left(tmp_path, monkeypatch):
    (tmp_path / f"{TEMPORARY_PREFIX}x.{2**22 + 1}").write_text("")

    def read_only(*_arguments):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", read_only)
    assert remove_leftovers(tmp_path) == []
