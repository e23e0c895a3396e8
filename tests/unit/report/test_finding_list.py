"""Findings as an operator reads them: nothing twice, nothing cut, nothing that buries the rest."""

from __future__ import annotations

from gpu_seats.findings import finding
from gpu_seats.report.finding_list import distinct, findings_text
from gpu_seats.report.terminal import PLAIN


def missing(seat: str) -> object:
    return finding("seat.container_missing", f"seat:{seat}", f"there is no container {seat}")


def test_a_port_without_its_container_is_told_once_by_the_container() -> None:
    down = finding("port.container_down", "seat:a", "nothing serves port 1")
    assert [one.code for one in distinct([down, missing("a")])] == ["seat.container_missing"]


def test_a_port_of_another_seat_is_still_told() -> None:
    down = finding("port.container_down", "seat:b", "nothing serves port 1")
    assert len(distinct([down, missing("a")])) == 2


def test_many_findings_of_one_kind_are_folded_and_every_seat_is_named() -> None:
    text = findings_text([missing(name) for name in ("a", "b", "c", "d")], PLAIN)
    assert "4 times seat.container_missing" in text
    assert all(f"seat:{name}: there is no container {name}" in text for name in "abcd")
    assert text.count("do: ") == 1 and "SEAT" in text


def test_few_findings_keep_a_remedy_each_that_can_be_copied() -> None:
    text = findings_text([missing("a"), missing("b")], PLAIN)
    assert "-e seat=a" in text and "-e seat=b" in text


def test_what_a_seat_answered_is_shown_and_shortened() -> None:
    said = finding("seat.completion_failed", "seat:a", "HTTP 404", {"answer": "x" * 1000 + "\nsecond"})
    text = findings_text([said], PLAIN)
    assert "saw: xxx" in text and "second" in text
    assert "x" * 300 not in text.replace("\n", "").replace(" ", "")


def test_evidence_that_repeats_the_message_is_not_shown() -> None:
    said = finding("command.failed", "tool:x", "it said: boom", {"text": "boom"})
    assert "saw:" not in findings_text([said], PLAIN)
