"""Protects: unit files reach the disk and units the boot without one implicit daemon-reload; a reload that is due is
told until it was made, whatever ended the run before."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_systemd import FakeSystemd

from gpu_seats.apply import unit_files
from gpu_seats.apply.atomic_files import WantedFile, binary_file
from gpu_seats.apply.daemon_reload import reload_findings
from gpu_seats.apply.unit_files import UnitsRun, WantedUnit, bring_units

TIMER = WantedUnit("look.timer", enabled=True, started=True)


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSystemd:
    directory = tmp_path / "system"
    directory.mkdir()
    monkeypatch.setattr(unit_files, "UNIT_DIRECTORIES", (f"{directory}/",))
    return FakeSystemd(directory)


def brought(systemd: FakeSystemd, text: str = "[Timer]\n", check: bool = False, units=(TIMER,)) -> UnitsRun:
    return bring_units(
        systemd.run, [WantedFile(str(systemd.directory / "look.timer"), text)], [], list(units), check=check
    )


def test_a_new_unit_is_enabled_without_a_reload_and_started_only_after_it(systemd: FakeSystemd) -> None:
    first = brought(systemd)
    assert (first.changed, first.reload_due, first.pending, first.switched) == (
        True, True, ["look.timer"], ["enable look.timer"],
    )  # fmt: skip
    assert systemd.reloads == 0 and systemd.active == set()
    assert reload_findings(systemd.run) == [] and systemd.reloads == 1
    second = brought(systemd)
    assert second.switched == ["start look.timer"] and not second.reload_due
    third = brought(systemd)
    assert (third.changed, third.pending, third.diff) == (False, [], [])
    assert systemd.reloads == 1


def test_check_mode_on_a_host_that_has_nothing_yet_says_the_same_and_touches_nothing(systemd: FakeSystemd) -> None:
    told = brought(systemd, check=True)
    assert (told.written, told.switched, told.pending) == (
        [str(systemd.directory / "look.timer")], ["enable look.timer"], ["look.timer"],
    )  # fmt: skip
    assert told.changed and told.findings == []
    assert list(systemd.directory.iterdir()) == []
    assert not [asked for asked in systemd.asked if asked.split()[0] not in ("show", "is-enabled")]


def test_a_reload_that_a_killed_run_left_out_is_still_due(systemd: FakeSystemd) -> None:
    brought(systemd)
    systemd.run(["systemctl", "start", "look.timer"], 1.0)
    brought(systemd, "[Timer]\nOnActiveSec=1\n")  # and killed before its handler ran
    again = brought(systemd, "[Timer]\nOnActiveSec=1\n")
    assert again.written == [] and again.reload_due and again.changed


def test_a_removed_drop_in_wants_a_reload_and_is_in_the_diff(systemd: FakeSystemd) -> None:
    drop_in = systemd.directory / "docker.service.d" / "x.conf"
    drop_in.parent.mkdir()
    drop_in.write_text("[Unit]\n")
    run = bring_units(systemd.run, [], [str(drop_in)], [], check=False)
    assert (run.removed, run.reload_due, run.diff[0]["before"]) == ([str(drop_in)], True, "[Unit]\n")
    assert not drop_in.exists()
    assert not bring_units(systemd.run, [], [str(drop_in)], [], check=False).changed


def test_files_that_are_no_units_want_no_reload_and_bytes_are_shown_by_digest(
    systemd: FakeSystemd, tmp_path: Path
) -> None:
    tool = binary_file(str(tmp_path / "tool.pyz"), b"PK\x03\x04\xff\x00", 0o755)
    run = bring_units(systemd.run, [tool], [], [], check=False)
    assert run.changed and not run.reload_due
    assert "6 bytes, sha256" in run.diff[0]["after"]
    assert (tmp_path / "tool.pyz").read_bytes() == b"PK\x03\x04\xff\x00"
    assert (tmp_path / "tool.pyz").stat().st_mode & 0o777 == 0o755
    assert not bring_units(systemd.run, [tool], [], [], check=False).changed


def test_units_that_are_not_there(systemd: FakeSystemd) -> None:
    optional = WantedUnit("nvidia-persistenced.service", enabled=True, started=True, required=False)
    assert brought(systemd, units=[optional]).findings == []
    (found,) = brought(systemd, units=[WantedUnit("other.service", started=True)]).findings
    assert (found.code, found.subject) == ("systemd.unit_missing", "unit:other.service")


@pytest.mark.parametrize("units", [(TIMER,), ()])
def test_a_unit_that_is_masked_in_place_of_its_file_is_told_once_and_stays_so(
    systemd: FakeSystemd, units: tuple[WantedUnit, ...]
) -> None:
    file = systemd.directory / "look.timer"
    file.symlink_to("/dev/null")
    systemd.masked.add("look.timer")
    run = brought(systemd, units=units)
    assert [(one.code, one.subject) for one in run.findings] == [("systemd.unit_masked", "unit:look.timer")]
    assert file.is_symlink() and not run.changed and systemd.enabled == set()


def test_a_masked_unit_is_a_finding_and_stays_masked(systemd: FakeSystemd) -> None:
    systemd.masked.add("look.timer")
    (found,) = brought(systemd).findings
    assert found.code == "systemd.unit_masked" and systemd.enabled == set()


def test_a_unit_that_does_not_start_is_told_with_its_journal(systemd: FakeSystemd) -> None:
    brought(systemd)
    reload_findings(systemd.run)
    systemd.refuses["start look.timer"] = "Job for look.timer failed."
    (found,) = brought(systemd).findings
    assert found.code == "systemd.unit_failed" and "Job for look.timer failed" in found.message
    assert found.evidence["log"] == ["the unit's own words"]


def test_units_can_be_turned_off(systemd: FakeSystemd) -> None:
    brought(systemd)
    reload_findings(systemd.run)
    brought(systemd)
    off = WantedUnit("look.timer", enabled=False, started=False)
    assert brought(systemd, units=[off]).switched == ["disable look.timer", "stop look.timer"]
    assert not brought(systemd, units=[off]).changed and systemd.reloads == 1


def test_a_host_without_systemd_is_a_finding_and_not_a_guess(systemd: FakeSystemd) -> None:
    systemd.down = True
    run = brought(systemd)
    assert [one.code for one in run.findings] == ["systemd.unreachable"] and run.switched == []


def test_a_reload_that_fails_is_told_in_systemds_words(systemd: FakeSystemd) -> None:
    systemd.refuses["daemon-reload"] = "Reload daemon failed: Transport endpoint is not connected"
    (found,) = reload_findings(systemd.run)
    assert found.code == "systemd.reload_failed" and "Transport endpoint" in found.message


def test_a_file_that_can_not_be_written_keeps_nothing_else_from_being_brought(
    systemd: FakeSystemd, tmp_path: Path
) -> None:
    """Protects: with /etc/gpu-seats read-only or full, the units still come, and the caps after them."""
    (tmp_path / "taken").mkdir()
    (tmp_path / "in the way").write_text("")
    files = [
        WantedFile(str(tmp_path / "taken"), "a directory stands there"),
        WantedFile(str(tmp_path / "in the way" / "x"), "a file stands where the directory would be"),
        WantedFile(str(systemd.directory / "look.timer"), "[Timer]\n"),
    ]
    run = bring_units(systemd.run, files, [], [TIMER], check=False)
    assert run.written == [str(systemd.directory / "look.timer")] == [one["after_header"] for one in run.diff]
    assert run.switched == ["enable look.timer"] and run.pending == ["look.timer"]
    assert [(one.code, one.subject) for one in run.findings] == [
        ("host.file_not_written", f"file:{wanted.path}") for wanted in files[:2]
    ]
    assert "cannot read" in run.findings[0].message and "Is a directory" in run.findings[0].message


def test_a_file_that_can_not_be_removed_is_told(systemd: FakeSystemd, monkeypatch: pytest.MonkeyPatch) -> None:
    drop_in = systemd.directory / "x.conf"
    drop_in.write_text("[Unit]\n")

    def read_only(*_arguments: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", read_only)
    run = bring_units(systemd.run, [], [str(drop_in)], [TIMER], check=False)
    assert not run.removed and run.diff == []
    assert run.findings[0].message == f"cannot remove {drop_in}: Read-only file system"


@pytest.mark.parametrize("word", ["enabled-runtime", "linked", "linked-runtime"])
def test_what_is_gone_after_a_boot_is_not_enabled(systemd: FakeSystemd, word: str) -> None:
    systemd.enabled.add("look.timer")
    assert brought(systemd).switched == []
    systemd.boot_words["look.timer"] = word
    assert "enable look.timer" in brought(systemd).switched
